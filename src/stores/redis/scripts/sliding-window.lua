-- Sliding window: the exact log, a list of times, oldest first; before them a block, if there is one.
--   [ 'b<until>' ] t1 t2 t3 …
--                  └ dead ┘└ live: time + window > now
-- s.head is 1 behind a block, else 0, and s.till the block's end. s.dead counts entries that no longer
-- count, which are cut off when something is written; s.live those that do; s.added those of them
-- that this call takes and has not written yet.

-- What is no time, and so none of ours, is one long gone: a list is not read as a whole.
local function time_at(s, index)
  return tonumber(call('LINDEX', s.key, index)) or -1
end

-- The first index that counts, or the length: gallops from the old end, then halves.
local function first_live(s, length)
  local function counts(index)
    return time_at(s, index) + s.window > now
  end
  local low, high, step = s.head, s.head, 1
  while high < length and not counts(high) do
    low, high, step = high + 1, high + step, step * 2
  end
  high = min(high, length)
  while low < high do
    local middle = floor((low + high) / 2)
    if counts(middle) then high = middle else low = middle + 1 end
  end
  return low
end

local function push(s, time, n)
  while n > 0 do
    local times = {}
    for i = 1, min(n, 1000) do times[i] = time end
    call('RPUSH', s.key, unpack(times))
    n = n - #times
  end
end

-- The key lives as long as its newest entry or its block; without a key there is nothing dead in it.
local function expire(s)
  local left = s.live > 0 and s.newest + s.window - now or 0
  left = max(left, s.till - now)
  if left > 0 then
    call('PEXPIRE', s.key, lifetime(left))
  else
    call('DEL', s.key)
    s.head, s.dead = 0, 0
  end
end

-- Its times are ahead of the clock: the whole log moves back with it.
local function move_back(s, by)
  local times = call('LRANGE', s.key, s.head, -1)
  call('LTRIM', s.key, s.head, s.head)
  call('RPOP', s.key)
  if s.head == 1 then call('LPUSH', s.key, 'b' .. text(s.till)) end
  for i = 1, #times do push(s, text((tonumber(times[i]) or by) - by), 1) end
  call('PEXPIRE', s.key, lifetime(max(s.window, s.till - now)))
end

algorithms[4] = {
  list = true,

  read = function(s)
    s.live, s.dead, s.added, s.head, s.till, s.oldest, s.newest = 0, 0, 0, 0, 0, 0, 0
    local length = pcall_('LLEN', s.key)
    if type(length) == 'table' then
      s.unreadable = true
      return
    end
    if length == 0 then return end
    local till = match(call('LINDEX', s.key, 0), '^b(%d+)$')
    if till then
      s.head, s.till = 1, tonumber(till)
      if length == 1 then return end
    end
    s.newest = time_at(s, -1)
    if s.newest < 0 or time_at(s, s.head) < 0 then
      s.unreadable = true
      return
    end
    if s.newest > now then
      move_back(s, s.newest - now)
      s.newest = now
    end
    local first = first_live(s, length)
    s.dead, s.live = first - s.head, length - first
    if s.live > 0 then s.oldest = time_at(s, first) end
  end,

  room = function(s, cost)
    return floor((s.limit - s.live) / cost)
  end,

  take = function(s, n)
    if s.live == 0 then s.oldest = now end
    s.live, s.added, s.newest = s.live + n, s.added + n, now
  end,

  -- Entries of exactly that millisecond.
  give = function(s, n, taken_at)
    if taken_at + s.window <= now then return end
    algorithms[4].save(s)
    call('LREM', s.key, -n, text(taken_at))
    algorithms[4].read(s)
    expire(s)
  end,

  charge = function(s, n)
    local charged = min(n, max(0, s.limit - s.live))
    if charged > 0 then algorithms[4].take(s, charged) end
    return charged
  end,

  -- The count, the oldest, the newest, and how long until `cost` fits after `times` of it: the entry
  -- whose leaving makes room for the first that is refused.
  tell = function(s, out, cost, times)
    local wait = 0
    local leave = s.live + (times + 1) * cost - s.limit
    if cost > 0 and cost <= s.limit and leave > 0 then
      if leave > s.live - s.added then
        wait = s.window
      else
        wait = max(1, time_at(s, s.head + s.dead + leave - 1) + s.window - now)
      end
    end
    out[#out + 1] = s.live
    out[#out + 1] = s.oldest
    out[#out + 1] = s.newest
    out[#out + 1] = wait
  end,

  save = function(s)
    if s.added == 0 then return end
    if s.dead > 0 then
      if s.head == 1 then
        local block = call('LPOP', s.key)
        call('LTRIM', s.key, s.dead, -1)
        call('LPUSH', s.key, block)
      else
        call('LTRIM', s.key, s.dead, -1)
      end
    end
    push(s, text(now), s.added)
    s.dead, s.added = 0, 0
    expire(s)
  end,

  clear = function(s)
    local till = s.till or 0
    call('DEL', s.key)
    algorithms[4].read(s)
    algorithms[4].block(s, till)
  end,

  block = function(s, till)
    algorithms[4].save(s)
    if s.head == 1 then call('LPOP', s.key) end
    s.head, s.till = 0, till
    if till > now then
      call('LPUSH', s.key, 'b' .. text(till))
      s.head = 1
    end
    expire(s)
  end,
}
