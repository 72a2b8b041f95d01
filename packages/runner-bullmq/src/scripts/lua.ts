/**
 * The text of each `.lua` file in this folder, by the name of the file. Generated: change the files, then run
 * `pnpm lua`.
 */
export const LUA = {
  continue: `-- Ends the lock of a session that has more work in the same lane, and changes its job to the next wake-up. Returns the
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
`,
  'dead-jobs': `-- Functions for dead jobs: keys of the queue were deleted or changed, so the jobs are in no list of BullMQ, or no worker can
-- read them. While their keys exist, BullMQ refuses a job of the same session, or with the same id. \`base\` is the
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
`,
  'drop-job': `-- Removes the active job of a worker, which cannot read it. Returns its data; '' without data.
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
`,
  'forget-timer': `-- Removes a timer that is dead, so that BullMQ accepts another one with its id. Other functions precede this text.
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
`,
  'free-slots': `-- Returns the wake-ups that have a slot of a group now. The keys and the arguments are those of group-slots.lua.

return next_wake_ups()
`,
  'group-slots': `-- Functions for the slots of a group: a group with a limit has so many slots, and each session in work has one. A wake-up
-- of a group without a free slot is not a job of BullMQ. It waits in the group until a session of the group gives back its
-- slot. The slot is then reserved, until the job of the wake-up locks its session.
--
-- dead-jobs.lua precedes this text, and other scripts follow it. The last four keys and the last six arguments of each are
-- those of the group:
--
-- KEYS  busy      the sessions with a slot, by the instant at which it ends
--       waiting   the sessions that wait for a slot, in order
--       wake_ups  the wake-ups of the sessions of all groups that wait
--       groups    the groups in which a session waits
-- ARGV  name, limit ('' for no limit), session, wake_up, order, milliseconds (how long a slot lasts unless it is renewed)

local keys, args = #KEYS - 4, #ARGV - 6
local group = {
  busy = KEYS[keys + 1],
  waiting = KEYS[keys + 2],
  wake_ups = KEYS[keys + 3],
  groups = KEYS[keys + 4],
  name = ARGV[args + 1],
  limit = tonumber(ARGV[args + 2]), -- nil: no limit
  session = ARGV[args + 3],
  wake_up = ARGV[args + 4],
  order = ARGV[args + 5],
  milliseconds = tonumber(ARGV[args + 6]),
}
local DAY, MOST = 86400, 100
local LEVEL = 8796093022208 -- 2^43: the order of a session is its level of priority times this, and an instant

local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function free_slots()
  redis.call('ZREMRANGEBYSCORE', group.busy, '-inf', now())
  redis.call('ZREMRANGEBYSCORE', group.busy, now() + DAY * 1000, '+inf') -- not from a worker
  return group.limit - redis.call('ZCARD', group.busy)
end

local function reserve(session)
  redis.call('ZADD', group.busy, now() + group.milliseconds, session)
  redis.call('EXPIRE', group.busy, DAY)
end

local function forget(session)
  redis.call('ZREM', group.waiting, session)
  redis.call('HDEL', group.wake_ups, session)
  if redis.call('ZCARD', group.waiting) == 0 then redis.call('SREM', group.groups, group.name) end
end

local function keep_waiting()
  for _, key in ipairs({ group.waiting, group.wake_ups, group.groups }) do redis.call('EXPIRE', key, DAY) end
end

-- Returns true when the group is full. The wake-up then waits in it.
local function must_wait()
  if not group.limit or free_slots() > 0 or redis.call('ZSCORE', group.busy, group.session) then return false end
  redis.call('ZADD', group.waiting, 'NX', group.order, group.session)
  local known = redis.call('HGET', group.wake_ups, group.session)
  if not known or not is_wake_up(known) then redis.call('HSET', group.wake_ups, group.session, group.wake_up) end
  redis.call('SADD', group.groups, group.name)
  keep_waiting()
  return true
end

local function take_slot()
  if not group.limit then return end
  reserve(group.session)
  forget(group.session)
end

local function leave_slot()
  if group.limit then redis.call('ZREM', group.busy, group.session) end
end

local function has_waiting()
  return group.limit and redis.call('ZCARD', group.waiting) > 0
end

-- Reserves the free slots, and returns the wake-ups that have them now. A session whose lane is paused does not use its
-- slot. So each goes behind the others, and they have the slot when the reservation ends.
local function next_wake_ups()
  local found = {}
  if not has_waiting() then return found end
  keep_waiting()
  local free = math.min(free_slots(), MOST)
  if free <= 0 then return found end
  local last = free + redis.call('ZCARD', group.busy) - 1 -- the first ones may have a slot
  for _, session in ipairs(redis.call('ZRANGE', group.waiting, 0, last)) do
    local wake_up = redis.call('HGET', group.wake_ups, session)
    if not wake_up or not is_wake_up(wake_up) then forget(session)
    elseif free > 0 and not redis.call('ZSCORE', group.busy, session) then
      reserve(session)
      local level = math.floor(tonumber(redis.call('ZSCORE', group.waiting, session)) / LEVEL)
      redis.call('ZADD', group.waiting, string.format('%.0f', level * LEVEL + now()), session)
      free = free - 1
      found[#found + 1] = wake_up
    end
  end
  return found
end
`,
  lock: `-- Locks a session for a job. Another job of the session may be in work in another lane: then the schedule of this wake-up
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
`,
  pause: `-- Sets the end of a lane's pause, unless the lane pauses for longer already. Publishes it.
--
-- KEYS  1  lanes      the lanes, with the ends of their pauses
-- ARGV  1  lane
--       2  pause_end  in milliseconds since 1970
--       3  changes    the channel

local lanes = KEYS[1]
local lane, pause_end, changes = ARGV[1], ARGV[2], ARGV[3]
local paused = tonumber(redis.call('HGET', lanes, lane) or '0') or 0
if tonumber(pause_end) <= paused then return 0 end
redis.call('HSET', lanes, lane, pause_end)
redis.call('PUBLISH', changes, lane)
return 1
`,
  'remove-lane': `-- Removes a lane, unless it pauses, has jobs, or was used in the last 24 hours. Returns 1 when it is removed.
--
-- KEYS  1    lanes  the lanes, with the ends of their pauses
--       2..  the keys that exist while the lane has a job, and for a day after each use
-- ARGV  1    lane
--       2    now    in milliseconds since 1970

local lanes, lane, now = KEYS[1], ARGV[1], tonumber(ARGV[2])
if (tonumber(redis.call('HGET', lanes, lane) or '0') or 0) > now then return 0 end
if redis.call('EXISTS', unpack(KEYS, 2)) > 0 then return 0 end
return redis.call('HDEL', lanes, lane)
`,
  renew: `-- Renews the locks of sessions, and their slots in groups. Returns the numbers of the locks that another worker has.
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
`,
  'share-settings': `-- Stores the settings of a worker, and sets the limits of its lanes for all workers, unless another worker that started
-- later has done so. Returns the instant that counts as the start of the worker, or 0 when the other worker's hold.
--
-- KEYS  1    settings    the hash of the settings
--       2..  the hash of BullMQ for each lane
-- ARGV  1    started_at  in milliseconds since 1970; '' when the worker starts now
--       2    now
--       3    fields      the settings, as a list in JSON: a name and its value in turn
--       4..  for each lane its concurrency, the maximum of its rate, and the milliseconds of it; '' for no limit

local settings = KEYS[1]
local started_at, now, fields = tonumber(ARGV[1]), tonumber(ARGV[2]), cjson.decode(ARGV[3])
local last = tonumber(redis.call('HGET', settings, 'startedAt') or '-1') or -1
if started_at and last >= started_at then return 0 end
started_at = started_at or math.max(now, last + 1) -- clocks differ
redis.call('HSET', settings, 'startedAt', string.format('%.0f', started_at), unpack(fields))
local FIRST = 4
for lane = 0, #KEYS - 2 do
  local meta = KEYS[lane + 2]
  for index, field in ipairs({ 'concurrency', 'max', 'duration' }) do
    local limit = ARGV[FIRST + 3 * lane + index - 1]
    if limit == '' then redis.call('HDEL', meta, field) else redis.call('HSET', meta, field, limit) end
  end
end
return started_at
`,
  'take-ticket': `-- Returns the ticket of a new wake-up. Publishes a lane that is used for the first time. Returns 0 when the engine has too
-- many lanes, and -1 when the wake-up waits for a slot of its group. Removes a dead job of the session.
--
-- KEYS  1-3  as in tickets.lua
--       4    lanes       the lanes, with the ends of their pauses
--       5-8  as in group-slots.lua
-- ARGV  1-2  as in tickets.lua
--       3    lane        '' for the wake-ups without a lane
--       4    changes     the channel of new lanes
--       5    most_lanes
--       6    base        the beginning of BullMQ's keys of the lane
--       7    session
--       8-   as in group-slots.lua

local lanes = KEYS[4]
local lane, changes, most_lanes = ARGV[3], ARGV[4], tonumber(ARGV[5])
if lane ~= '' and redis.call('HEXISTS', lanes, lane) == 0 then
  if redis.call('HLEN', lanes) >= most_lanes then return 0 end
  redis.call('HSET', lanes, lane, 0)
  redis.call('PUBLISH', changes, lane)
end
forget_dead_job(ARGV[6], ARGV[7])
if must_wait() then return -1 end
return take_ticket()
`,
  tickets: `-- A function for the order of the wake-ups of a lane: the groups of the lane take turns, by start-time fair queueing with
-- one unit for each job. The turns begin anew when no job of the lane waits.
--
-- Other scripts follow this text. They begin with:
--
-- KEYS  1  tickets  the last ticket of each group
--       2  served   the highest ticket that a worker has taken
--       3  jobs     the jobs that wait
-- ARGV  1  turns    the group
--       2  most     the last ticket of a lane

local tickets, served, jobs = KEYS[1], KEYS[2], KEYS[3]
local turns, most = ARGV[1], tonumber(ARGV[2])
local function take_ticket()
  local start = tonumber(redis.call('GET', served) or '0') or 0
  redis.call('ZREMRANGEBYSCORE', tickets, '-inf', start)
  if redis.call('ZCARD', tickets) == 0 and redis.call('ZCARD', jobs) == 0 then
    start = 0
    redis.call('DEL', served)
  end
  local last = tonumber(redis.call('ZSCORE', tickets, turns) or '0')
  local ticket = math.min(math.max(last, start) + 1, most)
  redis.call('ZADD', tickets, ticket, turns)
  redis.call('EXPIRE', tickets, 86400) -- a lane without this key was not used for a day
  return ticket
end
`,
  unlock: `-- Ends the lock of a session. Returns the schedule of a wake-up that arrived in another lane meanwhile, or '', and then the
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
`,
};
