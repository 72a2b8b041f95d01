-- Locks a session for a job. Another job of the session may be in work in another lane: then the schedule of this wake-up
-- is stored for the end of that work, and the script returns the milliseconds of the lock that are left. Returns 0 when
-- the session is locked, -1 when the wake-up waits for a slot of its group, and -2 when another worker has the job: the
-- lock of this delivery has ended.
--
-- KEYS  1     lock          the lock of the session
--       2     wanted        the wake-up of the session in another lane
--       3     served        the highest ticket of the lane that a worker has taken
--       4     job_lock      BullMQ's lock of the job
--       5-8   as in group-slots.lua
-- ARGV  1     job           the beginning of the value of the lock: a later delivery of the job has the session too
--       2     token         the rest of the value
--       3     milliseconds  of the lock
--       4     schedule      of the wake-up
--       5     ticket        of the job
--       6-    as in group-slots.lua

local lock, wanted, served, job_lock = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local job, token, milliseconds, schedule, ticket = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
if redis.call('GET', job_lock) ~= token then return -2 end
local held = redis.call('PTTL', lock) > 0 and redis.call('GET', lock) -- a lock that does not end is from no worker
if held and string.sub(held, 1, #job) ~= job then
  redis.call('SET', wanted, schedule, 'PX', 86400000)
  return math.max(redis.call('PTTL', lock), 1)
end
if must_wait() then return -1 end
take_slot()
redis.call('SET', lock, job .. token, 'PX', milliseconds)
if ticket > (tonumber(redis.call('GET', served) or '0') or 0) then redis.call('SET', served, ticket, 'EX', 86400) end
return 0
