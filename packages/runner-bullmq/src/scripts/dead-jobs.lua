-- Functions for dead jobs: keys of the queue were deleted or changed, so the jobs are in no list of BullMQ, or no worker can
-- read them. While their keys exist, BullMQ refuses a job of the same session, or with the same id. `base` is the
-- beginning of BullMQ's keys.

-- False for a text that no worker can read.
local function is_wake_up(text)
  local ok, wake_up = pcall(cjson.decode, text)
  return ok and type(wake_up) == 'table' and type(wake_up.sessionId) == 'string' and type(wake_up.at) == 'number'
end

local function is_listed(base, id)
  for _, set in ipairs({ 'prioritized', 'delayed' }) do
    if redis.call('ZSCORE', base .. set, id) then return true end
  end
  for _, list in ipairs({ 'active', 'wait', 'paused' }) do
    if redis.call('LPOS', base .. list, id) then return true end
  end
  return false
end

-- Removes the job that stands for the wake-ups of a session, when it is dead or belongs to another session.
local function forget_dead_job(base, session)
  local dedupe = base .. 'de:' .. session
  local id = redis.call('GET', dedupe)
  local job = base .. (id or '')
  local is_own = id and redis.call('HGET', job, 'deid') == session
  if is_own and is_listed(base, id) and is_wake_up(redis.call('HGET', job, 'data') or '') then return end
  if is_own then
    redis.call('ZREM', base .. 'prioritized', id)
    redis.call('DEL', job, job .. ':lock')
  end
  redis.call('DEL', dedupe, base .. 'dn:' .. session)
end
