import type { EngineClient } from '../server/connection.ts';
import { GROUP_PLACES } from './group-places.ts';

/**
 * Computes the place of a wake-up among the turns of its lane's groups: start-time fair queueing, with one unit for each
 * job. The turns begin anew when no job of the lane waits.
 */
const TICKET = `
  local tickets, served, jobs = KEYS[1], KEYS[2], KEYS[3]
  local turns, most = ARGV[1], tonumber(ARGV[2])
  local function take_ticket()
    local start = tonumber(redis.call('GET', served) or '0')
    redis.call('ZREMRANGEBYSCORE', tickets, '-inf', start)
    if redis.call('ZCARD', tickets) == 0 and redis.call('ZCARD', jobs) == 0 then
      start = 0
      redis.call('DEL', served)
    end
    local last = tonumber(redis.call('ZSCORE', tickets, turns) or '0')
    local ticket = math.min(math.max(last, start) + 1, most)
    redis.call('ZADD', tickets, ticket, turns)
    redis.call('EXPIRE', tickets, 86400)
    return ticket
  end`;

/**
 * Returns the ticket of a new wake-up. Publishes a lane that is used for the first time. Returns 0 when the engine has too
 * many lanes, and -1 when the wake-up waits for a place of its group.
 */
const TAKE_TICKET = `
  ${GROUP_PLACES}
  ${TICKET}
  local lanes = KEYS[4]
  local lane, changes, most_lanes = ARGV[3], ARGV[4], tonumber(ARGV[5])
  if lane ~= '' and redis.call('HEXISTS', lanes, lane) == 0 then
    if redis.call('HLEN', lanes) >= most_lanes then return 0 end
    redis.call('HSET', lanes, lane, 0)
    redis.call('PUBLISH', changes, lane)
  end
  if must_wait() then return -1 end
  return take_ticket()`;

/**
 * Ends the lock of a session that has more work in the same lane, and changes its job to the next wake-up. Returns the
 * ticket; 0 when another worker has the session, its job is gone, the lane has no more tickets, or another session waits
 * for a place of the group.
 */
const CONTINUE = `
  ${GROUP_PLACES}
  ${TICKET}
  local lock, wanted, job = KEYS[4], KEYS[5], KEYS[6]
  local value, data, level = ARGV[3], ARGV[4], tonumber(ARGV[5])
  local held = redis.call('GET', lock)
  if (held and held ~= value) or redis.call('EXISTS', job) == 0 or has_waiting() then return 0 end
  local ticket = take_ticket()
  if ticket == most then return 0 end
  leave_place()
  redis.call('DEL', lock, wanted)
  redis.call('HSET', job, 'data', data, 'priority', level + ticket)
  return ticket`;

/**
 * Locks a session for a job. Another job of the session may be in work in another lane: then the schedule of this wake-up
 * is stored for the end of that work, and the script returns the milliseconds of the lock that are left. Returns 0 when
 * the session is locked, and -1 when the wake-up waits for a place of its group.
 */
const LOCK = `
  ${GROUP_PLACES}
  local lock, wanted, served = KEYS[1], KEYS[2], KEYS[3]
  local job, token, milliseconds, schedule, ticket = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
  local held = redis.call('GET', lock)
  if held and string.sub(held, 1, #job) ~= job then
    redis.call('SET', wanted, schedule, 'PX', 86400000)
    return math.max(redis.call('PTTL', lock), 1)
  end
  if must_wait() then return -1 end
  take_place()
  redis.call('SET', lock, job .. token, 'PX', milliseconds)
  if ticket > tonumber(redis.call('GET', served) or '0') then redis.call('SET', served, ticket, 'EX', 86400) end
  return 0`;

/**
 * Renews the locks of sessions, and their places in groups. The keys are a lock and the places of a group in turn; the
 * arguments are the value of the lock and the session, or an empty text without a place. Returns the numbers of the locks that another worker has.
 */
const RENEW = `
  local milliseconds = ARGV[1]
  local time = redis.call('TIME')
  local place_end = time[1] * 1000 + math.floor(time[2] / 1000) + milliseconds
  local lost = {}
  for number = 1, #KEYS / 2 do
    local lock, busy = KEYS[2 * number - 1], KEYS[2 * number]
    local value, session = ARGV[2 * number], ARGV[2 * number + 1]
    local held = redis.call('GET', lock)
    if held and held ~= value then lost[#lost + 1] = number
    else
      redis.call('SET', lock, value, 'PX', milliseconds)
      if session ~= '' then redis.call('ZADD', busy, place_end, session) end
    end
  end
  return lost`;

/**
 * Ends the lock of a session. Returns the schedule of a wake-up that arrived in another lane meanwhile, or an empty text,
 * and then the wake-ups that have a place of the group now.
 */
const UNLOCK = `
  ${GROUP_PLACES}
  local lock, wanted = KEYS[1], KEYS[2]
  local held = redis.call('GET', lock)
  if held and held ~= ARGV[1] then return { '' } end
  local schedule = redis.call('GET', wanted) or ''
  redis.call('DEL', lock, wanted)
  leave_place()
  return { schedule, unpack(next_wake_ups()) }`;

/** Returns the wake-ups that have a place of a group now. */
const FREE_PLACES = `
  ${GROUP_PLACES}
  return next_wake_ups()`;

/** Sets the end of a lane's pause, unless the lane pauses for longer already. Publishes it. */
const PAUSE = `
  local lanes = KEYS[1]
  local lane, pause_end, changes = ARGV[1], ARGV[2], ARGV[3]
  local paused = tonumber(redis.call('HGET', lanes, lane) or '0')
  if tonumber(pause_end) <= paused then return 0 end
  redis.call('HSET', lanes, lane, pause_end)
  redis.call('PUBLISH', changes, lane)
  return 1`;

/**
 * Removes a lane from the lanes, unless it pauses, has jobs, or was used in the last 24 hours: each use renews a key. The
 * first key is that of the lanes.
 */
const REMOVE_LANE = `
  local lanes, lane, now = KEYS[1], ARGV[1], tonumber(ARGV[2])
  if tonumber(redis.call('HGET', lanes, lane) or '0') > now then return 0 end
  if redis.call('EXISTS', unpack(KEYS, 2)) > 0 then return 0 end
  return redis.call('HDEL', lanes, lane)`;

const SCRIPTS = { TAKE_TICKET, CONTINUE, LOCK, RENEW, UNLOCK, FREE_PLACES, PAUSE, REMOVE_LANE };

type Script = keyof typeof SCRIPTS;

/** Runs the scripts of the engine on its client. */
export class EngineScripts {
  private readonly client: EngineClient;

  constructor(client: EngineClient) {
    this.client = client;
    for (const [name, lua] of Object.entries(SCRIPTS)) client.defineCommand(`holdfast${name}`, { lua });
  }

  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const commands = this.client as unknown as Record<
      string,
      (...args: (string | number)[]) => Promise<unknown>
    >;
    return commands[`holdfast${script}`]?.(keys.length, ...keys, ...args);
  }
}
