-- Replaces the record of a session, its content and its index entries, if the stored record is still the expected one.
-- A token identifies a record. A call that was sent twice returns DONE the second time too, even if other writers have
-- written in between. The client names every field, so that the script builds no lists.
--
-- KEYS  1     session_key     the hash of the session
--       2...  index_keys      the indexes in which the entry of the session changes
-- ARGV  1     mode            'keep': the hash keeps the fields that the arguments do not name; 'whole': like 'keep', but
--                             it keeps no values and lists; 'new': it keeps no fields, because another incarnation
--                             begins; 'delete': the script deletes the session
--       2     expected_token  the token of the record before, '' for no session
--       3     new_token       the token of the record after, '' for 'delete'
--       4     remove_at       the instant at which the server removes the hash, in milliseconds since 1970; 'persist'
--                             cancels the removal; '' changes nothing
--       5     guard_count     the number of guarded fields
--       6     removed_count   the number of fields to remove
--       then  for each guarded field the value that it must have, '' for an absent field
--       then  for each index the score of the entry; '=' for the score before it in this list; '-' to remove the entry
--       then  the fields to remove
--       then  the fields to set, each followed by its value; the guarded fields come first
--
-- A guarded field is the length of a list, or the position of the inbox item with the id of the item to enqueue.
--
-- Returns {seconds, microseconds, result}: the server's time, and one of
--       DONE       the record was replaced, or the session deleted
--       OUTDATED   the stored record is another one; nothing was changed
--       DUPLICATE  an item with the id of the item to enqueue waits in the inbox; nothing was changed
--       TORN       a list is shorter than the client expects; nothing was changed
--
-- The server undoes nothing when a script fails. Therefore everything that can fail is checked before the first write,
-- and the first write is one that a server without memory refuses: after any other, the server would allow the rest.

local session_key = KEYS[1]
local mode = ARGV[1]
local expected_token = ARGV[2]
local new_token = ARGV[3]
local remove_at = ARGV[4]
local guard_count = tonumber(ARGV[5])
local removed_count = tonumber(ARGV[6])

-- The index of the last argument before each of the groups that follow.
local before_guards = 6
local before_scores = before_guards + guard_count
local before_removed = before_scores + #KEYS - 1
local before_set = before_removed + removed_count
local last = #ARGV

local DONE = 1
local OUTDATED = 0
local DUPLICATE = 2
local TORN = -1

local TOKEN_LENGTH = 12
local EARLIER_TOKENS = 15
local CHUNK = 1000 -- unpack cannot return many more values

local call = redis.call
local time = call('TIME')

local function reply(result) return {time[1], time[2], result} end

local function call_in_chunks(command, list, from, to)
  for at = from, to, CHUNK do
    call(command, session_key, unpack(list, at, math.min(at + CHUNK - 1, to)))
  end
end

local read_fields = {'w', 't'}
for guard = 1, guard_count do read_fields[guard + 2] = ARGV[before_set + 2 * guard - 1] end
local stored = call('HMGET', session_key, unpack(read_fields))
local stored_token, earlier_tokens = stored[1], stored[2] or ''

-- A hash without a token is not a session of this store.
if (stored_token or '') ~= expected_token or (not stored_token and call('EXISTS', session_key) == 1) then
  local was_done = stored_token == new_token or string.find(earlier_tokens, new_token, 1, true)
  if mode == 'delete' or not was_done then return reply(OUTDATED) end
  -- Writes again: WAIT counts the writes of its own connection, in newer servers only these, and the first call came
  -- over another connection.
  redis.pcall('HSET', session_key, 'w', stored_token)
  return reply(DONE)
end

local dropped_fields = {}
for guard = 1, guard_count do
  local expected, actual = ARGV[before_guards + guard], stored[guard + 2] or ''
  if actual ~= expected then
    local field = read_fields[guard + 2]
    local kind, name = string.sub(field, 1, 2), string.sub(field, 3)
    if kind == 'k:' then
      if call('HEXISTS', session_key, 'q:' .. actual) == 1 then return reply(DUPLICATE) end
    else
      -- The plan shortens the list.
      local length, new_length = tonumber(actual) or 0, tonumber(ARGV[before_set + 2 * guard])
      if (tonumber(expected) or 0) > length then return reply(TORN) end
      if new_length == 0 then dropped_fields[#dropped_fields + 1] = field end
      for index = new_length, length - 1 do
        dropped_fields[#dropped_fields + 1] = 'l:' .. name .. ':' .. index
      end
    end
  end
end

if mode == 'delete' then
  call('UNLINK', session_key)
else
  if mode == 'new' then
    earlier_tokens = ''
  else
    earlier_tokens = stored_token .. string.sub(earlier_tokens, 1, (EARLIER_TOKENS - 1) * TOKEN_LENGTH)
  end
  if mode ~= 'keep' and stored_token then
    call('HSET', session_key, 'w', new_token)
    if mode == 'new' then
      call('UNLINK', session_key)
    else
      for _, field in ipairs(call('HKEYS', session_key)) do
        if string.find(field, '^[vln]:') then dropped_fields[#dropped_fields + 1] = field end
      end
      call_in_chunks('HDEL', dropped_fields, 1, #dropped_fields)
      dropped_fields = {}
    end
  end
  local chunk_end = math.min(before_set + CHUNK, last)
  call('HSET', session_key, 'w', new_token, 't', earlier_tokens, unpack(ARGV, before_set + 1, chunk_end))
  call_in_chunks('HSET', ARGV, chunk_end + 1, last)
  for index = before_removed + 1, before_set do dropped_fields[#dropped_fields + 1] = ARGV[index] end
  call_in_chunks('HDEL', dropped_fields, 1, #dropped_fields)
  if remove_at == 'persist' then
    call('PERSIST', session_key)
  elseif remove_at ~= '' then
    call('PEXPIREAT', session_key, remove_at)
  end
end

if #KEYS > 1 then
  local id = string.sub(session_key, string.find(session_key, '}:s:', 1, true) + 4)
  local score
  for index = 2, #KEYS do
    local argument = ARGV[before_scores + index - 1]
    if argument == '-' then
      call('ZREM', KEYS[index], id)
    else
      if argument ~= '=' then score = argument end
      call('ZADD', KEYS[index], score, id)
    end
  end
end
return reply(DONE)
