import { HoldfastError, invalidArgument, systemClock } from '@holdfast/core';
import {
  callAfter,
  GROUP_CONCURRENCY,
  groupLimits,
  mustBe,
  optionsCheck,
  QueueEngine,
  type GroupConcurrency,
  type WakeOptions,
} from '@holdfast/core/engine';
import type { Queue, Telemetry } from 'bullmq';
import { BullmqWakeUps } from './queue/bullmq-wake-ups.ts';
import { checkLanes, type BullmqLaneLimits } from './layout/lane-limits.ts';
import {
  checkConnection,
  checkPrefix,
  connect,
  CONNECTION,
  type BullmqConnection,
  type EngineClient,
} from './server/connection.ts';
import type { QueueReport } from './server/queue-report.ts';

/** The options of `BullmqEngine`. */
export interface BullmqEngineOptions {
  /** The Redis or Valkey server, as in `{ url: 'redis://localhost:6379' }`. */
  readonly connection: BullmqConnection;
  /** The name of the queue. Engines with the same name and prefix share their wake-ups. Default: `agents`. */
  readonly name?: string | undefined;
  /** The beginning of all keys. A Cluster needs a part in braces, as in the default `{holdfast}`. */
  readonly prefix?: string | undefined;
  /** Limits of lanes, by the name of the lane, as in `{ openai: { concurrency: 40, rate: { max: 50, seconds: 1 } } }`. */
  readonly lanes?: Readonly<Record<string, BullmqLaneLimits>> | undefined;
  /**
   * How many sessions of one group all workers work on at the same time, over all lanes: `5`, or
   * `(owner) => (isPaying(owner) ? 20 : 2)`. Groups are owners by default. Default: no limit.
   */
  readonly groupConcurrency?: GroupConcurrency | undefined;
  /** The seconds after which the lock of a dead worker ends. The engine renews it three times in this period. Default: 15. */
  readonly lockSeconds?: number | undefined;
  /**
   * The seconds between two searches for jobs whose lock has ended. Another worker continues the session of a dead worker
   * after at most `lockSeconds` and twice this time. Default: 5.
   */
  readonly stalledSeconds?: number | undefined;
  /**
   * The name of the session store, such as `postgres://db/orders`. A worker warns when the last one on the queue had
   * another: two applications that share a queue take each other's sessions.
   */
  readonly storeName?: string | undefined;
  /**
   * The steps of a turn. After it, a session waits again in the queue. It takes its next turn at once while the worker has free
   * places and its lane and group have no limit. Default: 1.
   */
  readonly stepsPerTurn?: number | undefined;
  /** The seconds after which `wake` rejects when the server does not reply. Default: 5. */
  readonly wakeSeconds?: number | undefined;
  /** Receives spans, as in `new BullMQOtel({ tracerName: 'agents' })` of the package `bullmq-otel`: for each wake-up and each turn. */
  readonly telemetry?: Telemetry | undefined;
  /**
   * Receives each setting of the server with which wake-ups can be lost, and each limit that differs from that of other
   * workers. Default: a warning on the console.
   */
  readonly onWarning?: ((warning: string) => void) | undefined;
  /**
   * Receives the errors of connections, which reconnect by themselves, and `QUEUE_DAMAGED` for each unreadable job, which
   * the engine removes. Default: a warning on the console.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

const TELEMETRY = {
  expected: "an adapter such as new BullMQOtel({ tracerName: 'agents' })",
  accepts: (value: unknown): boolean =>
    mustBe.object.accepts(value) &&
    mustBe.objectWith('', ['startSpan']).accepts((value as Partial<Telemetry>).tracer) &&
    mustBe.objectWith('', ['active', 'with']).accepts((value as Partial<Telemetry>).contextManager),
};

const checkOptions = optionsCheck<BullmqEngineOptions>(
  'BullmqEngine',
  {
    connection: CONNECTION,
    name: mustBe.text(200),
    prefix: mustBe.text(200),
    lanes: mustBe.object,
    groupConcurrency: GROUP_CONCURRENCY,
    lockSeconds: mustBe.seconds,
    stalledSeconds: mustBe.seconds,
    storeName: mustBe.text(1_000),
    stepsPerTurn: mustBe.wholeNumber(1),
    wakeSeconds: mustBe.seconds,
    telemetry: TELEMETRY,
    onWarning: mustBe.function,
    onError: mustBe.function,
  },
  {
    url: "pass connection, as in new BullmqEngine({ connection: { url: 'redis://localhost:6379' } })",
    concurrency: 'pass it to serve, as in engine.serve(advance, { concurrency: 8 })',
    limiter: 'set the rate of a lane, as in lanes: { openai: { rate: { max: 50, seconds: 1 } } }',
  },
);

/** BullMQ waits for a server that does not reply. The engine does not. */
const CLOSE_MS = 2_000;

interface EngineParts {
  readonly client: EngineClient;
  readonly wakeUps: BullmqWakeUps;
  readonly wakeSeconds: number;
}

/**
 * An engine whose wake-ups are jobs of BullMQ, for workers on many machines. A job means "look at this session": the store
 * has the session, so the queue holds nothing that a sweep could not restore.
 *
 * `serve` checks the server and the settings, as `check` does.
 */
export class BullmqEngine extends QueueEngine {
  private readonly parts: EngineParts;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(options: BullmqEngineOptions) {
    const { connection, stepsPerTurn = 1, wakeSeconds = 5, ...rest } = checkOptions(options);
    const { name = 'agents', prefix = '{holdfast}', lanes = {}, groupConcurrency, storeName, ...more } = rest;
    const { lockSeconds = 15, stalledSeconds = 5, telemetry, onWarning = warn, onError = warn } = more;
    if (name.includes(':'))
      throw invalidArgument(`The name "${name}" has a colon, which BullMQ does not allow.`);
    checkConnection(connection);
    checkPrefix(prefix, connection);
    checkLanes(lanes);
    const client = connect(connection);
    client.on('error', onError);
    const limits = { lanes, groupConcurrency, groupLimits: groupLimits(groupConcurrency, onWarning) };
    const times = { lockSeconds, stalledSeconds };
    const location = { client, prefix, name, storeName };
    const wakeUps = new BullmqWakeUps({ ...location, ...limits, ...times, telemetry, onWarning, onError });
    super(wakeUps, { stepsPerTurn });
    this.parts = { client, wakeUps, wakeSeconds };
  }

