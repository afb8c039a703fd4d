-- Any entries on any counters; each takes from all of its counters or from none, one after another.
--
-- ARGV[3]  rules, then for each: algorithm, limit, window, pace, unit, full, fill
-- then for each key the number of its rule
-- then the entries: how many counters, their numbers, what is done, a count, two numbers more:
--   0 take     cost, n        n requests of that cost
--   1 peek     cost, 0
--   2 give     count, time    of what was taken at that time
--   3 charge   count, 0
--   4 reset    0, 0
--   5 block    millis, 0      for so long from now; 0 unblocks
-- reply    the server's time, then for each entry one number, -1 when a counter is unreadable:
--   take, peek  how many were admitted (-2: blocked, and for how long), and the numbers before, of
--               each counter
--   charge      how much was dropped by the counter that could bear least
--   others      0

local position = 2
local function argument()
  position = position + 1
  return tonumber(ARGV[position])
end

local rules = {}
for i = 1, argument() do
  rules[i] = {
    A = algorithms[argument()],
    limit = argument(),
    window = argument(),
    pace = argument(),
    unit = argument(),
    full = argument(),
    fill = argument(),
  }
end

-- The state of each counter: what is stored of all of them is read at once.
local counters, strings, place = {}, {}, {}
for i = 1, #KEYS do
  local s = { key = KEYS[i], till = 0 }
  for name, value in pairs(rules[argument()]) do s[name] = value end
  counters[i] = s
  if not s.A.list then
    strings[#strings + 1] = KEYS[i]
    place[i] = #strings
  end
end
local values = #strings > 0 and call('MGET', unpack(strings)) or {}
for i, s in ipairs(counters) do
  local value
  if not s.A.list then s.till, value = unblocked(values[place[i]]) end
  s.A.read(s, value)
end

local TAKE, PEEK, GIVE, CHARGE, RESET, BLOCK = 0, 1, 2, 3, 4, 5

local function readable(these)
  for _, s in ipairs(these) do
    if s.unreadable then return false end
  end
  return true
end

local function longest_block(these)
  local till = 0
  for _, s in ipairs(these) do till = max(till, s.till) end
  return max(0, till - now)
end

local function take(these, out, cost, n)
  local admitted = n
  local blocked = cost > 0 and longest_block(these) or 0
  if blocked > 0 then
    admitted = 0
    out[#out + 1] = -2
    out[#out + 1] = blocked
  else
    if cost > 0 then
      for _, s in ipairs(these) do admitted = min(admitted, s.A.room(s, cost)) end
    end
    admitted = max(0, admitted)
    out[#out + 1] = admitted
  end
  for _, s in ipairs(these) do
    s.A.tell(s, out, cost, admitted)
    -- Whoever looks at a moment too far ahead cuts it for good.
    s.changed = s.changed or s.cut
  end
  if admitted == 0 or cost == 0 then return end
  for _, s in ipairs(these) do
    s.A.take(s, admitted * cost)
    s.dirty, s.changed = true, true
  end
end

local function charge(these, count)
  local dropped = 0
  for _, s in ipairs(these) do
    dropped = max(dropped, count - s.A.charge(s, count))
    s.dirty, s.changed = true, true
  end
  return dropped
end

-- What no algorithm can read is as good as new afterwards too.
local function reset(s)
  if s.unreadable then
    call('DEL', s.key)
    s.unreadable = false
  end
  if s.A.list then s.A.clear(s) else s.A.read(s, nil) end
  s.dirty = true
end

local function block(s, millis)
  local till = millis > 0 and now + millis or 0
  if s.A.list then s.A.block(s, till) else s.till = till end
  s.dirty = true
end

local out = { server_now }
while position < #ARGV do
  local these = {}
  for i = 1, argument() do these[i] = counters[argument()] end
  local action, count, number = argument(), argument(), argument()
  if action == RESET then
    for _, s in ipairs(these) do reset(s) end
    out[#out + 1] = 0
  elseif not readable(these) then
    out[#out + 1] = -1
  elseif action == TAKE or action == PEEK then
    take(these, out, count, number)
  elseif action == CHARGE then
    out[#out + 1] = charge(these, count)
  else
    for _, s in ipairs(these) do
      if action == BLOCK then
        block(s, count)
      else
        s.A.give(s, count, number)
        s.dirty, s.changed = true, true
      end
    end
    out[#out + 1] = 0
  end
end

for _, s in ipairs(counters) do
  if s.dirty and not s.unreadable then store(s, s.A, s.till) end
end
return out
