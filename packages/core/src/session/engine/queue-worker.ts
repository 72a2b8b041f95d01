import { mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock, Instant } from '../../clock.ts';
import { callAfter, nextTurn, pause } from '../../clock.ts';
import { announceTo } from '../../loop/events.ts';
import { RunAbort } from '../../loop/stopping/abort.ts';
import { checkResult } from './advance-check.ts';
import type { EngineMeter } from './engine-metrics.ts';
import type { Advance, AdvanceOptions, AdvanceResult, EngineWorker, Schedule } from './engine.ts';
import type { Following, LockedSession, WakeUp, WakeUpQueue } from './wake-up-queue.ts';

/** The parts of a worker. */
interface WorkerParts<Lock extends LockedSession> {
  readonly queue: WakeUpQueue<Lock>;
  readonly clock: Clock;
  readonly stepsPerTurn: number | undefined;
  readonly limitsGroups: boolean;
  readonly meter: EngineMeter;
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

interface StopOptions {
  readonly withinSeconds?: number | undefined;
}

const checkStopOptions = (options: StopOptions): StopOptions =>
  optionsCheck<StopOptions>('stop', { withinSeconds: mustBe.seconds })(options);

/** After so many turns, the worker lets timers and sockets run: a queue and a store in memory reply before them. */
const TURNS_OF_MICROTASKS = 64;
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
  /** The locks that have ended during the work. A renewal would take their sessions from other workers. */
  private readonly lost = new WeakSet<Lock>();
  private isIsolating = false;
  /** The suspect sessions that wait for their turn, in order. Each function begins a turn. */
  private readonly suspects = new Set<() => void>();
  private onPlace = (): void => undefined;
  private onIdle = (): void => undefined;
  private callOffRenewal = (): void => undefined;
  private taking = Promise.resolve();

  constructor(parts: WorkerParts<Lock>) {
    this.parts = parts;
  }

  get isStopped(): boolean {
    return this.stopController.signal.aborted;
  }

