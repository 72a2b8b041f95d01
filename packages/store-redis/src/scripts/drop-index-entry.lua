-- Removes an entry of an index, if the entry and the record of its session are still those that the client compared.
--
-- KEYS  1  session_key  the hash of the session
--       2  index_key    the sorted set
-- ARGV  1  token        the token of the record that the client read, '' for no session
--       2  id           the id of the session
--       3  score        the score of the entry that the client read
--
-- Returns {seconds, microseconds, removed}: the server's time, and the number of removed entries, 0 or 1.

local session_key = KEYS[1]
local index_key = KEYS[2]
local token = ARGV[1]
local id = ARGV[2]
local score = ARGV[3]

local time = redis.call('TIME')
local stored_token = redis.call('HGET', session_key, 'w') or ''
local stored_score = redis.call('ZSCORE', index_key, id)
if stored_token ~= token or tonumber(stored_score) ~= tonumber(score) then return {time[1], time[2], 0} end
return {time[1], time[2], redis.call('ZREM', index_key, id)}
