import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { checkSessionId } from '../store/store-arguments.ts';
import type { Clock, Instant } from '../../clock.ts';
import { callAfter, pause, systemClock } from '../../clock.ts';
import { invalidArgument } from '../../errors.ts';
import { RunAbort } from '../../loop/stopping/abort.ts';
import { announceTo } from '../../loop/events.ts';
import type {
  Advance,
  AdvanceResult,
  EngineWorker,
  ExecutionEngine,
  Schedule,
  ServeOptions,
  WakeOptions,
} from './engine.ts';
import type { LaneLimits } from './wake-queue.ts';
import { WakeQueue } from './wake-queue.ts';

/** The options of `InProcessEngine`. */
export interface InProcessEngineOptions {
  /** The clock for later wake-ups; default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Limits of lanes, by the name of the lane, as in `{ openai: { concurrency: 4 } }`. */
  readonly lanes?: Readonly<Record<string, LaneLimits>> | undefined;
}

const checkOptions = optionsCheck<InProcessEngineOptions>(
  'InProcessEngine',
  { clock: mustBe.clock, lanes: mustBe.object },
  {
    concurrency: 'pass it to serve, as in engine.serve(advance, { concurrency: 8 })',
    onError: 'pass it to serve, as in engine.serve(advance, { onError })',
  },
);
const checkWakeOptions = optionsCheck<WakeOptions>(
  'engine.wake',
  {
    at: { ...mustBe.instant, accepts: Number.isFinite },
    lane: mustBe.string,
    priority: { expected: 'a number', accepts: Number.isFinite, type: 'number' },
  },
  {
    delay: 'set an instant, as in at: Date.now() + 1000',
    after: 'set an instant, as in at: Date.now() + 1000',
  },
);
const ADVANCE = {
  ...mustBe.function,
  expected: 'a function, such as (sessionId, options) => runtime.advance(sessionId, options)',
};
const checkLane = optionsCheck<LaneLimits>('a lane', { concurrency: mustBe.wholeNumber(1) });
const checkServeOptions = optionsCheck<ServeOptions>('engine.serve', {
  concurrency: mustBe.wholeNumber(1),
  onError: mustBe.function,
  isolated: mustBe.function,
});
const checkStopOptions = optionsCheck<{ readonly withinSeconds?: number | undefined }>('stop', {
  withinSeconds: mustBe.seconds,
});

/** The wake-up of a session that waits for work or has a worker. */
interface Wakeup {
  /** True while the engine works on the session. */
  isRunning: boolean;
  /** True after a further wake-up during the work: the engine wakes the session again. */
  isWanted: boolean;
}

/** A wake-up at a later instant. */
interface ScheduledWakeup {
  readonly sessionId: string;
  readonly at: Instant;
  readonly schedule: Schedule;
  /** Cancels the timer. A timer runs only while the engine serves, so that an idle engine lets the process exit. */
  callOff?: () => void;
}

/** The clocks of the store and the engine may differ, so the engine waits before it tries a lost session again. */
const LOST_PAUSE = 1_000;
/** The pause before the next attempt at a suspect session, when an attempt threw: its process may have died. */
const SUSPECT_PAUSE = 5_000;

interface Serving {
  readonly advance: Advance;
  readonly concurrency: number;
  readonly onError: (error: unknown, sessionId: string) => void;
  readonly isolated: Advance | undefined;
  readonly stopController: AbortController;
  readonly activeWork: Set<Promise<void>>;
  /** The work on a suspect session. */
  suspectWork: Promise<void> | undefined;
}

/**
 * Works on sessions in this process, several at once. It is the reference for the contract of engines. It holds wake-ups
 * in memory, so call `sweep` after a start. After a wake-up during the work on a session, the engine wakes it again.
 */
export class InProcessEngine implements ExecutionEngine {
  private readonly clock: Clock;
  private readonly wakeups = new Map<string, Wakeup>();
  /** By instant and session. */
  private readonly scheduled = new Map<string, ScheduledWakeup>();
  private readonly queue: WakeQueue;
  /** The sessions whose last worker died, in the order in which the engine found them. */
  private readonly suspects: string[] = [];
  /** The timers of paused lanes, by the end of the pause. */
  private readonly pauses = new Map<Instant, () => void>();
  private serving: Serving | undefined;

