-- Appends entries to the tail of a session, and wakes its subscribers with a message: the id of the last entry, and behind it
-- a line for each entry, if all are short. The ids of entries are `generation-number`: the
-- generation is the time in microseconds at which the tail began, and the number counts from 0 without a gap.
--
-- KEYS  1  tail_key     the stream of the session
-- ARGV  1  wake_channel the shard channel of the tail
--       2  longest      the number of entries that the tail keeps at least
--       3  lifetime     the milliseconds after which an unchanged tail expires
--       4  is_trimmed   '1' to remove what is before these entries
--       5…              the texts of the entries
--
-- Returns the id of the last entry, or nothing without entries.

local tail_key = KEYS[1]
local wake_channel = ARGV[1]
local longest = ARGV[2]
local lifetime = ARGV[3]
local is_trimmed = ARGV[4]

local FIRST_TEXT = 5
local LONGEST_MESSAGE = 16384 -- bytes; subscribers read longer batches from the stream

local function last_id()
  local last = redis.call('XREVRANGE', tail_key, '+', '-', 'COUNT', 1)[1]
  if last then return last[1] end
  if redis.call('EXISTS', tail_key) == 0 then return nil end
  -- The last entry was trimmed. XINFO also returns the content of entries, so it is the slower way.
  local info = redis.call('XINFO', 'STREAM', tail_key)
  for index = 1, #info, 2 do
    if info[index] == 'last-generated-id' then return info[index + 1] end
  end
end

local function generation_and_next()
  local last = last_id()
  if last == nil then
    local time = redis.call('TIME')
    return string.format('%.0f', time[1] * 1000000 + time[2]), 0
  end
  local generation, number = string.match(last, '^(%d+)-(%d+)$')
  return generation, number + 1
end

if #ARGV < FIRST_TEXT then
  if is_trimmed == '1' then redis.call('XTRIM', tail_key, 'MAXLEN', 0) end
  return false
end

local generation, number = generation_and_next()
local first = generation .. '-' .. string.format('%.0f', number)
local last = first
local length = 0
for index = FIRST_TEXT, #ARGV do
  last = generation .. '-' .. string.format('%.0f', number + index - FIRST_TEXT)
  redis.call('XADD', tail_key, 'MAXLEN', '~', longest, last, 'e', ARGV[index])
  length = length + #ARGV[index]
end
if is_trimmed == '1' then redis.call('XTRIM', tail_key, 'MINID', first) end
redis.call('PEXPIRE', tail_key, lifetime)
local lines = length <= LONGEST_MESSAGE and '\n' .. table.concat(ARGV, '\n', FIRST_TEXT) or ''
redis.call('SPUBLISH', wake_channel, last .. lines)
return last
