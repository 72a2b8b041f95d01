import { checkArgument, mustBe, optionsCheck, type OptionsCheck } from '../../../arguments.ts';
import { systemClock, type Clock } from '../../../clock.ts';
import { invalidArgument } from '../../../errors.ts';
import { checkSessionId } from '../../store/backend/store-arguments.ts';
import type { Advance, EngineWorker, ExecutionEngine, ServeOptions, WakeOptions } from '../engine.ts';
import { ADVICE_OF_ENGINES, INSTANT, SCHEDULE } from '../advance-check.ts';
import { EngineMeter, type EngineMetrics } from '../metrics/engine-metrics.ts';
import { QueueWorker } from './queue-worker.ts';
import type { LaneBacklog, LockedSession, WakeUpQueue } from '../wake-up-queue.ts';

/** The options of `QueueEngine`. */
export interface QueueEngineOptions {
  /** The clock for the instants of wake-ups, and for the renewal of locks; default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /**
   * The steps of an advance after which the session goes back to its place in the queue. Default: an advance ends when
   * the session has no more work.
   */
  readonly stepsPerTurn?: number | undefined;
}

// Checks inside of functions are not in the bundle of a program without an engine.
const checkOptions = (options: QueueEngineOptions): QueueEngineOptions =>
  optionsCheck<QueueEngineOptions>(
    'QueueEngine',
    { clock: mustBe.clock, stepsPerTurn: mustBe.wholeNumber(1) },
    ADVICE_OF_ENGINES,
  )(options);
let wakeCheck: OptionsCheck<WakeOptions> | undefined; // created once: each message calls wake
const checkWakeOptions = (options: WakeOptions): WakeOptions => {
  const advice = 'set an instant, as in at: Date.now() + 1000';
  wakeCheck ??= optionsCheck('engine.wake', { at: INSTANT, ...SCHEDULE }, { delay: advice, after: advice });
  return wakeCheck(options);
};
const checkServeOptions = (options: ServeOptions): ServeOptions =>
  optionsCheck<ServeOptions>('engine.serve', {
    concurrency: mustBe.wholeNumber(1),
    onError: mustBe.function,
    isolated: mustBe.function,
  })(options);

/**
 * An engine whose wake-ups are in a queue. The queue stores and locks; the engine follows the results of the work, renews
 * the locks, stops its workers and advances suspect sessions alone.
 */
export class QueueEngine<Lock extends LockedSession = LockedSession> implements ExecutionEngine {
  private readonly queue: WakeUpQueue<Lock>;
  private readonly clock: Clock;
  private readonly stepsPerTurn: number | undefined;
  private readonly meter: EngineMeter;
  private worker: QueueWorker<Lock> | undefined;
  /** True from a call of `serve` until its worker stops. */
  private isServing = false;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(queue: WakeUpQueue<Lock>, options: QueueEngineOptions = {}) {
    const methods = ['add', 'take', 'wait', 'finish'];
    const all = queue.lockSeconds === undefined ? methods : [...methods, 'renew']; // locks that end must be renewed
    checkArgument('queue of QueueEngine', queue, mustBe.objectWith('a queue of wake-ups', all));
    const { clock = systemClock, stepsPerTurn } = checkOptions(options);
    this.queue = queue;
    this.clock = clock;
    this.meter = new EngineMeter(clock);
    this.stepsPerTurn = stepsPerTurn;
  }

  async wake(sessionId: string, options: WakeOptions = {}): Promise<void> {
    checkSessionId(sessionId);
    const { at = this.clock.now(), ...schedule } = checkWakeOptions(options);
    await this.queue.add([{ sessionId, at, ...schedule }]);
  }

  /**
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value, and when the engine
   * already serves.
   */
  async serve(advance: Advance, options: ServeOptions = {}): Promise<EngineWorker> {
    const expected = 'a function, such as (sessionId, options) => runtime.advance(sessionId, options)';
    checkArgument('advance', advance, { ...mustBe.function, expected });
    const { concurrency = 8, onError = warn, isolated } = checkServeOptions(options);
    if (this.isServing) throw invalidArgument('This engine already serves. Stop it first.');
    this.isServing = true;
    const onStop = await this.open();
    const { queue, clock, stepsPerTurn, meter } = this;
    const given = { advance, isolated, concurrency, onError };
    const worker = new QueueWorker({ queue, clock, stepsPerTurn, meter, ...given });
    meter.counts.concurrency = concurrency;
    worker.start(this.worker);
    this.worker = worker;
    const stop: EngineWorker['stop'] = async (stopOptions) => {
      const stopped = worker.stop(stopOptions);
      if (this.worker === worker && worker.isStopped) this.isServing = false;
      if (worker.isStopped) onStop?.();
      await stopped;
    };
    return { stop };
  }

  /** Returns what waits in each lane of the queue; `undefined` when the queue cannot say. */
  async backlog(): Promise<readonly LaneBacklog[] | undefined> {
    return this.queue.backlog?.();
  }

  /** Returns the counters of this engine since its creation, and its current numbers. */
  metrics(): EngineMetrics {
    return this.meter.read();
  }

  private async open(): Promise<(() => void) | undefined> {
    try {
      return await this.queue.open?.();
    } catch (error) {
      this.isServing = false;
      throw error;
    }
  }
}

function warn(error: unknown, sessionId: string | undefined): void {
  const what = sessionId === undefined ? 'The queue of the engine' : `The work on session "${sessionId}"`;
  // oxlint-disable-next-line no-console -- an error must not be lost when the caller passes no `onError`
  console.warn(`${what} failed:`, error);
}
