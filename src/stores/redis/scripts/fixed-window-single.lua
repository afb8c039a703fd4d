local this = floor(now / window)
local left = (this + 1) * window - now

for i = 1, #KEYS do
  local value, till, readable = values[i], 0, true
  local number = value and match(value, '^%d+$')
  local box, count = -1, 0
  if number then
    box = floor(number / 1000000)
    count = number - box * 1000000
  elseif value then
    till, value = unblocked(value)
    if value then
      box, count = match(value, '^(%d+) (%d+)$')
      number = not box and match(value, '^%d+$')
      if box then
        box, count = box + 0, count + 0
      elseif number then
        box = floor(number / 1000000)
        count = number - box * 1000000
      else
        readable = false
      end
    end
  end
  if not readable then
    o = o + 1
    out[o] = -1
  else
    -- A box ahead of the clock counts as this one.
    local dirty = box > this
    if box < this then count = 0 end

    local cost = alike and 1 or ARGV[2 * i + 7] + 0
    local admitted, n = 0, alike and 1 or ARGV[2 * i + 8] + 0
    if till > now then
      out[o + 1], out[o + 2] = -2, till - now
      o = o + 2
    else
      admitted = floor((limit - count) / cost)
      if admitted > n then admitted = n elseif admitted < 0 then admitted = 0 end
      o = o + 1
      out[o] = admitted
    end
    out[o + 1], out[o + 2] = count, left
    o = o + 2

    if admitted > 0 or dirty then
      count = count + admitted * cost
      local small = count < 1000000 and this < 9000000000
      if till > now or not small then
        local text = small and string.format('%.0f', this * 1000000 + count)
          or string.format('%.0f %.0f', this, count)
        store(KEYS[i], text, left, till)
      else
        call('SET', KEYS[i], this * 1000000 + count, 'PX', left + longer)
      end
    end
  end
end
return out
