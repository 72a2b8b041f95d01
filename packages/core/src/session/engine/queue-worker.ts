import { mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock, Instant } from '../../clock.ts';
import { callAfter, pause } from '../../clock.ts';
import { announceTo } from '../../loop/events.ts';
import { RunAbort } from '../../loop/stopping/abort.ts';
import { checkResult } from './advance-check.ts';
import type { Advance, AdvanceOptions, AdvanceResult, EngineWorker, Schedule } from './engine.ts';
import type { Following, LockedSession, WakeUp, WakeUpQueue } from './wake-up-queue.ts';

/** What a worker works with. */
interface WorkerParts<Lock extends LockedSession> {
  readonly queue: WakeUpQueue<Lock>;
  readonly clock: Clock;
  readonly stepsPerTurn: number | undefined;
  readonly advance: Advance;
  readonly isolated: Advance | undefined;
  readonly concurrency: number;
  readonly onError: (error: unknown, sessionId: string | undefined) => void;
}

/** Some work on a locked session. */
interface Work {
  readonly abortController: AbortController;
  readonly ended: Promise<void>;
}

const checkStopOptions = optionsCheck<{ readonly withinSeconds?: number | undefined }>('stop', {
  withinSeconds: mustBe.seconds,
});

/** The pause after the queue has failed. */
const FAILURE_PAUSE = 1_000;
/** The clocks of the store and the engine may differ, so the engine waits before it tries a lost session again. */
const LOST_PAUSE = 1_000;
/** The pause before a suspect session is taken again, while many others wait for their turn. */
const ISOLATION_PAUSE = 1_000;
/** The pause before the next attempt at a suspect session, when an attempt failed: its process may have died. */
const SUSPECT_PAUSE = 5_000;

/** Takes sessions from a queue, advances them, and stores what follows. */
export class QueueWorker<Lock extends LockedSession> implements EngineWorker {
  private readonly parts: WorkerParts<Lock>;
  private readonly stopController = new AbortController();
  private readonly works = new Map<Lock, Work>();
  /** The number of advances in this process, without those of suspect sessions. */
  private advances = 0;
  private isIsolating = false;
  /** Begins the turns of the suspect sessions that wait for it. */
  private readonly suspects: (() => void)[] = [];
  private onPlace = (): void => undefined;
  private onIdle = (): void => undefined;
  private callOffRenewal = (): void => undefined;
  private taking: Promise<void> = Promise.resolve();

  constructor(parts: WorkerParts<Lock>) {
    this.parts = parts;
  }

  get isStopped(): boolean {
    return this.stopController.signal.aborted;
  }

  start(): void {
    this.taking = this.takeSessions();
  }

  async stop(options: Parameters<EngineWorker['stop']>[0] = {}): Promise<void> {
    const { withinSeconds } = checkStopOptions(options);
    const abort = new RunAbort('yield', 'The engine stops.');
    this.stopController.abort(abort);
    for (const { abortController } of this.works.values()) abortController.abort(abort);
    this.onPlace();
    const ended = this.taking.then(() => Promise.all([...this.works.values()].map((work) => work.ended)));
    if (withinSeconds === undefined) return void (await ended);
    const pauseController = new AbortController();
    await Promise.race([ended, pause(this.parts.clock, withinSeconds * 1_000, pauseController.signal)]);
    pauseController.abort();
  }

  private async takeSessions(): Promise<void> {
    while (!this.isStopped) {
      if (!this.hasPlace()) await new Promise<void>((resolve) => (this.onPlace = resolve));
      else
        await this.takeSession().catch(async (error: unknown) => {
          this.report(error);
          await pause(this.parts.clock, FAILURE_PAUSE, this.stopController.signal);
        });
    }
  }

  /** Takes one session and starts the work on it, or waits for one. */
  private async takeSession(): Promise<void> {
    const { queue } = this.parts;
    const lock = await queue.take();
    if (lock === undefined) return queue.wait(this.stopController.signal);
    if (!this.isStopped && this.hasPlace()) return this.begin(lock);
    const { sessionId, schedule } = lock;
    await queue.finish(lock, { wakeUps: [{ sessionId, at: this.parts.clock.now(), ...schedule }] });
  }

  /** A suspect session takes no place: it waits, has a process of its own, or must be alone in this process. */
  private hasPlace(): boolean {
    if (!this.isIsolating) return this.works.size < this.parts.concurrency;
    return (
      this.parts.isolated !== undefined && this.works.size - this.suspects.length - 1 < this.parts.concurrency
    );
  }

  private begin(lock: Lock): void {
    const abortController = new AbortController();
    const ended = this.workOn(lock, abortController.signal)
      .catch((error: unknown) => this.report(error, lock.sessionId)) // the lock ends by itself
      .finally(() => {
        this.works.delete(lock);
        this.onPlace();
      });
    this.works.set(lock, { abortController, ended });
    if (this.works.size === 1) this.renewLater();
  }

  private async workOn(lock: Lock, signal: AbortSignal): Promise<void> {
    const { queue, clock } = this.parts;
    const result = await this.resultOf(lock, signal);
    await queue.finish(lock, followingOf(lock, result, clock.now()));
  }

