import { StateFormatError, StoreUnavailableError } from '@holdfast/core';
import type { RedisArgument, RedisBatch, RedisClient } from './redis-client.ts';
import { failureOf, isOfCluster, isOtherType, reasonOf } from './redis-errors.ts';
import { SCRIPTS } from './scripts.ts';
import type { RedisScript } from './scripts.ts';
import type { ServerClock } from './server-clock.ts';

const FIRST_PAUSE_MILLISECONDS = 25;
const LONGEST_PAUSE_MILLISECONDS = 500;

interface RedisCallsFields {
  readonly client: RedisClient;
  readonly clock: ServerClock;
  readonly timeoutSeconds: number;
}

/** The time of the server in seconds and microseconds, and what the script has to say. */
type ScriptReply = readonly [seconds: Buffer, micros: Buffer, answer: unknown];
/** A command that reads one key. */
export type ReadCommand = readonly [command: 'hmget', key: string, ...fields: string[]];
type ScriptMethod = (args: readonly RedisArgument[]) => Promise<ScriptReply>;

/**
 * Reads, and calls scripts: again when that may help and cannot harm, and not for longer than was allowed. Every script
 * may be sent twice: those that write know what they did.
 */
export class RedisCalls {
  readonly client: RedisClient;
  private readonly clock: ServerClock;
  private readonly timeoutSeconds: number;
  private isClosed = false;
  /** Why there was no connection when there was none last: commands only wait for one. */
  private connectionError: Error | undefined;

  constructor({ client, clock, timeoutSeconds }: RedisCallsFields) {
    this.client = client;
    this.clock = clock;
    this.timeoutSeconds = timeoutSeconds;
    // Each command says what went wrong. An error that nobody listens to would be printed.
    client.on('error', (error) => (this.connectionError = error));
    for (const { name, lua } of SCRIPTS) client.defineCommand(name, { lua });
  }

  /** `defineCommand` adds methods to the client. */
  private get methods(): Readonly<Record<string, ScriptMethod>> {
    return this.client as unknown as Record<string, ScriptMethod>;
  }

  /** From now on nothing is sent. */
  close(): void {
    this.isClosed = true;
  }

  /**
   * What a script answers; `T` is what that script is known to answer.
   * @throws StoreUnavailableError; StateFormatError for a key of another type.
   */
  run<T>(script: RedisScript, keys: readonly string[], args: readonly RedisArgument[]): Promise<T> {
    const call = async (): Promise<T> => {
      const sentAt = performance.now();
      // One array: a session of 100,000 messages is more arguments than a function takes.
      const reply = await this.methods[`${script.name}Buffer`]?.([keys.length, ...keys, ...args]);
      if (!reply) throw new TypeError(`The client has lost the script ${script.name}.`);
      this.learn(reply, sentAt);
      return reply[2] as T;
    };
    return this.persist(script.isWrite, call, keys);
  }

  /**
   * The replies to commands on keys of one slot; `T` is what these commands answer. They are sent together behind `TIME`,
   * which ioredis does not know as a command that reads: so all of them go to a master, whatever the client does with
   * reads. Not a transaction, which a server without memory refuses.
   * @throws StoreUnavailableError; StateFormatError for a key of another type.
   */
  read<T extends readonly unknown[]>(commands: readonly ReadCommand[]): Promise<T> {
    return this.readVia(commands, async (batch) => {
      try {
        return await this.sent<T>(this.client.pipeline(batch));
      } catch (error) {
        if (!isOfCluster(error)) throw error;
        // The client follows a slot that moves only with transactions, because TIME has succeeded.
        return this.sent<T>(this.client.multi(batch));
      }
    });
  }

  /** The same, all of one moment. */
  readAtOnce<T extends readonly unknown[]>(commands: readonly ReadCommand[]): Promise<T> {
    return this.readVia(commands, (batch) => this.sent<T>(this.client.multi(batch)));
  }

  /** How many replicas have what was written on this connection, after at most so long. */
  async replicas(wanted: number, milliseconds: number): Promise<number> {
    try {
      return Number(await this.persist(true, () => this.client.callBuffer('wait', [wanted, milliseconds])));
    } catch (cause) {
      throw unavailable('The write was done, but its replication is not known.', true, cause);
    }
  }

  /** What the server says of itself. */
  async info(section: string): Promise<string> {
    return String(await this.persist(false, () => this.client.callBuffer('info', [section])));
  }

  private readVia<T>(commands: readonly ReadCommand[], send: (batch: string[][]) => Promise<T>): Promise<T> {
    const keys = commands.map(([, key]) => key);
    const reads = commands.map(([command, ...args]) => [`${command}Buffer`, ...args]);
    return this.persist(false, () => send([['time'], ...reads]), keys);
  }

  /** The replies to a batch behind that to `TIME`. */
  private async sent<T extends readonly unknown[]>(batch: RedisBatch): Promise<T> {
    const sentAt = performance.now();
    const [time, ...replies] = await repliesOf(batch);
    this.learn(time as readonly unknown[], sentAt);
    return replies as unknown as T;
  }

  /** @param time begins with what `TIME` answers */
  private learn([seconds, micros]: readonly unknown[], sentAt: number): void {
    this.clock.learn(Number(seconds) * 1_000 + Number(micros) / 1_000, sentAt, performance.now());
  }

  /** @param keys what a key of another type is looked for among */
  private async persist<T>(
    isWrite: boolean,
    call: () => Promise<T>,
    keys: readonly string[] = [],
  ): Promise<T> {
    const deadline = performance.now() + this.timeoutSeconds * 1_000;
    let isAmbiguous = false;
    for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLISECONDS)) {
      if (this.isClosed) throw unavailable('The store is closed.', isAmbiguous);
      if (this.client.status === 'end') throw unavailable('The client is closed.', isAmbiguous);
      try {
        const reply = await before(deadline, call);
        this.connectionError = undefined;
        return reply;
      } catch (thrown) {
        if (isOtherType(thrown)) throw otherType(keys, thrown);
        const error = thrown instanceof LateError ? (this.connectionError ?? thrown) : thrown;
        const failure = failureOf(thrown);
        isAmbiguous ||= isWrite && failure.isAmbiguous;
        const isOver = performance.now() + pause >= deadline;
        if (!failure.isPassing || isOver) throw unavailable('Redis is not available.', isAmbiguous, error);
        // Writers that failed together need not come back together.
        await elapsed(pause * (0.5 + Math.random() / 2));
      }
    }
  }
}

function unavailable(what: string, isAmbiguous: boolean, cause?: unknown): StoreUnavailableError {
  const why = cause instanceof Error ? ` ${cause.message}` : '';
  return new StoreUnavailableError(what + why, { isAmbiguous, cause });
}

function otherType(keys: readonly string[], cause: unknown): StateFormatError {
  const where = `a key of ${keys.map((key) => JSON.stringify(key)).join(', ')}`;
  return new StateFormatError(where, 'what this package has written', 'another type', { cause });
}

class LateError extends Error {}

/** The replies to a batch. @throws what kept one of its commands from being carried out. */
async function repliesOf(batch: RedisBatch): Promise<readonly unknown[]> {
  const results = await batch.exec().catch((error: unknown) => {
    throw reasonOf(error);
  });
  return (results ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
}

/** The result of a call that may never end. */
function before<T>(deadline: number, call: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new LateError('It did not answer in time.')); // made only when it is late
    const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()));
    const ended = (): void => clearTimeout(timer);
    call().then(resolve, reject).then(ended, ended);
  });
}

function elapsed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
