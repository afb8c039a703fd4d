local this = floor(now / window)
local left = (this + 1) * window - now

for i = 1, #KEYS do
  local value, till, readable = values[i], 0, true
  local box, current, previous = -1, 0, 0
  if value and string.byte(value) == 98 then till, value = unblocked(value) end
  if value then
    box, current, previous = match(value, '^(%d+) (%d+) (%d+)$')
    if box then
      box, current, previous = box + 0, current + 0, previous + 0
    else
      readable = false
    end
  end
  if not readable then
    o = o + 1
    out[o] = -1
  else
    -- A box ahead of the clock counts as this one.
    local dirty = box > this
    if box == this - 1 then
      current, previous = 0, current
    elseif box < this then
      current, previous = 0, 0
    end

    local cost = alike and 1 or ARGV[2 * i + 7] + 0
    local admitted, n = 0, alike and 1 or ARGV[2 * i + 8] + 0
    if till > now then
      out[o + 1], out[o + 2] = -2, till - now
      o = o + 2
    else
      admitted = floor((limit - current - math.ceil(previous * left / window)) / cost)
      if admitted > n then admitted = n elseif admitted < 0 then admitted = 0 end
      o = o + 1
      out[o] = admitted
    end
    out[o + 1], out[o + 2], out[o + 3] = previous, current, left
    o = o + 3

    if admitted > 0 or dirty then
      current = current + admitted * cost
      local text = string.format('%.0f %.0f %.0f', this, current, previous)
      store(KEYS[i], text, current > 0 and left + window or left, till)
    end
  end
end
return out
