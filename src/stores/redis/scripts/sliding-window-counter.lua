-- Sliding window counter: '<box> <current> <previous>'.

algorithms[3] = {
  read = function(s, value)
    s.box = floor(now / s.window)
    s.left = (s.box + 1) * s.window - now
    s.current, s.previous = 0, 0
    if not value then return end
    local box, current, previous = match(value, '^(%d+) (%d+) (%d+)$')
    if not box then
      s.unreadable = true
      return
    end
    box = tonumber(box)
    -- A box ahead of the clock counts as this one.
    if box >= s.box then
      s.current, s.previous = tonumber(current), tonumber(previous)
      if box > s.box then s.dirty = true end
    elseif box == s.box - 1 then
      s.previous = tonumber(current)
    end
  end,

  room = function(s, cost)
    local weighed = ceil(s.previous * s.left / s.window)
    return floor((s.limit - s.current - weighed) / cost)
  end,

  take = function(s, n)
    s.current = s.current + n
  end,

  give = function(s, n, taken_at)
    local box = floor(taken_at / s.window)
    if box == s.box then
      s.current = max(0, s.current - n)
    elseif box == s.box - 1 then
      s.previous = max(0, s.previous - n)
    end
  end,

  charge = function(s, n)
    local charged = min(n, max(0, algorithms[3].room(s, 1)))
    s.current = s.current + charged
    return charged
  end,

  tell = function(s, out)
    out[#out + 1] = s.previous
    out[#out + 1] = s.current
    out[#out + 1] = s.left
  end,

  save = function(s)
    if s.current <= 0 and s.previous <= 0 then return nil end
    local value = text(s.box) .. ' ' .. text(s.current) .. ' ' .. text(s.previous)
    return value, s.current > 0 and s.left + s.window or s.left
  end,
}
