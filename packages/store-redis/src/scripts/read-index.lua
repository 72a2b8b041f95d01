-- Reads the entries of an index that follow a position, in its order: by score, then by the bytes of the id.
--
-- KEYS  1  index_key    the sorted set
-- ARGV  1  after_score  the position that the entries follow; there need not be an entry at it
--       2  after_id     the id of that position; '' to begin at the first entry
--       3  max_score    the highest score
--       4  limit        the largest number of entries
--
-- Returns {seconds, microseconds, {id, score, id, score, ...}}: the server's time, and the entries.

local index_key = KEYS[1]
local after_score = ARGV[1]
local after_id = ARGV[2]
local max_score = ARGV[3]
local limit = ARGV[4]

local time = redis.call('TIME')

-- Compares bytes, as the index does: how Lua compares strings depends on the locale of the server.
local function follows_position(id)
  for byte = 1, math.min(#id, #after_id) do
    local left, right = string.byte(id, byte), string.byte(after_id, byte)
    if left ~= right then return left > right end
  end
  return #id > #after_id
end

local first = 0
if after_id ~= '' then
  -- A binary search among the entries with the score of the position.
  first = redis.call('ZCOUNT', index_key, '-inf', '(' .. after_score)
  local last = first + redis.call('ZCOUNT', index_key, after_score, after_score)
  while first < last do
    local middle = math.floor((first + last) / 2)
    if follows_position(redis.call('ZRANGE', index_key, middle, middle)[1]) then
      last = middle
    else
      first = middle + 1
    end
  end
end

local count = math.min(limit, redis.call('ZCOUNT', index_key, '-inf', max_score) - first)
if count <= 0 then return {time[1], time[2], {}} end
return {time[1], time[2], redis.call('ZRANGE', index_key, first, first + count - 1, 'WITHSCORES')}
