import { HoldfastError, invalidArgument, systemClock } from '@holdfast/core';
import {
  callAfter,
  GROUP_CONCURRENCY,
  groupLimits,
  mustBe,
  optionsCheck,
  QueueEngine,
} from '@holdfast/core/engine';
import type {
  Advance,
  EngineWorker,
  GroupConcurrency,
  ServeOptions,
  WakeOptions,
} from '@holdfast/core/engine';
import type { Queue, Telemetry } from 'bullmq';
import { BullmqWakeUps } from './queue/bullmq-wake-ups.ts';
import { checkLanes } from './queue/lane-limits.ts';
import type { BullmqLaneLimits } from './queue/lane-limits.ts';
import { checkPrefix, connect } from './server/connection.ts';
import type { BullmqConnection, EngineClient } from './server/connection.ts';
import { queueNames } from './queue/queue-names.ts';
import { queueReport } from './server/queue-report.ts';
import { shareSettings } from './server/queue-settings.ts';
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
  /** The steps of an advance after which a session goes back to its place in the queue. Default: 1. */
  readonly stepsPerTurn?: number | undefined;
  /** The seconds after which `wake` rejects when the server does not reply. Default: 5. */
  readonly wakeSeconds?: number | undefined;
  /** Receives BullMQ's spans, as in `new BullMQOtel({ tracerName: 'agents' })` of the package `bullmq-otel`. */
  readonly telemetry?: Telemetry | undefined;
  /**
   * Receives each setting of the server with which wake-ups can be lost, and each limit that differs from that of other
   * workers. Default: a warning on the console.
   */
  readonly onWarning?: ((warning: string) => void) | undefined;
  /** Receives the errors of connections, which reconnect by themselves. Default: a warning on the console. */
  readonly onError?: ((error: Error) => void) | undefined;
}

const checkOptions = optionsCheck<BullmqEngineOptions>(
  'BullmqEngine',
  {
    connection: mustBe.required(mustBe.secret(mustBe.object)),
    name: mustBe.text(200),
    prefix: mustBe.text(200),
    lanes: mustBe.object,
    groupConcurrency: GROUP_CONCURRENCY,
    lockSeconds: mustBe.seconds,
    stalledSeconds: mustBe.seconds,
    stepsPerTurn: mustBe.wholeNumber(1),
    wakeSeconds: mustBe.seconds,
    telemetry: mustBe.object,
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
const CLOSE_MILLISECONDS = 2_000;

interface EngineParts {
  readonly client: EngineClient;
  readonly wakeUps: BullmqWakeUps;
  /** Compares the settings with those of other workers. Returns warnings. */
  readonly shareSettings: () => Promise<readonly string[]>;
  readonly wakeSeconds: number;
  readonly onWarning: (warning: string) => void;
}

/**
 * An engine whose wake-ups are jobs of BullMQ, for workers on many machines. A job means "look at this session": the store
 * has the session, so the queue holds nothing that a sweep could not restore.
 */
export class BullmqEngine extends QueueEngine {
  private readonly parts: EngineParts;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(options: BullmqEngineOptions) {
    const { stepsPerTurn = 1, wakeSeconds = 5, onWarning = warn, ...rest } = checkOptions(options);
    const {
      connection,
      name = 'agents',
      prefix = '{holdfast}',
      lanes = {},
      groupConcurrency,
      ...times
    } = rest;
    const limitsGroups = groupConcurrency !== undefined;
    const { lockSeconds = 15, stalledSeconds = 5, telemetry, onError = warn } = times;
    if (name.includes(':'))
      throw invalidArgument(`The name "${name}" has a colon, which BullMQ does not allow.`);
    checkPrefix(prefix, connection);
    checkLanes(lanes);
    const client = connect(connection);
    client.on('error', onError);
    const wakeUps = new BullmqWakeUps({
      client,
      prefix,
      name,
      lanes,
      groupLimits: limitsGroups ? groupLimits(groupConcurrency) : undefined,
      lockSeconds,
      stalledSeconds,
      telemetry,
      onError,
    });
    super(wakeUps, { stepsPerTurn, limitsGroups });
    const place = { key: queueNames(prefix, name).settings, name, prefix };
    const share = () => shareSettings(client, place, { lanes, groupConcurrency });
    this.parts = { client, wakeUps, shareSettings: share, wakeSeconds, onWarning };
  }

  /**
   * @throws HoldfastError `QUEUE_UNAVAILABLE` when the server does not reply in time. The wake-up may have been stored; if
   * not, a sweep wakes the session.
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
   * @throws HoldfastError `QUEUE_UNSUITABLE` for a server that is too old, and for a queue that another layout uses.
   * RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value, and when the engine already
   * serves.
   */
  override async serve(advance: Advance, options: ServeOptions = {}): Promise<EngineWorker> {
    const { wakeUps, onWarning } = this.parts;
    const { warnings } = await this.check();
    for (const warning of [...warnings, ...(await this.parts.shareSettings())]) onWarning(warning);
    await wakeUps.open();
    return super.serve(advance, options);
  }

  /**
   * The queues of BullMQ, for tools such as bull-board: one for each lane that this process knows, and one for timers. Do not
   * change their jobs.
   */
  get queues(): readonly Queue[] {
    return this.parts.wakeUps.queues;
  }

  /** Checks the server. @throws HoldfastError `QUEUE_UNSUITABLE` for a server that is too old. */
  async check(): Promise<QueueReport> {
    return queueReport(this.parts.client);
  }

  /** Closes the connections. Stop the worker before. */
  async close(): Promise<void> {
    const { wakeUps, client } = this.parts;
    const closed = Promise.withResolvers<void>();
    const callOff = callAfter(systemClock, CLOSE_MILLISECONDS, closed.resolve); // the server may be away
    wakeUps.close().then(closed.resolve, closed.reject);
    await closed.promise.finally(callOff);
    client.disconnect();
  }
}

function warn(problem: Error | string): void {
  // oxlint-disable-next-line no-console -- a problem must not be lost when the caller passes no listener
  console.warn('The queue of the engine:', problem);
}