  private async resultOf(lock: Lock, signal: AbortSignal): Promise<AdvanceResult | undefined> {
    const { advance, stepsPerTurn: maxSteps } = this.parts;
    this.advances++;
    const route = lock.schedule.lane === undefined;
    const options = {
      signal,
      suspects: 'refuse',
      ...(route && { route }),
      ...(maxSteps && { maxSteps }),
    } as const;
    const result = await this.reported(advance, lock.sessionId, options);
    this.advances--;
    if (this.advances === 0) this.onIdle();
    return result?.outcome.type === 'isolate' ? this.isolate(lock.sessionId, signal) : result;
  }

  /** Advances a suspect session by one step, which clears it, when it is its turn among the suspect sessions. */
  private async isolate(sessionId: string, signal: AbortSignal): Promise<AdvanceResult> {
    if (this.suspects.length >= this.parts.concurrency) return this.sleep(ISOLATION_PAUSE);
    if (this.isIsolating) await new Promise<void>((resolve) => this.addSuspect(resolve));
    this.isIsolating = true;
    const result = this.isStopped ? YIELD : await this.advanceAlone(sessionId, signal);
    const nextTurn = this.suspects.shift();
    if (nextTurn) nextTurn();
    else this.isIsolating = false;
    return result;
  }

  /** A suspect session that waits for its turn leaves its place to another session. */
  private addSuspect(onTurn: () => void): void {
    this.suspects.push(onTurn);
    this.onPlace();
  }

  private async advanceAlone(sessionId: string, signal: AbortSignal): Promise<AdvanceResult> {
    const { isolated, advance } = this.parts;
    if (!isolated && this.advances > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    const options = { signal, maxSteps: 1, suspects: 'alone' } as const;
    const result = await this.reported(isolated ?? advance, sessionId, options);
    return result === undefined || result.outcome.type === 'isolate' ? this.sleep(SUSPECT_PAUSE) : result;
  }

  private sleep(milliseconds: number): AdvanceResult {
    return { outcome: { type: 'sleep', until: this.parts.clock.now() + milliseconds }, wake: [] };
  }

  /** Returns the result of an advance, or `undefined` after an error. Reports the error in both cases. */
  private async reported(
    advance: Advance,
    sessionId: string,
    options: AdvanceOptions,
  ): Promise<AdvanceResult | undefined> {
    try {
      const result = await advance(sessionId, options);
      checkResult(result);
      if (result.error !== undefined) this.report(result.error, sessionId);
      return result;
    } catch (error) {
      this.report(error, sessionId);
      return undefined;
    }
  }

  private report(error: unknown, sessionId?: string): void {
    announceTo([(thrown: unknown) => this.parts.onError(thrown, sessionId)], error);
  }

  private renewLater(): void {
    const { queue, clock } = this.parts;
    if (queue.lockSeconds === undefined || queue.renew === undefined) return;
    this.callOffRenewal();
    this.callOffRenewal = callAfter(clock, (queue.lockSeconds * 1_000) / 3, () => void this.renew());
  }

  /** Renews the locks, and aborts the work on the sessions that another worker may have. */
  private async renew(): Promise<void> {
    if (this.works.size === 0) return;
    try {
      const lost = await this.parts.queue.renew?.([...this.works.keys()]);
      for (const lock of lost ?? [])
        this.works.get(lock)?.abortController.abort(new RunAbort('yield', LOST_LOCK));
    } catch (error) {
      this.report(error); // the next renewal may succeed in time
    }
    if (this.works.size > 0) this.renewLater();
  }
}

const YIELD: AdvanceResult = Object.freeze({ outcome: { type: 'yield' }, wake: [] });
const LOST_LOCK = 'The worker has lost its lock on the session.';

/** Returns what the result of an advance requires. After an error there is none: a sweep wakes the session. */
function followingOf(lock: LockedSession, result: AdvanceResult | undefined, now: Instant): Following {
  if (result === undefined) return { wakeUps: [] };
  const { sessionId, schedule } = lock;
  const { outcome, wake, next } = result;
  const wakeUps: WakeUp[] = wake.map((other) => ({ sessionId: other, at: now }));
  const at = instantOf(result, now);
  if (at !== undefined) wakeUps.push({ sessionId, at, ...(next ? scheduleOf(next) : schedule) });
  return outcome.type === 'throttled' ? { wakeUps, pause: outcome } : { wakeUps };
}

/** Returns the instant of the session's next wake-up. */
function instantOf({ outcome }: AdvanceResult, now: Instant): Instant | undefined {
  if (outcome.type === 'yield') return now;
  if (!('until' in outcome) || outcome.until === undefined) return undefined;
  return outcome.type === 'lost' ? Math.max(outcome.until, now + LOST_PAUSE) : outcome.until;
}

/** Returns the lane, the priority and the group of the next work. */
function scheduleOf({ lane, priority, group }: Schedule): Schedule {
  return { lane, priority, group };
}
