/**
 * The text of each `.lua` file in this folder, by the name of the file. Generated: change the files, then run
 * `pnpm lua`.
 */
export const LUA = {
  'compare-and-set': `-- Replaces the record of a session, its content and its index entries, if the stored record is still the expected one.
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
  call_in_chunks('HDEL', ARGV, before_removed + 1, before_set)
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
`,
  'drop-index-entry': `-- Removes an entry of an index, if the entry and the record of its session are still those that the client compared.
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
`,
  'notify-worker': `-- Notifies the worker of a session. Keeps the notification for a moment, for a worker that has just claimed the session and
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
`,
  'prepare-prefix': `-- Returns how sessions are stored under a prefix. Writes it first, if the prefix is new.
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
`,
  'publish-entries': `-- Appends entries to the tail of a session, and wakes its subscribers. The ids of entries are \`generation-number\`: the
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
for index = FIRST_TEXT, #ARGV do
  last = generation .. '-' .. string.format('%.0f', number + index - FIRST_TEXT)
  redis.call('XADD', tail_key, 'MAXLEN', '~', longest, last, 'e', ARGV[index])
end
if is_trimmed == '1' then redis.call('XTRIM', tail_key, 'MINID', first) end
redis.call('PEXPIRE', tail_key, lifetime)
redis.call('SPUBLISH', wake_channel, last)
return last
`,
  'read-index': `-- Reads the entries of an index that follow a position, in its order: by score, then by the bytes of the id.
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
`,
  spend: `-- Reads or changes the account of an owner, as one effect. Amounts are whole nano-dollars, instants milliseconds since
-- 1970. Every operation first removes expired reservations. A call that was sent twice has the effect of one.
--
-- KEYS  1  account_key       the hash of the account: the windows, the sum of the reservations, and the amount of each
--       2  reservations_key  the sorted set of the reserved calls, by the instant at which the reservation expires
--       3  settled_key       the sorted set of the settled calls, by the instant until which the set keeps them
-- ARGV  1  operation     'reserve', 'settle', 'release' or 'read'
--       2  given_now     the present instant, '' for the clock of the server
--       3  call_id       the id of the call, '' for 'read'
--       4  amount        the amount to reserve or to add, for 'reserve' and 'settle'
--       5  duration      until the reservation expires, or until the id is forgotten, in milliseconds
--       6  hour_limit    for 'reserve': the limit of the hour, '' for no limit
--       7  day_limit
--       8  month_limit
--       9  total_limit
--
-- Returns {seconds, microseconds, result}: the server's time, and one of
--       {'done'}
--       {'refused', window, limit, spent, reserved, since}   of the window that ends last
--       {'account', reserved, since, spent, ...}             the windows from the hour to the total
--       {'unknown'}                                          'read' found no account
--       {'layout', layout}                                   the account has another layout; nothing was changed

local account_key = KEYS[1]
local reservations_key = KEYS[2]
local settled_key = KEYS[3]
local operation = ARGV[1]
local given_now = ARGV[2]
local call_id = ARGV[3]
local amount = tonumber(ARGV[4])
local duration = tonumber(ARGV[5])
local hour_limit = ARGV[6]
local day_limit = ARGV[7]
local month_limit = ARGV[8]
local total_limit = ARGV[9]

local LAYOUT = '1'
local WINDOWS = {'hour', 'day', 'month', 'total'}
local HOUR, DAY = 3600000, 86400000
local MAX_AMOUNT = 9007199254740991

local call = redis.call
local time = call('TIME')
local now = tonumber(given_now) or (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))

local function reply(...) return {time[1], time[2], {...}} end

-- A number as a text without an exponent.
local function whole(number) return string.format('%.0f', number) end

local layout = call('HGET', account_key, 'layout')
if layout and layout ~= LAYOUT then return reply('layout', layout) end
if not layout and call('EXISTS', account_key) == 1 then return reply('layout', 'none') end

local function amount_field(id) return 'amount:' .. id end

local function free(id)
  local reserved = call('HGET', account_key, amount_field(id))
  call('ZREM', reservations_key, id)
  call('HDEL', account_key, amount_field(id))
  if reserved and reserved ~= '0' then call('HINCRBY', account_key, 'reserved', '-' .. reserved) end
end

for _, id in ipairs(call('ZRANGEBYSCORE', reservations_key, '-inf', whole(now))) do free(id) end

-- The number of days since the beginning of the month of the Gregorian calendar.
local function days_in_month()
  local days = math.floor(now / DAY) + 719468 -- since 1 March of the year 0
  local in_era = days % 146097 -- 400 years
  local leap_days = math.floor(in_era / 1460) - math.floor(in_era / 36524) + math.floor(in_era / 146096)
  local year = math.floor((in_era - leap_days) / 365)
  local in_year = in_era - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * in_year + 2) / 153)
  return in_year - math.floor((153 * month + 2) / 5)
end

local today = now - now % DAY
local beginnings = {now - now % HOUR, today, today - days_in_month() * DAY, now}

-- The windows at the present instant. A window that has ended begins anew, and one that begins later stays.
local windows = {}
for index, window in ipairs(WINDOWS) do
  local since, spent = unpack(call('HMGET', account_key, window .. '_since', window .. '_spent'))
  local is_counted = since and (window == 'total' or tonumber(since) >= beginnings[index])
  windows[index] = {
    since = is_counted and tonumber(since) or beginnings[index],
    spent = is_counted and tonumber(spent) or 0,
  }
end

local function save(added)
  local fields = {'layout', LAYOUT}
  for index, window in ipairs(WINDOWS) do
    local spent = math.min(windows[index].spent + added, MAX_AMOUNT)
    for _, each in ipairs({window .. '_since', whole(windows[index].since), window .. '_spent', whole(spent)}) do
      fields[#fields + 1] = each
    end
  end
  call('HSET', account_key, unpack(fields))
end

local reserved = math.min(tonumber(call('HGET', account_key, 'reserved') or 0), MAX_AMOUNT)

local function is_settled() return (tonumber(call('ZSCORE', settled_key, call_id) or 0)) > now end

if operation == 'read' then
  if not layout then return reply('unknown') end
  local account = {'account', whole(reserved)}
  for index = 1, #WINDOWS do
    account[#account + 1] = whole(windows[index].since)
    account[#account + 1] = whole(windows[index].spent)
  end
  return reply(unpack(account))
end

if operation == 'reserve' then
  if call('ZSCORE', reservations_key, call_id) or is_settled() then return reply('done') end
  local limits = {hour_limit, day_limit, month_limit, total_limit}
  for index = #WINDOWS, 1, -1 do
    local limit, window = tonumber(limits[index]), windows[index]
    if limit and window.spent + reserved + amount > limit then
      return reply('refused', WINDOWS[index], whole(limit), whole(window.spent), whole(reserved), whole(window.since))
    end
  end
  save(0)
  call('HSET', account_key, amount_field(call_id), whole(amount))
  call('HINCRBY', account_key, 'reserved', whole(amount))
  call('ZADD', reservations_key, whole(now + duration), call_id)
elseif operation == 'settle' then
  if is_settled() then return reply('done') end
  save(amount)
  if call('ZSCORE', reservations_key, call_id) then free(call_id) end
  call('ZREMRANGEBYSCORE', settled_key, '-inf', whole(now))
  call('ZADD', settled_key, whole(now + duration), call_id)
  if given_now == '' then call('PEXPIRE', settled_key, whole(duration)) end
elseif call('ZSCORE', reservations_key, call_id) then
  free(call_id)
end
return reply('done')
`,
  workers: `-- Stores or removes what a worker announces, removes what has expired, and returns what the other workers announced.
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
`,
};
