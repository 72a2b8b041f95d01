-- Notifies the worker of a session. Keeps the notification for a moment, for a worker that has just claimed the session and
-- is not subscribed yet.
--
-- KEYS  1  last_key       the last notification of the session
-- ARGV  1  notify_channel the shard channel of notifications
--       2  text           the notification
--       3  lifetime       the milliseconds for which it is kept
--
-- Returns the number of subscribers that received it.

local last_key = KEYS[1]
local notify_channel = ARGV[1]
local text = ARGV[2]
local lifetime = ARGV[3]

redis.call('SET', last_key, text, 'PX', lifetime)
return redis.call('SPUBLISH', notify_channel, text)
