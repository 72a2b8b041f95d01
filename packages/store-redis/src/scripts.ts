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
 * the token of the record ('' for no session), id, score.
 */
export const DROP = script(
  'drop',
  true,
  `local time = redis.call('TIME')
local token = redis.call('HGET', KEYS[1], 'w')
local score = redis.call('ZSCORE', KEYS[2], ARGV[2])
if (token or '') ~= ARGV[1] or tonumber(score) ~= tonumber(ARGV[3]) then return {time[1], time[2], 0} end
return {time[1], time[2], redis.call('ZREM', KEYS[2], ARGV[2])}`,
);

/** How long the token of a record is. */
const TOKEN_LENGTH = 12;

/** What `SWAP` answers. `torn`: a list is shorter than the plan knows. */
export const SWAPPED = { done: 1, outdated: 0, duplicate: 2, torn: -1 } as const;

/**
 * Puts one record in the place of another: a record is known by its token. An earlier sending of the same swap is `done`,
 * also when others have written since. The client names every field, so that the script builds no lists.
 *
 * KEYS: the session, the indexes to change.
 * ARGV: 1 the mode: `keep` or replace the `whole` content, write a `new` incarnation, `delete`
 *       2 the token of the record before, '' for no session    3 the token of the record after
 *       4 when the server removes the hash, `persist`, or ''
 *       5 the number of guards                                 6 the number of fields to remove
 *       then for each guard the value that its field must have, '' for none; for each index a score, `=` for the score
 *       before, or `-` to remove the entry; the fields to remove; the fields to set, each with its value.
 * The first fields to set are those of the guards: lengths of lists, which are longer than expected where the plan
 * shortens them, and the id of an item to enqueue.
 *
 * The server undoes nothing when a script fails. So all that can fail is looked at before the first write; and the first
 * write is one that a server without memory refuses, for after any other it would let the rest pass.
 */
export const SWAP = script(
  'swap',
  true,
  `local call, key, mode, token = redis.call, KEYS[1], ARGV[1], ARGV[3]
local guards, keys, last = tonumber(ARGV[5]), #KEYS, #ARGV
local scores = 5 + guards
local gone = scores + keys
local set = gone + tonumber(ARGV[6])
local time = call('TIME')
local function answer(code) return {time[1], time[2], code} end
local function in_chunks(command, list, first, to)
  for at = first, to, 1000 do call(command, key, unpack(list, at, math.min(at + 999, to))) end
end

local asked = {'w', 't'}
for guard = 1, guards do asked[guard + 2] = ARGV[set + 2 * guard - 1] end
local found = call('HMGET', key, unpack(asked))
local present, earlier = found[1], found[2] or ''

if (present or '') ~= ARGV[2] or (not present and call('EXISTS', key) == 1) then
  if mode == 'delete' or (present ~= token and not string.find(earlier, token, 1, true)) then
    return answer(${SWAPPED.outdated})
  end
  -- Written again: WAIT knows of what its connection wrote, in newer servers of nothing else, and that was another one.
  redis.pcall('HSET', key, 'w', present)
  return answer(${SWAPPED.done})
end

local removed = {}
for guard = 1, guards do
  local expected, actual = ARGV[6 + guard], found[guard + 2] or ''
  if actual ~= expected then
    local field = asked[guard + 2]
    local kind, list = string.sub(field, 1, 2), string.sub(field, 3)
    if kind == 'k:' then
      if call('HEXISTS', key, 'q:' .. actual) == 1 then return answer(${SWAPPED.duplicate}) end
    else
      local before, length = tonumber(actual) or 0, tonumber(ARGV[set + 2 * guard])
      if (tonumber(expected) or 0) > before then return answer(${SWAPPED.torn}) end
      if length == 0 then removed[#removed + 1] = field end
      for index = length, before - 1 do removed[#removed + 1] = 'l:' .. list .. ':' .. index end
    end
  end
end

if mode == 'delete' then
  call('UNLINK', key)
else
  earlier = mode == 'new' and '' or present .. string.sub(earlier, 1, ${14 * TOKEN_LENGTH})
  if mode ~= 'keep' and present then
    call('HSET', key, 'w', token)
    if mode == 'new' then
      call('UNLINK', key)
    else
      for _, field in ipairs(call('HKEYS', key)) do
        if string.find(field, '^[vln]:') then removed[#removed + 1] = field end
      end
      in_chunks('HDEL', removed, 1, #removed)
      removed = {}
    end
  end
  call('HSET', key, 'w', token, 't', earlier, unpack(ARGV, set + 1, math.min(set + 1000, last)))
  in_chunks('HSET', ARGV, set + 1001, last)
  in_chunks('HDEL', ARGV, gone + 1, set)
  in_chunks('HDEL', removed, 1, #removed)
  if ARGV[4] == 'persist' then call('PERSIST', key)
  elseif ARGV[4] ~= '' then call('PEXPIREAT', key, ARGV[4]) end
end

if keys > 1 then
  local id, score = string.sub(key, string.find(key, '}:s:', 1, true) + 4), nil
  for place = 2, keys do
    local word = ARGV[scores + place]
    if word == '-' then
      call('ZREM', KEYS[place], id)
    else
      if word ~= '=' then score = word end
      call('ZADD', KEYS[place], score, id)
    end
  end
end
return answer(${SWAPPED.done})`,
);

export const SCRIPTS = [WALK, PREPARE, DROP, SWAP] as const;
