import type { WakeUp } from '@holdfast/core/engine';
import { Queue, SpanKind, type Job } from 'bullmq';
import type { EngineScripts } from '../scripts/engine-scripts.ts';
import { ANY_NUMBER, type LaneQueueOptions } from './lane-queue.ts';
import { WakeUpWorker } from './wake-up-worker.ts';
import { wholeMilliseconds } from '../layout/whole-milliseconds.ts';

/** How many timers a worker handles at the same time. Each adds a job to a lane. */
const CONCURRENCY = 50;
/** A timer whose lane cannot be reached tries again after so many milliseconds, without end. */
const RETRY = { attempts: ANY_NUMBER, backoff: { type: 'fixed', delay: 1_000 }, stackTraceLimit: 1 };

type TimerQueueOptions = Omit<LaneQueueOptions, 'hasJob'>;

/** The wake-ups of later instants, as delayed jobs of one BullMQ queue. No worker is busy while they wait. */
export class TimerQueue {
  private readonly name: string;
  private readonly scripts: EngineScripts;
  private readonly options: TimerQueueOptions;
  readonly queue: Queue<WakeUp, void>;
  private worker: WakeUpWorker<WakeUp> | undefined;

  constructor(name: string, scripts: EngineScripts, options: TimerQueueOptions) {
    const { client: connection, prefix, telemetry, onError } = options;
    this.name = name;
    this.scripts = scripts;
    this.options = options;
    this.queue = new Queue(name, {
      connection,
      prefix,
      streams: { events: { maxLen: 1_000 } },
      skipVersionCheck: true,
      ...(telemetry && { telemetry }),
    });
    this.queue.on('error', onError);
  }

  /** Each instant of a session has a job of its own, so that no wake-up replaces another. */
  async add(sessionKey: string, wakeUp: WakeUp, now: number): Promise<void> {
    const jobId = `${sessionKey}-${wakeUp.at}`;
    await this.scripts.forgetTimer(this.queue.toKey(''), jobId);
    await this.queue.add('timer', wakeUp, {
      jobId,
      delay: Math.ceil(wakeUp.at - now),
      removeOnComplete: true,
      removeOnFail: true,
      ...RETRY,
    });
  }

  /**
   * Starts to wake the sessions whose instants have come. BullMQ checks the version of the server: without the check it
   * waits for whole seconds.
   */
  async open(onDue: (wakeUp: WakeUp) => Promise<void>): Promise<void> {
    if (this.worker) return;
    const { client: connection, prefix, lockSeconds, stalledSeconds, dropJob, onError } = this.options;
    const work = async ({ data, opts }: Job<WakeUp, void>): Promise<void> =>
      this.queue.trace(SpanKind.CONSUMER, 'process', this.name, () => onDue(data), opts.telemetry?.metadata);
    this.worker = new WakeUpWorker<WakeUp>(this.name, work, {
      dropJob,
      connection,
      prefix,
      concurrency: CONCURRENCY,
      lockDuration: wholeMilliseconds(lockSeconds),
      stalledInterval: wholeMilliseconds(stalledSeconds),
      maxStalledCount: ANY_NUMBER,
    });
    this.worker.on('error', onError);
    this.worker.on('failed', (_, error) => onError(error));
    await this.worker.waitUntilReady();
  }

  async close(): Promise<void> {
    await this.worker?.close(true); // a graceful close waits for the server for ever when it is down
    await this.queue.close();
  }
}
