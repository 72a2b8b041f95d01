-- Removes a timer that is dead, so that BullMQ accepts another one with its id. Other functions precede this text.
--
-- KEYS  1  job   the hash of BullMQ
-- ARGV  1  base  the beginning of BullMQ's keys
--       2  id    of the job

local job, base, id = KEYS[1], ARGV[1], ARGV[2]
local data = redis.call('HGET', job, 'data')
if redis.call('EXISTS', job) == 0 or (is_listed(base, id) and is_wake_up(data or '')) then return 0 end
redis.call('ZREM', base .. 'delayed', id)
redis.call('DEL', job, job .. ':lock')
return 1
