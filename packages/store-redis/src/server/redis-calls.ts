import { StateFormatError, StoreUnavailableError } from '@holdfast/core';
import { backoff } from '@holdfast/core/store';
import { SCRIPTS, type RedisScript } from '../scripts/redis-script.ts';
import { closeOwnClient } from './connect.ts';
import type { RedisArgument, RedisBatch, RedisClient } from './redis-client.ts';
import { causeOfDiscard, failureOf, isForOtherNode, isWrongType } from './redis-errors.ts';
import { SelectedDatabase } from './selected-database.ts';
import type { ServerClock } from './server-clock.ts';

const PAUSES_MS = { first: 25, longest: 500 };

interface RedisCallsInit {
  readonly client: RedisClient;
  readonly clock: ServerClock;
  readonly timeoutSeconds: number;
}

/** The time of the server, and the result of the script. */
type ScriptReply = readonly [seconds: Buffer, microseconds: Buffer, result: unknown];
/** A command that reads one key. */
export type ReadCommand = readonly [command: 'hmget' | 'zscore', key: string, ...fields: string[]];
type ScriptMethod = (args: readonly RedisArgument[]) => Promise<ScriptReply>;

/**
 * Sends reads and scripts, and repeats them until the timeout when another attempt may succeed. Each script may be sent
 * twice: a script that writes recognises its own earlier write.
 */
export class RedisCalls {
  readonly client: RedisClient;
  private readonly clock: ServerClock;
  private readonly timeoutSeconds: number;
  private readonly database: SelectedDatabase;
  private isClosed = false;
  /**
   * The last error of the connection since the last reply. It states why there is no connection when a command times out.
   */
  private connectionError: Error | undefined;

  constructor({ client, clock, timeoutSeconds }: RedisCallsInit) {
    this.client = client;
    this.clock = clock;
    this.timeoutSeconds = timeoutSeconds;
    this.database = new SelectedDatabase(client);
    // Commands report their errors. ioredis prints an error event that has no listener.
    client.on('error', (error) => (this.connectionError = error));
    for (const { name, lua } of SCRIPTS) client.defineCommand(name, { lua });
  }

  /** `defineCommand` adds methods to the client. */
  private get methods(): Readonly<Record<string, ScriptMethod>> {
    return this.client as unknown as Record<string, ScriptMethod>;
  }

  /** Ends the sending of commands: further calls reject. Closes the client if this package created it. */
  close(): Promise<void> {
    this.isClosed = true;
    return closeOwnClient(this.client);
  }

  /**
   * Runs a script and returns its result, whose type `T` the caller knows.
   * @throws StoreUnavailableError; StateFormatError for a key of another type.
   */
  run<T>(script: RedisScript, keys: readonly string[], args: readonly RedisArgument[]): Promise<T> {
    const call = async (): Promise<T> => {
      const sentAt = performance.now();
      // One array, because a session of 100,000 messages has more arguments than a JavaScript function takes.
      const reply = await this.methods[`${script.name}Buffer`]?.([keys.length, ...keys, ...args]);
      if (!reply) throw new TypeError(`The client has lost the script ${script.name}.`);
      this.learnTime(reply, sentAt);
      return reply[2] as T;
    };
    return this.retry(script.isWrite, call, keys);
  }

  /**
   * The replies to commands on keys of one slot, whose type `T` the caller knows. The commands follow a `TIME`, which
   * ioredis does not class as a read: so they go to a master, whatever the client's options for reads. They are not a
   * transaction, because a server without memory refuses transactions.
   * @throws StoreUnavailableError; StateFormatError for a key of another type.
   */
  read<T extends readonly unknown[]>(commands: readonly ReadCommand[]): Promise<T> {
    return this.readVia(commands, async (batch) => {
      try {
        return await this.send<T>(this.client.pipeline(batch));
      } catch (error) {
        if (!isForOtherNode(error)) throw error;
        // Because TIME has succeeded, the client follows a slot that moves in transactions only.
        return this.send<T>(this.client.multi(batch));
      }
    });
  }

  /** Like `read`, but all replies are of one moment. */
  readAtOnce<T extends readonly unknown[]>(commands: readonly ReadCommand[]): Promise<T> {
    return this.readVia(commands, (batch) => this.send<T>(this.client.multi(batch)));
  }

