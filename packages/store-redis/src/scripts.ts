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
 * Removes an entry of an index, if the session is still what it was judged by. KEYS: session, index. ARGV: incarnation,
 * writes ('' for no session), entry.
 */
export const DROP = script(
  'drop',
  true,
  `local time = redis.call('TIME')
local found = redis.call('HMGET', KEYS[1], 'i', 'w')
if (found[1] or '') ~= ARGV[1] or (found[2] or '') ~= ARGV[2] then return {time[1], time[2], 0} end
return {time[1], time[2], redis.call('ZREM', KEYS[2], ARGV[3])}`,
);

/**
 * Puts one record in the place of another, with what `swapArguments` says. Answers 1 when that was done, now or by an
 * earlier sending of the same swap; 0 when something else was there; -1 when a list is shorter than the plan knows.
 *
 * The server undoes nothing when a script fails. So all that can fail is looked at before the first write; and the first
 * write is one that a server without memory refuses, for after any other it would let the rest pass.
 */
export const SWAP = script(
  'swap',
  true,
  `local key, at = KEYS[1], 8
local time = redis.call('TIME')
local function answer(code) return {time[1], time[2], code} end
local function take() at = at + 1; return ARGV[at - 1] end
local function take_all()
  local count = tonumber(take())
  local from = at
  at = at + count
  return from, at - 1
end
local function in_chunks(command, from, to)
  for first = from, to, 1000 do
    redis.call(command, key, unpack(ARGV, first, math.min(first + 999, to)))
  end
end

local token, incarnation, writes, mode = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local found = redis.call('HMGET', key, 'i', 'w', 't')
if (found[1] or '') ~= incarnation or (found[2] or '') ~= writes
  or (incarnation == '' and redis.call('EXISTS', key) == 1) then
  if not (found[3] and string.find(found[3], token, 1, true)) then return answer(0) end
  -- Written again: WAIT knows of what its connection wrote, in newer servers of nothing else, and that was another one.
  redis.pcall('HSET', key, 't', found[3])
  return answer(1)
end

local members_from = take_all()
local moves_from, moves_to = take_all()
local set_from, set_to = take_all()
local delete_from, delete_to = take_all()
local lists = {}
for index = 1, tonumber(take()) do
  local list = {name = take(), keep = tonumber(take())}
  list.from, list.to = take_all()
  list.length = list.keep + list.to - list.from + 1
  list.before = mode == 'keep' and tonumber(redis.call('HGET', key, 'n:' .. list.name) or 0) or 0
  if list.keep > list.before then return answer(-1) end
  lists[index] = list
end

if mode == 'delete' then redis.call('UNLINK', key) end
if mode ~= 'delete' then
  local tokens = mode == 'new' and '' or string.sub(found[3] or '', 1, 180)
  local function mark() redis.call('HSET', key, 'i', ARGV[5], 'w', ARGV[6], 't', token .. tokens) end
  mark()
  if mode == 'new' and found[1] then
    redis.call('UNLINK', key)
    mark()
  end
  if mode == 'whole' then
    for _, field in ipairs(redis.call('HKEYS', key)) do
      if string.find(field, '^[vln]:') then redis.call('HDEL', key, field) end
    end
  end
  in_chunks('HDEL', delete_from, delete_to)
  in_chunks('HSET', set_from, set_to)
end
for _, list in ipairs(lists) do
  local element = 'l:' .. list.name .. ':'
  for first = list.length, list.before - 1, 1000 do
    local fields = {}
    for index = first, math.min(first + 999, list.before - 1) do fields[#fields + 1] = element .. index end
    redis.call('HDEL', key, unpack(fields))
  end
  for first = list.from, list.to, 500 do
    local elements = {}
    for index = first, math.min(first + 499, list.to) do
      elements[#elements + 1] = element .. (list.keep + index - list.from)
      elements[#elements + 1] = ARGV[index]
    end
    redis.call('HSET', key, unpack(elements))
  end
  if list.length == 0 then redis.call('HDEL', key, 'n:' .. list.name)
  else redis.call('HSET', key, 'n:' .. list.name, list.length) end
end
if mode ~= 'delete' then
  if ARGV[7] == '' then redis.call('PERSIST', key) else redis.call('PEXPIREAT', key, ARGV[7]) end
end
for index = moves_from, moves_to, 2 do
  local index_key = KEYS[(index - moves_from) / 2 + 2]
  local gone, come = tonumber(ARGV[index]), tonumber(ARGV[index + 1])
  if gone > 0 then redis.call('ZREM', index_key, ARGV[members_from + gone - 1]) end
  if come > 0 then redis.call('ZADD', index_key, 0, ARGV[members_from + come - 1]) end
end
return answer(1)`,
);

export const SCRIPTS = [READ, READ_EACH, PREPARE, DROP, SWAP] as const;
