-- Token bucket: the moment at which it is full again.
--   '<full_at>'              whole milliseconds
--   '<full_at> <part> <of>'  less part/of of a millisecond
-- A block leaves it as it was written, s.stored, under whatever limit that was.
-- s.debt is what is missing to full, in 1/unit of a token: a millisecond earns s.pace of them. The
-- derivation is in token-bucket.ts; a part written under another limit is read as there.

algorithms[1] = {
  read = function(s, value)
    s.debt, s.stored, s.cut = 0, nil, false
    if not value then return end
    local full_at, part, of = match(value, '^%d+$')
    if not full_at then full_at, part, of = match(value, '^(%d+) (%d+) (%d+)$') end
    if not full_at or part and part - of >= 0 then
      s.unreadable = true
      return
    end
    local ahead = full_at - now
    if ahead > 0 then s.stored, s.ahead = value, ahead end
    if ahead > 2 * s.fill then
      s.debt = s.full
      s.dirty, s.cut = true, true
    elseif ahead > 0 and not part then
      s.debt = ahead * s.pace
    elseif ahead > 0 then
      local rest = part / of * s.pace
      local whole = floor(rest)
      if rest - whole >= 0.5 then whole = whole + 1 end
      -- In this order: below 2^53, where ahead × pace need not be.
      s.debt = (ahead - 1) * s.pace + (s.pace - whole)
    end
  end,

  room = function(s, cost)
    return floor((s.full - s.debt) / (cost * s.unit))
  end,

  take = function(s, n)
    s.debt = s.debt + n * s.unit
  end,

  give = function(s, n, taken_at)
    local back = n * s.unit - max(0, now - taken_at) * s.pace
    if back > 0 then s.debt = max(0, s.debt - back) end
  end,

  charge = function(s, n)
    local charged = min(n, floor(max(0, 2 * s.full - s.debt) / s.unit))
    s.debt = s.debt + charged * s.unit
    return charged
  end,

  tell = function(s, out)
    out[#out + 1] = s.debt
  end,

  save = function(s)
    if s.stored and not s.changed then return s.stored, s.ahead end
    if s.debt <= 0 then return nil end
    local whole = floor(s.debt / s.pace)
    local part = s.debt - whole * s.pace
    if part == 0 then return text(now + whole), whole end
    local rest = ' ' .. text(s.pace - part) .. ' ' .. text(s.pace)
    return text(now + whole + 1) .. rest, whole + 1
  end,
}
