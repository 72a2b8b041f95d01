import { createHash } from 'node:crypto';

/** What the server runs as one effect. */
export interface RedisScript {
  /** Another one for another text, so that two releases of this package can share one client. */
  readonly name: string;
  readonly lua: string;
  readonly isWrite: boolean;
}

function script(name: string, isWrite: boolean, lua: string): RedisScript {
  const sha = createHash('sha1').update(lua).digest('hex');
  return { name: `holdfast:${name}:${sha.slice(0, 12)}`, lua, isWrite };
}

/**
 * One command that reads, and the time. As a script it goes to a master, whatever the client does with other reads.
 * KEYS: what is read. ARGV: the command and what follows the key.
 */
export const READ = script(
  'read',
  false,
  `local time = redis.call('TIME')
return {time[1], time[2], redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))}`,
);

/** Some fields of several hashes. KEYS: the hashes, of one slot. ARGV: the fields. */
export const READ_EACH = script(
  'read-each',
  false,
  `local time = redis.call('TIME')
local found = {}
for index, key in ipairs(KEYS) do found[index] = redis.call('HMGET', key, unpack(ARGV)) end
return {time[1], time[2], found}`,
);

/**
 * What the sessions are kept under, written if there is nothing. KEYS: meta. ARGV: the version of the layout, the number
 * of buckets.
 */
export const PREPARE = script(
  'prepare',
  true,
  `local time = redis.call('TIME')
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'schema', ARGV[1], 'buckets', ARGV[2])
end
return {time[1], time[2], redis.call('HMGET', KEYS[1], 'schema', 'buckets')}`,
);

/**
 * Entries of an index from a place on, by score and then by id, with their scores. KEYS: index. ARGV: the score and the id
 * behind which they begin ('' for the first), the last score, how many.
 */
export const WALK = script(
  'walk',
  false,
  `local key, score, id = KEYS[1], ARGV[1], ARGV[2]
local time = redis.call('TIME')
-- By bytes, as the index is ordered: what Lua compares by depends on the language of the server.
local function is_behind(other)
  for place = 1, math.min(#other, #id) do
    local left, right = string.byte(other, place), string.byte(id, place)
    if left ~= right then return left > right end
  end
  return #other > #id
end

local first = 0
if id ~= '' then
  first = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local last = first + redis.call('ZCOUNT', key, score, score)
  while first < last do
    local middle = math.floor((first + last) / 2)
    if is_behind(redis.call('ZRANGE', key, middle, middle)[1]) then last = middle else first = middle + 1 end
  end
end
local count = math.min(ARGV[4], redis.call('ZCOUNT', key, '-inf', ARGV[3]) - first)
if count <= 0 then return {time[1], time[2], {}} end
return {time[1], time[2], redis.call('ZRANGE', key, first, first + count - 1, 'WITHSCORES')}`,
);

/**
 * Removes an entry of an index, if it and the session still are what they were judged by. KEYS: session, index. ARGV:
 * incarnation, writes ('' for no session), id, score.
 */
export const DROP = script(
  'drop',
  true,
  `local time = redis.call('TIME')
local found = redis.call('HMGET', KEYS[1], 'i', 'w')
local score = redis.call('ZSCORE', KEYS[2], ARGV[3])
if (found[1] or '') ~= ARGV[1] or (found[2] or '') ~= ARGV[2] or tonumber(score) ~= tonumber(ARGV[4]) then
  return {time[1], time[2], 0}
end
return {time[1], time[2], redis.call('ZREM', KEYS[2], ARGV[3])}`,
);

/**
 * Puts one record in the place of another. Answers 1 when that was done, now or by an earlier sending of the same swap; 0
 * when something else was there; -1 when a list is shorter than the plan knows. KEYS: session, indexes. ARGV: as
 * `swapInput` says.
 *
 * The server undoes nothing when a script fails. So all that can fail is looked at before the first write; and the first
 * write is one that a server without memory refuses, for after any other it would let the rest pass.
 */
