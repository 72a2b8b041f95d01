import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import { invalidArgument } from '../../errors.ts';
import { checkSessionId } from '../store/store-arguments.ts';
import type { Advance, EngineWorker, ExecutionEngine, ServeOptions, WakeOptions } from './engine.ts';
import { ADVICE_OF_ENGINES, INSTANT, SCHEDULE } from './advance-check.ts';
import { EngineMeter } from './engine-metrics.ts';
import type { EngineMetrics } from './engine-metrics.ts';
import { QueueWorker } from './queue-worker.ts';
import type { LockedSession, WakeUpQueue } from './wake-up-queue.ts';

/** The options of `QueueEngine`. */
export interface QueueEngineOptions {
  /** The clock for the instants of wake-ups, and for the renewal of locks; default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /**
   * The steps of an advance after which the session goes back to its place in the queue. Default: an advance ends when
   * the session has no more work.
   */
  readonly stepsPerTurn?: number | undefined;
  /** The queue limits how many sessions of a group are worked on, so it must know the group of each. Default: false. */
  readonly limitsGroups?: boolean | undefined;
}

// Checks inside of functions are not in the bundle of a program without an engine.
const checkOptions = (options: QueueEngineOptions): QueueEngineOptions =>
  optionsCheck<QueueEngineOptions>(
    'QueueEngine',
    { clock: mustBe.clock, stepsPerTurn: mustBe.wholeNumber(1), limitsGroups: mustBe.boolean },
    ADVICE_OF_ENGINES,
  )(options);
const checkWakeOptions = optionsCheck<WakeOptions>(
  'engine.wake',
  { at: INSTANT, ...SCHEDULE },
  {
    delay: 'set an instant, as in at: Date.now() + 1000',
    after: 'set an instant, as in at: Date.now() + 1000',
  },
);
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
  private readonly limitsGroups: boolean;
  private readonly meter: EngineMeter;
  private worker: QueueWorker<Lock> | undefined;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(queue: WakeUpQueue<Lock>, options: QueueEngineOptions = {}) {
    const expected = mustBe.objectWith('a queue of wake-ups', ['add', 'take', 'wait', 'finish']);
    checkArgument('queue of QueueEngine', queue, expected);
    const { clock = systemClock, stepsPerTurn, limitsGroups = false } = checkOptions(options);
    this.queue = queue;
    this.clock = clock;
    this.meter = new EngineMeter(clock);
    this.stepsPerTurn = stepsPerTurn;
    this.limitsGroups = limitsGroups;
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
    if (this.worker && !this.worker.isStopped)
      throw invalidArgument('This engine already serves. Stop it first.');
    const { queue, clock, stepsPerTurn, limitsGroups, meter } = this;
    const given = { advance, isolated, concurrency, onError };
    const worker = new QueueWorker({ queue, clock, stepsPerTurn, limitsGroups, meter, ...given });
    meter.concurrency = concurrency;
    worker.start(this.worker);
    this.worker = worker;
    return { stop: async (stopOptions) => worker.stop(stopOptions) };
  }

  /** Returns the counters of this engine since its creation, and its current numbers. */
  metrics(): EngineMetrics {
    return this.meter.read();
  }
}

function warn(error: unknown, sessionId: string | undefined): void {
  const what = sessionId === undefined ? 'The queue of the engine' : `The work on session "${sessionId}"`;
  // oxlint-disable-next-line no-console -- an error must not be lost when the caller passes no `onError`
  console.warn(`${what} failed:`, error);
}
