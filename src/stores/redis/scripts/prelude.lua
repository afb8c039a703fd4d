-- What every script begins with.
--
-- KEYS     the counters, each once
-- ARGV[1]  the time, for tests that compare stores; '' for the server's own
-- ARGV[2]  the last server millisecond at which the script may act; '' for no such bound. Who asked
--          has been answered otherwise by then: what is executed later does nothing
--
-- Numbers are doubles, exact below 2^53; they become text by '%.0f' alone, never by `..`, which
-- keeps 14 digits.

local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local call, pcall_, match = redis.call, redis.pcall, string.match

local clock = call('TIME')
local server_now = clock[1] * 1000 + floor(clock[2] / 1000)
if ARGV[2] ~= '' and server_now > tonumber(ARGV[2]) then
  return { server_now }
end
local injected = ARGV[1] ~= ''
local now = injected and tonumber(ARGV[1]) or server_now

local function text(number)
  return string.format('%.0f', number)
end

-- Under an injected time the server's own must not drop keys that still count.
local function lifetime(millis)
  return text(injected and millis + 3600000 or millis)
end

-- A block lives in the value of its counter, before the rest: 'b<until> <rest>'.
-- Answers the moment until which the counter is blocked, 0 for none; and the rest, nil for none.
local function unblocked(value)
  if not value or string.byte(value) ~= 98 then
    return 0, value or nil
  end
  local till, rest = match(value, '^b(%d+) ?(.*)$')
  if not till then return 0, value end
  return tonumber(till), rest ~= '' and rest or nil
end

-- Each algorithm puts itself here, under its number. One is a table of functions on a state `s`,
-- which holds the numbers of its rule and those of one counter:
--   read(s, value)        from what is stored (nil: never used); sets s.unreadable, or s.dirty when
--                         it has to be written whatever is decided
--   room(s, cost)         how many times `cost` fits now
--   take(s, n)            takes n
--   give(s, n, taken_at)  gives back n of what was taken then, as far as it still counts
--   charge(s, n)          takes up to n although it may not fit; answers how many
--   tell(s, out, cost, times)  appends the numbers of before to the reply
--   save(s)               the text to store and how long it counts; nil when as good as new
-- One that keeps a list does all that on the list itself, and has `list = true`.
local algorithms = {}

-- Writes a counter with its block; one that is as good as new is as good as none.
local function store(s, A, till)
  if A.list then return A.save(s) end
  local value, millis = A.save(s)
  if till > now then
    value = 'b' .. text(till) .. (value and ' ' .. value or '')
    millis = max(millis or 0, till - now)
  end
  if value then
    call('SET', s.key, value, 'PX', lifetime(millis))
  else
    call('DEL', s.key)
  end
end
