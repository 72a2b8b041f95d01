import type { EngineClient } from '../server/connection.ts';

/**
 * Computes the place of a wake-up among the turns of its lane's groups: start-time fair queueing, with one unit for each
 * job. The turns begin anew when no job of the lane waits.
 */
const TICKET = `
  local served = tonumber(redis.call('GET', KEYS[2]) or '0')
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', served)
  if redis.call('ZCARD', KEYS[1]) == 0 and redis.call('ZCARD', KEYS[3]) == 0 then
    served = 0
    redis.call('DEL', KEYS[2])
  end
  local last = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '0')
  local ticket = math.min(math.max(last, served) + 1, tonumber(ARGV[2]))
  redis.call('ZADD', KEYS[1], ticket, ARGV[1])
  redis.call('EXPIRE', KEYS[1], 86400)`;

/**
 * Returns the ticket of a new wake-up. Publishes a lane that is used for the first time. Returns 0 when the engine has too
 * many lanes.
 */
const TAKE_TICKET = `
  if ARGV[3] ~= '' and redis.call('HEXISTS', KEYS[4], ARGV[3]) == 0 then
    if redis.call('HLEN', KEYS[4]) >= tonumber(ARGV[5]) then return 0 end
    redis.call('HSET', KEYS[4], ARGV[3], 0)
    redis.call('PUBLISH', ARGV[4], ARGV[3])
  end
  ${TICKET}
  return ticket`;

/**
 * Ends the lock of a session that has more work in the same lane, and changes its job to the next wake-up. Returns the
 * ticket; 0 when another worker has the session, its job is gone, or the lane has no more tickets.
 */
const CONTINUE = `
  local held = redis.call('GET', KEYS[4])
  if (held and held ~= ARGV[3]) or redis.call('EXISTS', KEYS[6]) == 0 then return 0 end
  ${TICKET}
  if ticket == tonumber(ARGV[2]) then return 0 end
  redis.call('DEL', KEYS[4], KEYS[5])
  redis.call('HSET', KEYS[6], 'data', ARGV[4], 'priority', tonumber(ARGV[5]) + ticket)
  return ticket`;

/**
 * Locks a session for a job. Another job of the session may be in work in another lane: then the schedule of this wake-up
 * is stored for the end of that work, and the script returns the milliseconds of the lock that are left.
 */
const LOCK = `
  local held = redis.call('GET', KEYS[1])
  if held and string.sub(held, 1, #ARGV[1]) ~= ARGV[1] then
    redis.call('SET', KEYS[2], ARGV[4], 'PX', 86400000)
    return math.max(redis.call('PTTL', KEYS[1]), 1)
  end
  redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
  local ticket = tonumber(ARGV[5])
  if ticket > tonumber(redis.call('GET', KEYS[3]) or '0') then redis.call('SET', KEYS[3], ticket, 'EX', 86400) end
  return 0`;

/** Renews the locks of sessions. Returns the numbers of the locks that another worker has. */
const RENEW = `
  local lost = {}
  for number, key in ipairs(KEYS) do
    local held = redis.call('GET', key)
    if held and held ~= ARGV[number + 1] then lost[#lost + 1] = number
    else redis.call('SET', key, ARGV[number + 1], 'PX', ARGV[1]) end
  end
  return lost`;

/** Ends the lock of a session. Returns the schedule of a wake-up that arrived in another lane meanwhile. */
const UNLOCK = `
  local held = redis.call('GET', KEYS[1])
  if held and held ~= ARGV[1] then return false end
  redis.call('DEL', KEYS[1])
  local wanted = redis.call('GET', KEYS[2])
  redis.call('DEL', KEYS[2])
  return wanted`;

/** Sets the end of a lane's pause, unless the lane pauses for longer already. Publishes it. */
const PAUSE = `
  local paused = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
  if tonumber(ARGV[2]) <= paused then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('PUBLISH', ARGV[3], ARGV[1])
  return 1`;

const SCRIPTS = { TAKE_TICKET, CONTINUE, LOCK, RENEW, UNLOCK, PAUSE };

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
