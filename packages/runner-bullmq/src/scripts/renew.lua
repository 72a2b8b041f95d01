-- Renews the locks of sessions, and their slots in groups. Returns the numbers of the locks that another worker has.
--
-- KEYS  for each session its lock, and the sessions of its group with a slot
-- ARGV  1  milliseconds  of a lock
--       then for each session the value of its lock, and the session, or '' for a group without a limit

local milliseconds = ARGV[1]
local time = redis.call('TIME')
local slot_end = time[1] * 1000 + math.floor(time[2] / 1000) + milliseconds
local lost = {}
for number = 1, #KEYS / 2 do
  local lock, busy = KEYS[2 * number - 1], KEYS[2 * number]
  local lock_value, session = ARGV[2 * number], ARGV[2 * number + 1]
  local held = redis.call('GET', lock)
  if held and held ~= lock_value then lost[#lost + 1] = number
  else
    redis.call('SET', lock, lock_value, 'PX', milliseconds)
    if session ~= '' then redis.call('ZADD', busy, slot_end, session) end
  end
end
return lost
