-- One beat of an instance: says that it is there, forgets who is silent, answers how many there are.
--
--   KEYS[1]   sorted set: the id of an instance → when it was last heard of, ms of this server
--   ARGV[1]   id of the instance that beats
--   ARGV[2]   milliseconds between beats
--
-- Whoever was not heard of for three beats is gone. So is who was heard of more than three beats
-- ahead: the server's clock was set back, and those who live beat again before long, while the dead
-- would count until that time has come.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local silence = 3 * ARGV[2]

-- Numbers as text without an exponent, which these have from 10^14 on.
local function whole(number)
  return string.format('%.0f', number)
end

redis.call('ZADD', KEYS[1], whole(now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. whole(now - silence))
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. whole(now + silence), '+inf')
redis.call('PEXPIRE', KEYS[1], whole(silence))
return redis.call('ZCARD', KEYS[1])