  /** Takes sessions once the last worker of the queue takes no more. */
  start(last?: QueueWorker<Lock>): void {
    this.taking = last ? last.taking.then(() => this.takeSessions()) : this.takeSessions();
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
    for (let turn = 1; !this.isStopped; turn++) {
      if (turn % TURNS_OF_MICROTASKS === 0) await nextTurn();
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
    if (lock === undefined) return this.isStopped ? undefined : queue.wait(this.stopController.signal);
    if (!this.isStopped && this.hasPlace()) return this.begin(lock);
    await queue.finish(lock, followingOf(lock, YIELD, lock.dueAt ?? this.parts.clock.now()));
  }

  /** A suspect session takes no place: it waits, has a process of its own, or must be alone in this process. */
  private hasPlace(): boolean {
    if (!this.isIsolating) return this.works.size < this.parts.concurrency;
    const { isolated, concurrency } = this.parts;
    return isolated !== undefined && this.works.size - this.suspects.size - 1 < concurrency;
  }

  private begin(lock: Lock): void {
    this.parts.meter.begin(lock);
    const abortController = new AbortController();
    const ended = this.workOn(lock, abortController.signal)
      .catch((error: unknown) => this.report(error)) // the lock ends by itself
      .finally(() => this.end(lock));
    this.works.set(lock, { abortController, ended });
    if (this.isStopped) abortController.abort(this.stopController.signal.reason); // by the advance itself
    if (this.works.size === 1) this.renewLater();
  }

  private end(lock: Lock): void {
    this.works.delete(lock);
    this.parts.meter.end();
    if (this.works.size === 0) this.callOffRenewal(); // a timer would keep the process alive
    this.onPlace();
  }

  private async workOn(lock: Lock, signal: AbortSignal): Promise<void> {
    const { queue, clock, meter } = this.parts;
    const result = await this.resultOf(lock, signal);
    const following = followingOf(lock, result, clock.now());
    meter.follow(following);
    await queue.finish(lock, following);
  }

  private async resultOf(lock: Lock, signal: AbortSignal): Promise<AdvanceResult | undefined> {
    const { advance, stepsPerTurn: maxSteps } = this.parts;
    this.advances++;
    const route = this.routeOf(lock);
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

  /** The lane of a session may be unknown, or its group. */
  private routeOf({ schedule: { lane, group }, isRouted }: Lock): AdvanceOptions['route'] {
    const { limitsGroups } = this.parts;
    const isUnknown = lane === undefined || (limitsGroups && group === undefined);
    return isUnknown && !isRouted && (limitsGroups ? 'groups' : true);
  }

  /** Advances a suspect session by one step, which clears it, when it is its turn among the suspect sessions. */
  private async isolate(sessionId: string, signal: AbortSignal): Promise<AdvanceResult> {
    if (this.suspects.size >= this.parts.concurrency) return this.sleep(ISOLATION_PAUSE);
    if (this.isIsolating && !(await this.waitForTurn(signal))) return YIELD;
    this.isIsolating = true;
    this.onPlace();
    const result = await this.advanceAlone(sessionId, signal);
    const [beginNext] = this.suspects;
    if (beginNext) beginNext();
    else this.isIsolating = false;
    return result;
  }

  /** Resolves to true when it is the turn of a suspect session, or to false as soon as the signal aborts. */
  private async waitForTurn(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const { suspects } = this;
    return new Promise((resolve) => {
      const leave = (isTurn: boolean): void => {
        suspects.delete(begin);
        signal.removeEventListener('abort', giveUp);
        resolve(isTurn);
      };
      const begin = (): void => leave(true);
      const giveUp = (): void => leave(false);
      signal.addEventListener('abort', giveUp);
      suspects.add(begin);
      this.onPlace();
    });
  }

  private async advanceAlone(sessionId: string, signal: AbortSignal): Promise<AdvanceResult> {
    const { isolated, advance } = this.parts;
    if (!isolated && this.advances > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    if (signal.aborted) return YIELD;
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
    const { meter, clock } = this.parts;
    const startedAt = clock.now();
    try {
      const result = await advance(sessionId, options);
      checkResult(result);
      meter.addAdvance(startedAt, result);
      if (result.error !== undefined) this.report(result.error, sessionId);
      return result;
    } catch (error) {
      meter.addAdvance(startedAt, undefined);
      this.report(error, sessionId);
      return undefined;
    }
  }

  private report(error: unknown, sessionId?: string): void {
    if (sessionId === undefined) this.parts.meter.queueErrors++;
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
    this.renewLater(); // also when this renewal fails or takes long
    try {
      const held = [...this.works.keys()].filter((lock) => !this.lost.has(lock));
      for (const lock of (await this.parts.queue.renew?.(held)) ?? []) this.lose(lock);
    } catch (error) {
      this.report(error);
    }
  }

  private lose(lock: Lock): void {
    const work = this.works.get(lock);
    if (work === undefined) return; // the work has ended meanwhile
    this.lost.add(lock);
    this.parts.meter.lostLocks++;
    work.abortController.abort(new RunAbort('yield', LOST_LOCK));
  }
}

const YIELD: AdvanceResult = { outcome: { type: 'yield' }, wake: [] };
const LOST_LOCK = 'The worker has lost its lock on the session.';

/** Returns what the result of an advance requires. After an error, a sweep wakes the session. */
function followingOf(lock: LockedSession, result: AdvanceResult | undefined, now: Instant): Following {
  if (result === undefined) return { wakeUps: [] };
  const { sessionId, schedule } = lock;
  const { outcome, wake, next } = result;
  const own = { sessionId, ...(next ? scheduleOf(next) : schedule) };
  const at = instantOf(result, now);
  const wakeUps: WakeUp[] = at === undefined ? [] : [{ ...own, at }];
  for (const other of wake) wakeUps.push({ ...(other === sessionId ? own : { sessionId: other }), at: now });
  return outcome.type === 'throttled' ? { wakeUps, pause: outcome } : { wakeUps };
}

/** Returns the instant of the session's next wake-up. */
function instantOf({ outcome }: AdvanceResult, now: Instant): Instant | undefined {
  if (outcome.type === 'yield') return now;
  if (!('until' in outcome) || outcome.until === undefined) return undefined;
  return outcome.type === 'lost' ? Math.max(outcome.until, now + LOST_PAUSE) : outcome.until;
}

/** Returns the lane, the priority and the group of the next work. */
function scheduleOf({ lane, priority, group }: Schedule): Omit<WakeUp, 'sessionId' | 'at'> {
  return { lane, priority, group, isRouted: true };
}