  constructor(options: InProcessEngineOptions = {}) {
    const { clock = systemClock, lanes = {} } = checkOptions(options);
    for (const [name, limits] of Object.entries(lanes)) checkLane(limits, `lane "${name}"`);
    this.clock = clock;
    this.queue = new WakeQueue(lanes);
  }

  async wake(sessionId: string, options: WakeOptions = {}): Promise<void> {
    checkSessionId(sessionId);
    const { at, ...schedule } = checkWakeOptions(options);
    if (at !== undefined && at > this.clock.now()) return this.scheduleWake(sessionId, at, schedule);
    const known = this.wakeups.get(sessionId);
    if (known) {
      known.isWanted = known.isRunning;
      return;
    }
    this.wakeups.set(sessionId, { isRunning: false, isWanted: false });
    this.queue.add(sessionId, schedule);
    this.startMore();
  }

  /**
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value, and when the engine
   * already serves.
   */
  async serve(advance: Advance, options: ServeOptions = {}): Promise<EngineWorker> {
    checkArgument('advance', advance, ADVANCE);
    const { concurrency = 8, onError = warn, isolated } = checkServeOptions(options);
    if (this.serving) throw invalidArgument('This engine already serves. Stop it first.');
    const serving: Serving = {
      advance,
      concurrency,
      onError,
      isolated,
      stopController: new AbortController(),
      activeWork: new Set(),
      suspectWork: undefined,
    };
    this.serving = serving;
    for (const wakeup of this.scheduled.values()) this.arm(wakeup);
    for (const until of this.pauses.keys()) this.armPause(until);
    this.startMore();
    return { stop: async (options = {}) => this.stop(serving, checkStopOptions(options).withinSeconds) };
  }

  private async stop(serving: Serving, withinSeconds?: number): Promise<void> {
    if (this.serving === serving) {
      this.serving = undefined;
      for (const { callOff } of this.scheduled.values()) callOff?.();
      for (const callOff of this.pauses.values()) callOff();
    }
    serving.stopController.abort(new RunAbort('yield', 'The engine stops.'));
    const done = Promise.all([...serving.activeWork, serving.suspectWork]);
    if (withinSeconds === undefined) return void (await done);
    const pauseController = new AbortController();
    await Promise.race([done, pause(this.clock, withinSeconds * 1000, pauseController.signal)]);
    pauseController.abort();
  }

  private scheduleWake(sessionId: string, at: Instant, schedule: Schedule): void {
    const key = `${at} ${sessionId}`;
    if (this.scheduled.has(key)) return;
    const wakeup = { sessionId, at, schedule };
    this.scheduled.set(key, wakeup);
    if (this.serving) this.arm(wakeup);
  }

  private arm(wakeup: ScheduledWakeup): void {
    const { sessionId, at, schedule } = wakeup;
    wakeup.callOff = callAfter(this.clock, at - this.clock.now(), () => {
      this.scheduled.delete(`${at} ${sessionId}`);
      void this.wake(sessionId, schedule);
    });
  }

  private startMore(): void {
    const { serving } = this;
    if (serving === undefined) return;
    this.startSuspect(serving);
    while (serving.activeWork.size < serving.concurrency && !this.mustStayAlone(serving)) {
      const next = this.queue.take(this.clock.now());
      if (next === undefined) return;
      // In a later turn: an advance that wakes a session at once must find its own work among the active.
      const work = Promise.resolve()
        .then(() => this.work(next.sessionId, serving, false))
        .finally(() => {
          serving.activeWork.delete(work);
          this.queue.done(next.lane);
          this.startMore();
        });
      serving.activeWork.add(work);
    }
  }

  /** Starts the work on a suspect session: in its own process, or once this process works on no other session. */
  private startSuspect(serving: Serving): void {
    const { isolated, activeWork, suspectWork } = serving;
    if (suspectWork || (isolated === undefined && activeWork.size > 0)) return;
    const sessionId = this.suspects.shift();
    if (sessionId === undefined) return;
    // In a later turn, as the other work: an advance that wakes a session at once must find this work started.
    serving.suspectWork = Promise.resolve()
      .then(() => this.work(sessionId, serving, true))
      .finally(() => {
        serving.suspectWork = undefined;
        this.startMore();
      });
  }

