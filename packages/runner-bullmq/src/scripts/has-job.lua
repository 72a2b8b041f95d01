-- Returns 1 when a job waits in a lane. Otherwise removes BullMQ's marker of such jobs, which BullMQ sets again for the next job:
-- a worker that waits for the marker then needs no look of its own.
--
-- KEYS  1  marker
--       2  prioritized  the jobs that wait
--       3  wait         the jobs without a priority, such as those of dead workers

local marker, prioritized, wait = KEYS[1], KEYS[2], KEYS[3]
if redis.call('ZCARD', prioritized) + redis.call('LLEN', wait) > 0 then return 1 end
redis.call('ZREM', marker, '0')
return 0
