-- Removes the active job of a worker, which cannot read it. Returns its data; '' without data.
--
-- KEYS  1  active   the jobs in work
--       2  stalled  BullMQ's set of jobs that may have lost their worker
-- ARGV  1  base     the beginning of BullMQ's keys
--       2  token    the value of BullMQ's lock of the job

local active, stalled = KEYS[1], KEYS[2]
local base, token = ARGV[1], ARGV[2]
for _, id in ipairs(redis.call('LRANGE', active, 0, -1)) do
  local job = base .. id
  if redis.call('GET', job .. ':lock') == token then
    local data = redis.call('HGET', job, 'data') or ''
    local session = redis.call('HGET', job, 'deid')
    redis.call('LREM', active, 1, id)
    redis.call('SREM', stalled, id)
    redis.call('DEL', job, job .. ':lock')
    if session and redis.call('GET', base .. 'de:' .. session) == id then
      redis.call('DEL', base .. 'de:' .. session, base .. 'dn:' .. session)
    end
    return data
  end
end
return ''
