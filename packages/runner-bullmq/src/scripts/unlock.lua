-- Ends the lock of a session. Returns the schedule of a wake-up that arrived in another lane meanwhile, or '', and then the
-- wake-ups that have a slot of the group now.
--
-- KEYS  1    lock    the lock of the session
--       2    wanted  the wake-up of the session in another lane
--       3-6  as in group-slots.lua
-- ARGV  1    lock_value  the value of the lock
--       2-   as in group-slots.lua

local lock, wanted = KEYS[1], KEYS[2]
local held = redis.call('GET', lock)
if held and held ~= ARGV[1] then return { '' } end
local schedule = redis.call('GET', wanted) or ''
redis.call('DEL', lock, wanted)
leave_slot()
return { schedule, unpack(next_wake_ups()) }
