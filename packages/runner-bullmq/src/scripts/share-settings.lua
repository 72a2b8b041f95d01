-- Stores the settings of a worker, and sets the limits of its lanes for all workers, unless another worker that started
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
