-- Returns the ticket of a new wake-up. Publishes a lane that is used for the first time. Returns 0 when the engine has too
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
