-- Sets the end of a lane's pause, unless the lane pauses for longer already. Publishes it.
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
