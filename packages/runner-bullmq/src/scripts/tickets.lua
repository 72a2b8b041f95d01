-- A function for the order of the wake-ups of a lane: the groups of the lane take turns, by start-time fair queueing with
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
  local highest = tonumber(redis.call('ZRANGE', tickets, -1, -1, 'WITHSCORES')[2] or '0')
  local last = 0
  if highest > start then
    redis.call('ZREMRANGEBYSCORE', tickets, '-inf', start)
    last = tonumber(redis.call('ZSCORE', tickets, turns) or '0')
  elseif redis.call('ZCARD', jobs) > 0 then
    redis.call('DEL', tickets)
  else
    redis.call('DEL', tickets, served)
    start = 0
  end
  local ticket = math.min(math.max(last, start) + 1, most)
  redis.call('ZADD', tickets, ticket, turns)
  redis.call('EXPIRE', tickets, 86400) -- a lane without this key was not used for a day
  return ticket
end