  /** True while this process must work on no other session than a suspect one. */
  private mustStayAlone({ isolated, suspectWork }: Serving): boolean {
    return isolated === undefined && (suspectWork !== undefined || this.suspects.length > 0);
  }

  private async work(sessionId: string, serving: Serving, isSuspect: boolean): Promise<void> {
    const wakeup: Wakeup = { isRunning: true, isWanted: false };
    this.wakeups.set(sessionId, wakeup);
    const report = (error: unknown): void =>
      announceTo([(thrown: unknown) => serving.onError(thrown, sessionId)], error);
    const advanced = await this.advance(sessionId, serving, isSuspect, report);
    this.wakeups.delete(sessionId);
    try {
      await this.wakeAgain(sessionId, advanced, isSuspect, wakeup.isWanted);
    } catch (error) {
      report(error); // a result that is no AdvanceResult, such as one with an instant that is not a number
    }
  }

  /** Works on a session. A suspect session takes one step, which clears it. Returns `undefined` after an error. */
  private async advance(
    sessionId: string,
    { advance, isolated = advance, stopController: { signal } }: Serving,
    isSuspect: boolean,
    report: (error: unknown) => void,
  ): Promise<AdvanceResult | undefined> {
    try {
      const advanced = isSuspect
        ? await isolated(sessionId, { signal, maxSteps: 1, suspects: 'alone' })
        : await advance(sessionId, { signal, suspects: 'refuse' });
      if (advanced.error !== undefined) report(advanced.error);
      return advanced;
    } catch (error) {
      report(error);
      return undefined;
    }
  }

  /** Wakes the session and others as the result of the work demands. */
  private async wakeAgain(
    sessionId: string,
    advanced: AdvanceResult | undefined,
    isSuspect: boolean,
    isWanted: boolean,
  ): Promise<void> {
    if (advanced?.outcome.type === 'isolate' && !isSuspect) return this.addSuspect(sessionId);
    if (isSuspect && (advanced === undefined || advanced.outcome.type === 'isolate'))
      await this.wake(sessionId, { at: this.clock.now() + SUSPECT_PAUSE });
    if (isWanted) await this.wake(sessionId, scheduleOf(advanced));
    if (advanced) await this.followUp(sessionId, advanced);
  }

  private addSuspect(sessionId: string): void {
    this.wakeups.set(sessionId, { isRunning: false, isWanted: false });
    this.suspects.push(sessionId);
    this.startMore();
  }

  private async followUp(sessionId: string, advanced: AdvanceResult): Promise<void> {
    const { outcome, wake } = advanced;
    for (const other of wake) await this.wake(other);
    if (outcome.type === 'yield') return this.wake(sessionId, scheduleOf(advanced));
    if (outcome.type === 'throttled') this.pauseLane(outcome.lane, outcome.until);
    const until = 'until' in outcome ? outcome.until : undefined;
    if (until === undefined) return;
    const at = outcome.type === 'lost' ? Math.max(until, this.clock.now() + LOST_PAUSE) : until;
    await this.wake(sessionId, { at, ...scheduleOf(advanced) });
  }

  private pauseLane(lane: string, until: Instant): void {
    this.queue.pause(lane, until);
    this.armPause(until);
  }

  /** Starts work again when the pause of a lane ends. The timer runs only while the engine serves. */
  private armPause(until: Instant): void {
    const { clock, pauses, serving } = this;
    pauses.get(until)?.();
    const callOff = callAfter(clock, until - clock.now(), () => {
      pauses.delete(until);
      this.startMore();
    });
    pauses.set(until, callOff);
    if (serving === undefined) callOff();
  }
}

/** Returns the lane and the priority of the next work. */
function scheduleOf(advanced: AdvanceResult | undefined): Schedule {
  const { lane, priority } = advanced?.next ?? {};
  return { lane, priority };
}

function warn(error: unknown, sessionId: string): void {
  // oxlint-disable-next-line no-console -- an error must not be lost when the caller passes no `onError`
  console.warn(`The work on session "${sessionId}" failed:`, error);
}
