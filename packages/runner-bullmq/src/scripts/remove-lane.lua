-- Removes a lane, unless it pauses, has jobs, or was used in the last 24 hours. Returns 1 when it is removed.
--
-- KEYS  1    lanes  the lanes, with the ends of their pauses
--       2..  the keys that exist while the lane has a job, and for a day after each use
-- ARGV  1    lane
--       2    now    in milliseconds since 1970

local lanes, lane, now = KEYS[1], ARGV[1], tonumber(ARGV[2])
if (tonumber(redis.call('HGET', lanes, lane) or '0') or 0) > now then return 0 end
if redis.call('EXISTS', unpack(KEYS, 2)) > 0 then return 0 end
return redis.call('HDEL', lanes, lane)