export const SWAP = script(
  'swap',
  true,
  `local key, token, incarnation, writes, mode = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local function answer(code) return {time[1], time[2], code} end
local function in_chunks(command, fields)
  for first = 1, #fields, 1000 do
    redis.call(command, key, unpack(fields, first, math.min(first + 999, #fields)))
  end
end

local sizes = {}
for size in string.gmatch(ARGV[9], '%d+') do sizes[#sizes + 1] = tonumber(size) end
local set_to = 9 + sizes[1]
local gone_to = set_to + sizes[2]
local lists, asked, at = {}, {'i', 'w', 't'}, gone_to
for index = 3, #sizes, 2 do
  local name, keep, added = ARGV[at + 1], sizes[index], sizes[index + 1]
  lists[#lists + 1] = {name = name, keep = keep, length = keep + added, from = at + 2}
  asked[#asked + 1] = 'n:' .. name
  at = at + 1 + added
end
local found = {}
for first = 1, #asked, 1000 do
  local some = redis.call('HMGET', key, unpack(asked, first, math.min(first + 999, #asked)))
  for index = 1, #some do found[#found + 1] = some[index] end
end

if (found[1] or '') ~= incarnation or (found[2] or '') ~= writes
  or (incarnation == '' and redis.call('EXISTS', key) == 1) then
  if not (found[3] and string.find(found[3], token, 1, true)) then return answer(0) end
  -- Written again: WAIT knows of what its connection wrote, in newer servers of nothing else, and that was another one.
  redis.pcall('HSET', key, 't', found[3])
  return answer(1)
end
for index, list in ipairs(lists) do
  list.before = mode == 'keep' and tonumber(found[3 + index] or 0) or 0
  if list.keep > list.before then return answer(-1) end
end

if mode == 'delete' then
  redis.call('UNLINK', key)
else
  local tokens = mode == 'new' and '' or string.sub(found[3] or '', 1, 180)
  local set, gone = {'w', ARGV[6], 't', token .. tokens}, {}
  if mode == 'new' then set[5], set[6] = 'i', ARGV[5] end
  if mode == 'new' and found[1] then
    in_chunks('HSET', set)
    redis.call('UNLINK', key)
  elseif mode == 'whole' then
    in_chunks('HSET', set)
    local replaced = {}
    for _, field in ipairs(redis.call('HKEYS', key)) do
      if string.find(field, '^[vln]:') then replaced[#replaced + 1] = field end
    end
    in_chunks('HDEL', replaced)
  end
  for index = 10, set_to do set[#set + 1] = ARGV[index] end
  for index = set_to + 1, gone_to do gone[#gone + 1] = ARGV[index] end
  for _, list in ipairs(lists) do
    local length, element = 'n:' .. list.name, 'l:' .. list.name .. ':'
    if list.length == 0 then
      gone[#gone + 1] = length
    else
      set[#set + 1] = length
      set[#set + 1] = list.length
    end
    for index = list.keep, list.length - 1 do
      set[#set + 1] = element .. index
      set[#set + 1] = ARGV[list.from + index - list.keep]
    end
    for index = list.length, list.before - 1 do gone[#gone + 1] = element .. index end
  end
  in_chunks('HSET', set)
  in_chunks('HDEL', gone)
  if ARGV[7] == 'persist' then redis.call('PERSIST', key)
  elseif ARGV[7] ~= '' then redis.call('PEXPIREAT', key, ARGV[7]) end
end

local id, score = string.match(key, '^[^}]*}:s:(.*)$'), nil
local place = 2
for word in string.gmatch(ARGV[8], '%S+') do
  if word == '-' then
    redis.call('ZREM', KEYS[place], id)
  else
    if word ~= '=' then score = word end
    redis.call('ZADD', KEYS[place], score, id)
  end
  place = place + 1
end
return answer(1)`,
);

export const SCRIPTS = [READ, READ_EACH, WALK, PREPARE, DROP, SWAP] as const;
