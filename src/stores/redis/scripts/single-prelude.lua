-- What the quick scripts begin with: each takes from single counters of one rule, which most calls
-- do, and is written without a function for each step, since calling it would be most of its price.
-- They store and reply as decide.lua does.
--
-- KEYS        the counters, each once
-- ARGV[1, 2]  the time and the deadline, as in prelude.lua
-- ARGV[3..8]  limit, window, pace, unit, full, fill of the rule
-- then per key: cost, n: n requests of that cost, one after another; or nothing, for 1 and 1 each
-- reply       the server's time, then per key: how many were admitted (-1: unreadable; -2: blocked,
--             and for how long), and the numbers before
--
-- Numbers go to redis.call as they are: it writes them with 17 digits.

local call, floor, match = redis.call, math.floor, string.match
local clock = call('TIME')
local server_now = clock[1] * 1000 + floor(clock[2] / 1000)
if ARGV[2] ~= '' and server_now > ARGV[2] + 0 then
  return { server_now }
end
local now, longer = server_now, 0
if ARGV[1] ~= '' then
  now, longer = ARGV[1] + 0, 3600000
end
local limit, window = ARGV[3] + 0, ARGV[4] + 0
local alike = #ARGV == 8
local values = call('MGET', unpack(KEYS))
local out, o = { server_now }, 1

-- The end of a block, 0 for none, and what stands behind it, nil for nothing.
local function unblocked(value)
  local till, rest = match(value, '^b(%d+) ?(.*)$')
  if not till then return 0, value end
  return till + 0, rest ~= '' and rest or nil
end

-- Where a block lasts, the value stands behind it and lives as long as the longer of both.
local function store(key, value, millis, till)
  if till > now then
    value = string.format('b%.0f', till) .. (value and ' ' .. value or '')
    millis = math.max(millis, till - now)
  end
  if value then
    call('SET', key, value, 'PX', millis + longer)
  else
    call('DEL', key)
  end
end