  /**
   * @throws HoldfastError `QUEUE_UNAVAILABLE` when the server does not reply in time. The wake-up may have been stored; if
   * not, a sweep wakes the session. `QUEUE_UNSUITABLE` for a queue that another layout uses.
   */
  override async wake(sessionId: string, options: WakeOptions = {}): Promise<void> {
    const { wakeSeconds } = this.parts;
    const late = Promise.withResolvers<never>();
    const message = `The server of the queue has not replied for ${wakeSeconds} s. A sweep wakes the session later.`;
    const callOff = callAfter(systemClock, wakeSeconds * 1_000, () =>
      late.reject(new HoldfastError('QUEUE_UNAVAILABLE', message)),
    );
    const stored = super.wake(sessionId, options);
    await Promise.race([stored, late.promise]).finally(callOff);
  }

  /**
   * The queues of BullMQ, for tools such as bull-board: one for each lane that this process knows, and one for timers. Do not
   * change their jobs.
   */
  get queues(): readonly Queue[] {
    return this.parts.wakeUps.queues;
  }

  /**
   * Checks the server, and compares the settings of this engine with those of the worker that started last.
   * @throws HoldfastError `QUEUE_UNSUITABLE` for a server that is too old, and for a queue that another layout uses.
   */
  async check(): Promise<QueueReport> {
    return this.parts.wakeUps.check();
  }

  /** Closes the connections. Stop the worker before. */
  async close(): Promise<void> {
    const { wakeUps, client } = this.parts;
    const closed = Promise.withResolvers<void>();
    const callOff = callAfter(systemClock, CLOSE_MS, closed.resolve); // the server may be away
    wakeUps.close().then(closed.resolve, closed.reject);
    try {
      await closed.promise;
    } finally {
      callOff();
      client.disconnect();
    }
  }
}

function warn(problem: Error | string): void {
  // oxlint-disable-next-line no-console -- a problem must not be lost when the caller passes no listener
  console.warn('The queue of the engine:', problem);
}
