local pace, unit, full, fill = ARGV[5] + 0, ARGV[6] + 0, ARGV[7] + 0, ARGV[8] + 0

for i = 1, #KEYS do
  local value, till, readable = values[i], 0, true
  local full_at, part, of = value and match(value, '^%d+$'), nil, nil
  if value and not full_at then
    till, value = unblocked(value)
    if value then
      full_at = match(value, '^%d+$')
      if not full_at then full_at, part, of = match(value, '^(%d+) (%d+) (%d+)$') end
      readable = full_at and not (part and part - of >= 0)
    end
  end
  if not readable then
    o = o + 1
    out[o] = -1
  else
    local debt, dirty = 0, false
    local ahead = full_at and full_at - now or 0
    if ahead > 2 * fill then
      debt, dirty = full, true
    elseif ahead > 0 then
      if not part then
        debt = ahead * pace
      else
        local rest = part / of * pace
        local whole = floor(rest)
        if rest - whole >= 0.5 then whole = whole + 1 end
        debt = (ahead - 1) * pace + (pace - whole)
      end
    end

    local units = alike and unit or ARGV[2 * i + 7] * unit
    local admitted, n = 0, alike and 1 or ARGV[2 * i + 8] + 0
    if till > now then
      out[o + 1], out[o + 2] = -2, till - now
      o = o + 2
    else
      admitted = floor((full - debt) / units)
      if admitted > n then admitted = n elseif admitted < 0 then admitted = 0 end
      o = o + 1
      out[o] = admitted
    end
    o = o + 1
    out[o] = debt

    if admitted > 0 or dirty then
      debt = debt + admitted * units
      local whole = floor(debt / pace)
      local left = debt - whole * pace
      if till > now or left > 0 then
        local text = left == 0 and string.format('%.0f', now + whole)
          or string.format('%.0f %.0f %.0f', now + whole + 1, pace - left, pace)
        store(KEYS[i], text, left == 0 and whole or whole + 1, till)
      else
        call('SET', KEYS[i], now + whole, 'PX', whole + longer)
      end
    end
  end
end
return out
