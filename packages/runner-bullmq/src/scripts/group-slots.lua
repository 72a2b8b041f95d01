-- Functions for the slots of a group: a group with a limit has so many slots, and each session in work has one. A wake-up
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
