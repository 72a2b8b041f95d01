import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { checkSessionId } from '../store/store-arguments.ts';
import type { Clock, Instant } from '../../clock.ts';
import { callAfter, pause, systemClock } from '../../clock.ts';
import { invalidArgument } from '../../errors.ts';
import { RunAbort } from '../../loop/stopping/abort.ts';
import { announceTo } from '../../loop/events.ts';
import type { Advance, AdvanceResult, ExecutionEngine, EngineWorker } from './engine.ts';

/** What an engine in this process may be told. */
export interface InProcessEngineOptions {
  /** What later wake-ups go by; default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Is told what an advance threw. The session stays due: a sweep finds it. Default: a warning on the console. */
  readonly onError?: ((error: unknown, sessionId: string) => void) | undefined;
}

const checkOptions = optionsCheck<InProcessEngineOptions>(
  'InProcessEngine',
  { clock: mustBe.clock, onError: mustBe.function },
  { concurrency: 'give it to serve, as in engine.serve(advance, { concurrency: 8 })' },
);
const checkWakeOptions = optionsCheck<{ readonly at?: Instant | undefined }>(
  'engine.wake',
  { at: { ...mustBe.instant, accepts: Number.isFinite } },
  {
    delay: 'give a moment, as in at: Date.now() + 1000',
    after: 'give a moment, as in at: Date.now() + 1000',
  },
);
const ADVANCE = {
  ...mustBe.function,
  expected: 'a function, such as (sessionId, options) => runtime.advance(sessionId, options)',
};
const checkServeOptions = optionsCheck<{ readonly concurrency?: number | undefined }>('engine.serve', {
  concurrency: mustBe.wholeNumber(1),
});
const checkStopOptions = optionsCheck<{ readonly withinSeconds?: number | undefined }>('stop', {
  withinSeconds: mustBe.seconds,
});

/** What is known of a session that is to be looked at. */
interface Wakeup {
  /** It is being worked on. */
  isRunning: boolean;
  /** Somebody woke it meanwhile: look again. */
  isWanted: boolean;
}

/** A session that is to be looked at later. */
interface ScheduledWakeup {
  readonly sessionId: string;
  readonly at: Instant;
  /** There is a timer only while somebody serves: nothing else keeps a process alive. */
  callOff?: () => void;
}

interface Serving {
  readonly advance: Advance;
  readonly concurrency: number;
  readonly stopController: AbortController;
  readonly activeWork: Set<Promise<void>>;
}

/**
 * Works on sessions in this process, several at once. The reference of the contract: wake-ups are kept in memory, so
 * sweep after a start. A wake-up during work on a session is never lost: the session is looked at again.
 */
export class InProcessEngine implements ExecutionEngine {
  private readonly clock: Clock;
  private readonly onError: (error: unknown, sessionId: string) => void;
  private readonly wakeups = new Map<string, Wakeup>();
  /** By moment and session. */
  private readonly scheduled = new Map<string, ScheduledWakeup>();
  private readonly queue: string[] = [];
  private serving: Serving | undefined;

  constructor(options: InProcessEngineOptions = {}) {
    this.clock = checkOptions(options).clock ?? systemClock;
    this.onError = options.onError ?? warn;
  }

  async wake(sessionId: string, options: { readonly at?: Instant | undefined } = {}): Promise<void> {
    checkSessionId(sessionId);
    const { at } = checkWakeOptions(options);
    if (at !== undefined && at > this.clock.now()) return this.scheduleWake(sessionId, at);
    const known = this.wakeups.get(sessionId);
    if (known) {
      known.isWanted = known.isRunning;
      return;
    }
    this.wakeups.set(sessionId, { isRunning: false, isWanted: false });
    this.queue.push(sessionId);
    this.startMore();
  }

  /**
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit, and while the
   * engine serves already.
   */
  async serve(
    advance: Advance,
    options: { readonly concurrency?: number | undefined } = {},
  ): Promise<EngineWorker> {
    checkArgument('advance', advance, ADVANCE);
    const { concurrency = 8 } = checkServeOptions(options);
    if (this.serving) throw invalidArgument('This engine serves already: stop it first.');
    const serving = {
      advance,
      concurrency,
      stopController: new AbortController(),
      activeWork: new Set<never>(),
    };
    this.serving = serving;
    for (const wakeup of this.scheduled.values()) this.arm(wakeup);
    this.startMore();
    return { stop: async (options = {}) => this.stop(serving, checkStopOptions(options).withinSeconds) };
  }

  private async stop(serving: Serving, withinSeconds?: number): Promise<void> {
    if (this.serving === serving) {
      this.serving = undefined;
      for (const { callOff } of this.scheduled.values()) callOff?.();
    }
    serving.stopController.abort(new RunAbort('yield', 'The engine stops.'));
    const done = Promise.all(serving.activeWork);
    if (withinSeconds === undefined) return void (await done);
    const pauseController = new AbortController();
    await Promise.race([done, pause(this.clock, withinSeconds * 1000, pauseController.signal)]);
    pauseController.abort();
  }

  private scheduleWake(sessionId: string, at: Instant): void {
    const key = `${at} ${sessionId}`;
    if (this.scheduled.has(key)) return;
    const wakeup = { sessionId, at };
    this.scheduled.set(key, wakeup);
    if (this.serving) this.arm(wakeup);
  }

  private arm(wakeup: ScheduledWakeup): void {
    const { sessionId, at } = wakeup;
    wakeup.callOff = callAfter(this.clock, at - this.clock.now(), () => {
      this.scheduled.delete(`${at} ${sessionId}`);
      void this.wake(sessionId);
    });
  }

  private startMore(): void {
    const { serving } = this;
    if (serving === undefined) return;
    while (serving.activeWork.size < serving.concurrency && this.queue.length > 0) {
      const sessionId = this.queue.shift() as string;
      const work = this.work(sessionId, serving).finally(() => {
        serving.activeWork.delete(work);
        this.startMore();
      });
      serving.activeWork.add(work);
    }
  }

  private async work(sessionId: string, { advance, stopController }: Serving): Promise<void> {
    const wakeup: Wakeup = { isRunning: true, isWanted: false };
    this.wakeups.set(sessionId, wakeup);
    let advanced: AdvanceResult | undefined;
    try {
      advanced = await advance(sessionId, { signal: stopController.signal });
    } catch (error) {
      announceTo([(thrown: unknown) => this.onError(thrown, sessionId)], error);
    }
    this.wakeups.delete(sessionId);
    if (wakeup.isWanted) await this.wake(sessionId);
    if (advanced) await this.followUp(sessionId, advanced);
  }

  private async followUp(sessionId: string, { outcome, wake }: AdvanceResult): Promise<void> {
    for (const other of wake) await this.wake(other);
    if (outcome.type === 'yield') await this.wake(sessionId);
    else if (outcome.type === 'sleep') await this.wake(sessionId, { at: outcome.until });
  }
}

function warn(error: unknown, sessionId: string): void {
  // oxlint-disable-next-line no-console -- what nobody wants to be told of must not be lost
  console.warn(`Session "${sessionId}" could not be worked on:`, error);
}
