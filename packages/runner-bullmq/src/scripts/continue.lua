-- Ends the lock of a session that has more work in the same lane, and changes its job to the next wake-up. Returns the
-- ticket; 0 when another worker has the session, its job is gone, the lane has no more tickets, or another session waits
-- for a slot of the group.
--
-- KEYS  1-3   as in tickets.lua
--       4     lock     the lock of the session
--       5     wanted   the wake-up of the session in another lane
--       6     job      the hash of BullMQ
--       7-10  as in group-slots.lua
-- ARGV  1-2   as in tickets.lua
--       3     lock_value   the value of the lock
--       4     data     of the job
--       5     level    the priority of the job without the ticket
--       6     session
--       7-    as in group-slots.lua

local lock, wanted, job = KEYS[4], KEYS[5], KEYS[6]
local lock_value, data, level, session = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local held = redis.call('GET', lock)
if (held and held ~= lock_value) or redis.call('HGET', job, 'deid') ~= session or has_waiting() then return 0 end
local ticket = take_ticket()
if ticket == most then return 0 end
leave_slot()
redis.call('DEL', lock, wanted)
redis.call('HSET', job, 'data', data, 'priority', level + ticket)
return ticket