  /** Waits until so many replicas have the writes of this connection, at most for a time, and returns how many have. */
  async waitForReplicas(count: number, milliseconds: number): Promise<number> {
    try {
      return Number(await this.retry(true, () => this.client.callBuffer('wait', [count, milliseconds])));
    } catch (cause) {
      throw unavailable('The write was done, but the number of its replicas is unknown.', true, cause);
    }
  }

  /** A section of the server's `INFO`. */
  async info(section: string): Promise<string> {
    return String(await this.retry(false, () => this.client.callBuffer('info', [section])));
  }

  private readVia<T>(commands: readonly ReadCommand[], send: (batch: string[][]) => Promise<T>): Promise<T> {
    const keys = commands.map(([, key]) => key);
    const reads = commands.map(([command, ...args]) => [`${command}Buffer`, ...args]);
    return this.retry(false, () => send([['time'], ...reads]), keys);
  }

  /** Sends a batch that begins with `TIME`, and returns the other replies. */
  private async send<T extends readonly unknown[]>(batch: RedisBatch): Promise<T> {
    const sentAt = performance.now();
    const [time, ...replies] = await repliesOf(batch);
    this.learnTime(time as readonly unknown[], sentAt);
    return replies as unknown as T;
  }

  /** @param reply begins like a reply to `TIME` */
  private learnTime([seconds, microseconds]: readonly unknown[], sentAt: number): void {
    const serverTime = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    this.clock.learn(serverTime, sentAt, performance.now());
  }

  /** @param keys the keys that an error about a wrong type names */
  private async retry<T>(isWrite: boolean, call: () => Promise<T>, keys: readonly string[] = []): Promise<T> {
    const deadline = performance.now() + this.timeoutSeconds * 1_000;
    let isAmbiguous = false;
    for (let attempt = 1; ; attempt++) {
      if (this.isClosed) throw unavailable('The session store is closed. Open the store again.', isAmbiguous);
      if (this.client.status === 'end')
        throw unavailable('The client is closed. Create a new client.', isAmbiguous);
      try {
        const reply = await withDeadline(deadline, async () => {
          await this.database.select();
          return call();
        });
        this.connectionError = undefined;
        return reply;
      } catch (thrown) {
        if (isWrongType(thrown)) throw wrongType(keys, thrown);
        const error = thrown instanceof LateReplyError ? (this.connectionError ?? thrown) : thrown;
        const failure = failureOf(thrown);
        isAmbiguous ||= isWrite && failure.isAmbiguous;
        const pause = backoff(PAUSES_MS, attempt);
        const isLate = performance.now() + pause >= deadline;
        if (!failure.isTransient || isLate) throw unavailable('Redis is not available.', isAmbiguous, error);
        // The pause has a random part, so that writers that failed together do not retry together.
        await sleep(pause * (0.5 + Math.random() / 2));
      }
    }
  }
}

function unavailable(what: string, isAmbiguous: boolean, cause?: unknown): StoreUnavailableError {
  const why = cause instanceof Error ? ` ${cause.message}` : '';
  return new StoreUnavailableError(what + why, { isAmbiguous, cause });
}

function wrongType(keys: readonly string[], cause: unknown): StateFormatError {
  const where = `a key of ${keys.map((key) => JSON.stringify(key)).join(', ')}`;
  return new StateFormatError(where, 'a value that this package has written', 'another type', { cause });
}

class LateReplyError extends Error {}

/** The replies to a batch. @throws the error of the first command that failed */
async function repliesOf(batch: RedisBatch): Promise<readonly unknown[]> {
  const results = await batch.exec().catch((error: unknown) => {
    throw causeOfDiscard(error);
  });
  return (results ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
}

/** The result of a call. @throws LateReplyError at the deadline, for a call that may never settle */
function withDeadline<T>(deadline: number, call: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // The error is created only when it is needed: its stack is costly.
    const fail = (): void => reject(new LateReplyError('No reply arrived in time.'));
    const timer = setTimeout(fail, Math.max(0, deadline - performance.now()));
    const stop = (): void => clearTimeout(timer);
    call().then(resolve, reject).then(stop, stop);
  });
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
