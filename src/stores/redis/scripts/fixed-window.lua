-- Fixed window: the number of the box and the count in it.
--   '<box × 1,000,000 + count>'  one integer, which Redis keeps in the fewest bytes
--   '<box> <count>'              where either is too large for that

algorithms[2] = {
  read = function(s, value)
    s.box = floor(now / s.window)
    s.left = (s.box + 1) * s.window - now
    s.count = 0
    if not value then return end
    local box, count = match(value, '^(%d+) (%d+)$')
    if box then
      box, count = tonumber(box), tonumber(count)
    elseif match(value, '^%d+$') then
      box = floor(value / 1000000)
      count = value - box * 1000000
    else
      s.unreadable = true
      return
    end
    -- A box ahead of the clock counts as this one.
    if box >= s.box then
      s.count = count
      if box > s.box then s.dirty = true end
    end
  end,

  room = function(s, cost)
    return floor((s.limit - s.count) / cost)
  end,

  take = function(s, n)
    s.count = s.count + n
  end,

  give = function(s, n, taken_at)
    if floor(taken_at / s.window) == s.box then s.count = max(0, s.count - n) end
  end,

  charge = function(s, n)
    local charged = min(n, max(0, s.limit - s.count))
    s.count = s.count + charged
    return charged
  end,

  tell = function(s, out)
    out[#out + 1] = s.count
    out[#out + 1] = s.left
  end,

  save = function(s)
    if s.count <= 0 then return nil end
    if s.count < 1000000 and s.box < 9000000000 then
      return text(s.box * 1000000 + s.count), s.left
    end
    return text(s.box) .. ' ' .. text(s.count), s.left
  end,
}
