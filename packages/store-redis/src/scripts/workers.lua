-- Stores or removes what a worker announces, removes what has expired, and returns what the other workers announced.
--
-- KEYS  1  workers_key  a hash: for each worker the instant until which it counts, a space, and the JSON of the worker
-- ARGV  1  now          the instant now, in milliseconds since 1970
--       2  name         the field of the worker; '' announces none
--       3  until_       the instant until which the worker counts; '' removes it
--       4  json         the JSON of the worker
--
-- Returns {seconds, microseconds, workers}: the server's time, and the JSON of each worker that counts now.

local workers_key = KEYS[1]
local now = tonumber(ARGV[1])
local name = ARGV[2]
local until_ = ARGV[3]
local json = ARGV[4]

local call = redis.call
local time = call('TIME')

if name ~= '' then
  if until_ == '' then call('HDEL', workers_key, name) else call('HSET', workers_key, name, until_ .. ' ' .. json) end
end

local workers = {}
local stored = call('HGETALL', workers_key)
for index = 1, #stored, 2 do
  local text = stored[index + 1]
  local space = string.find(text, ' ', 1, true) or 1
  if (tonumber(string.sub(text, 1, space - 1)) or 0) > now then
    workers[#workers + 1] = string.sub(text, space + 1)
  else
    call('HDEL', workers_key, stored[index])
  end
end
return {time[1], time[2], workers}
