-- The quick script of the log: takes from single counters of one rule. Arguments and reply are those
-- of single-prelude.lua.

local _, A = next(algorithms)
local s = {
  limit = tonumber(ARGV[3]),
  window = tonumber(ARGV[4]),
  pace = tonumber(ARGV[5]),
  unit = tonumber(ARGV[6]),
  full = tonumber(ARGV[7]),
  fill = tonumber(ARGV[8]),
}
local values = A.list and {} or call('MGET', unpack(KEYS))
local out = { server_now }

for i = 1, #KEYS do
  local cost, n = tonumber(ARGV[2 * i + 7] or 1), tonumber(ARGV[2 * i + 8] or 1)
  local till, value = unblocked(values[i])
  s.key, s.unreadable, s.dirty = KEYS[i], false, false
  A.read(s, value)
  if A.list then till = s.till end
  if s.unreadable then
    out[#out + 1] = -1
  else
    local admitted = 0
    if till > now then
      out[#out + 1] = -2
      out[#out + 1] = till - now
    else
      admitted = max(0, min(n, A.room(s, cost)))
      out[#out + 1] = admitted
    end
    A.tell(s, out, cost, admitted)
    if admitted > 0 then
      A.take(s, admitted * cost)
      s.dirty = true
    end
    if s.dirty then store(s, A, till) end
  end
end
return out
