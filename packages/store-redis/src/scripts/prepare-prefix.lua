-- Returns how sessions are stored under a prefix. Writes it first, if the prefix is new.
--
-- KEYS  1  meta_key  the hash that describes the prefix
-- ARGV  1  schema    the version of the layout, for a new prefix
--       2  buckets   the number of buckets, for a new prefix
--
-- Returns {seconds, microseconds, {schema, buckets}}: the server's time, and what the hash holds.

local meta_key = KEYS[1]
local schema = ARGV[1]
local buckets = ARGV[2]

local time = redis.call('TIME')
if redis.call('EXISTS', meta_key) == 0 then
  redis.call('HSET', meta_key, 'schema', schema, 'buckets', buckets)
end
return {time[1], time[2], redis.call('HMGET', meta_key, 'schema', 'buckets')}
