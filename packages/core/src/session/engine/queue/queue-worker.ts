import { mustBe, optionsCheck } from '../../../arguments.ts';
import { nextTurn, pause, type Clock, type Instant } from '../../../clock.ts';
import { announceTo } from '../../../loop/steps/events.ts';
import { RunAbort } from '../../../loop/stopping/abort.ts';
import { checkResult } from '../advance-check.ts';
import type { Advance, AdvanceOptions, AdvanceResult, EngineWorker, Schedule } from '../engine.ts';
import type { EngineMeter } from '../metrics/engine-metrics.ts';
import { LockRenewal } from './lock-renewal.ts';
import { SuspectTurns } from './suspect-turns.ts';
import type { LockedSession, WakeUpQueue, FollowUp, WakeUp } from '../wake-up-queue.ts';

interface WorkerParts<Lock extends LockedSession> {
  readonly queue: WakeUpQueue<Lock>;
  readonly clock: Clock;
  readonly stepsPerTurn: number | undefined;
  readonly meter: EngineMeter;
  readonly advance: Advance;
  readonly isolated: Advance | undefined;
  readonly concurrency: number;
  readonly onError: (error: unknown, sessionId: string | undefined) => void;
}

interface Work {
  readonly abortController: AbortController;
  readonly ended: Promise<void>;
}

type StopOptions = NonNullable<Parameters<EngineWorker['stop']>[0]>;

const checkStopOptions = (options: StopOptions): StopOptions =>
  optionsCheck<StopOptions>('stop', { withinSeconds: mustBe.number(0, Number.MAX_VALUE) })(options);

/** After so many turns, the worker lets timers and sockets run: a queue and a store in memory reply before them. */
const TURNS_OF_MICROTASKS = 64;
/** The longest time in milliseconds that a stop waits for a reply of the queue. */
const TAKING_LIMIT_MS = 5_000;
/** The pause after the queue has failed. */
const FAILURE_PAUSE_MS = 1_000;
/** The pause before a suspect session is taken again, while many others wait for their turn. */
const ISOLATION_PAUSE_MS = 1_000;
/** The pause before the next attempt at a suspect session, when an attempt failed: its process may have died. */
const SUSPECT_PAUSE_MS = 5_000;

/** Takes sessions from a queue, advances them, and stores what follows. */
export class QueueWorker<Lock extends LockedSession> implements EngineWorker {
  private readonly parts: WorkerParts<Lock>;
  private readonly stopController = new AbortController();
  private readonly works = new Map<Lock, Work>();
  /** The number of advances in this process, without those of suspect sessions. */
  private advances = 0;
  private readonly suspects = new SuspectTurns();
  private readonly renewal: LockRenewal<Lock>;
  private onSlot = (): void => undefined;
  private onIdle = (): void => undefined;
  private endWait = (): void => undefined;
  private taking = Promise.resolve();

  constructor(parts: WorkerParts<Lock>) {
    this.parts = parts;
    const { queue, clock } = parts;
    this.renewal = new LockRenewal({
      queue,
      clock,
      held: () => this.works.keys(),
      onLost: (lock) => this.lose(lock),
      onError: (error) => this.report(error),
    });
  }

  get isStopped(): boolean {
    return this.stopController.signal.aborted;
  }

  /** Takes sessions once the last worker of the queue takes no more. */
  start(last?: QueueWorker<Lock>): void {
    this.taking = last ? last.taking.then(() => this.takeSessions()) : this.takeSessions();
  }

  async stop(options: StopOptions = {}): Promise<void> {
    const { withinSeconds } = checkStopOptions(options);
    const abort = new RunAbort('yield', 'The engine stops.');
    this.stopController.abort(abort);
    for (const { abortController } of this.works.values()) abortController.abort(abort);
    this.onSlot();
    // A queue that does not reply must not hold up a stop.
    const ended = this.atMost(TAKING_LIMIT_MS, this.taking).then(() =>
      Promise.all([...this.works.values()].map((work) => work.ended)),
    );
    if (withinSeconds === undefined) return void (await ended);
    await this.atMost(withinSeconds * 1_000, ended);
  }

  private async atMost(milliseconds: number, ended: Promise<unknown>): Promise<void> {
    const pauseController = new AbortController();
    await Promise.race([ended, pause(this.parts.clock, milliseconds, pauseController.signal)]);
    pauseController.abort();
  }

  private async takeSessions(): Promise<void> {
    for (let turn = 1; !this.isStopped; turn++) {
      if (turn % TURNS_OF_MICROTASKS === 0) await nextTurn();
      if (!this.hasSlot()) await new Promise<void>((resolve) => (this.onSlot = resolve));
      else
        await this.takeSession().catch(async (error: unknown) => {
          this.report(error);
          await pause(this.parts.clock, FAILURE_PAUSE_MS, this.stopController.signal);
        });
    }
  }

  /** Takes one session and starts the work on it, or waits for one. */
  private async takeSession(): Promise<void> {
    const { queue } = this.parts;
    const lock = await queue.take();
    if (lock === undefined) return this.isStopped ? undefined : this.waitForSession();
    if (!this.isStopped && this.hasSlot()) return this.begin(lock);
    await queue.finish(lock, followUpOf(lock, YIELD, lock.dueAt ?? this.parts.clock.now()));
  }

  /** Waits until the queue may have a session, or until the worker can start none. */
  private async waitForSession(): Promise<void> {
    const { signal } = this.stopController;
    const ended = new AbortController();
    this.endWait = (): void => ended.abort();
    signal.addEventListener('abort', this.endWait);
    await this.parts.queue
      .wait(ended.signal)
      .finally(() => signal.removeEventListener('abort', this.endWait));
  }

  /** A suspect session takes no slot: it waits, has a process of its own, or must be alone in this process. */
  private hasSlot(): boolean {
    const { isolated, concurrency } = this.parts;
    const { suspects, works } = this;
    if (!suspects.isBusy) return works.size < concurrency;
    const inSlots = works.size - suspects.waitingCount - 1; // all but the suspect sessions
    return isolated !== undefined && inSlots < concurrency;
  }

  private begin(lock: Lock): void {
    this.parts.meter.begin(lock);
    const abortController = new AbortController();
    const ended = this.workOn(lock, abortController.signal)
      .catch((error: unknown) => this.report(error)) // the lock ends by itself
      .finally(() => this.end(lock));
    this.works.set(lock, { abortController, ended });
    if (this.isStopped) abortController.abort(this.stopController.signal.reason); // by the advance itself
    if (this.works.size === 1) this.renewal.start();
  }

  private end(lock: Lock): void {
    this.works.delete(lock);
    this.parts.meter.end();
    if (this.works.size === 0) this.renewal.stop();
    this.onSlot();
  }

  private async workOn(lock: Lock, signal: AbortSignal): Promise<void> {
    const { queue, clock, meter } = this.parts;
    let result = await this.resultOf(lock, signal);
    while (this.continues(lock, result, signal)) result = await this.resultOf(lock, signal);
    const followUp = followUpOf(lock, result, clock.now());
    meter.follow(followUp);
    await queue.finish(lock, followUp);
  }

  /**
   * True when a session that has more work keeps its place: the worker has free places for those that wait. So the session
   * stays with the worker that has its content.
   */
  private continues(lock: Lock, result: AdvanceResult | undefined, { aborted }: AbortSignal): boolean {
    const { queue } = this.parts;
    if (!this.hasSlot() || aborted || result?.outcome.type !== 'yield' || !result.steps) return false;
    return isSameSchedule(lock, result) && queue.mayContinue?.(lock) === true;
  }

  private async resultOf(lock: Lock, signal: AbortSignal): Promise<AdvanceResult | undefined> {
    const { stepsPerTurn: maxSteps } = this.parts;
    this.advances++;
    const route = this.routeOf(lock);
    const options = {
      signal,
      suspects: 'refuse',
      ...(route && { route }),
      ...(maxSteps && { maxSteps }),
    } as const;
    const result = await this.reported(this.advanceOf(lock), lock.sessionId, options);
    this.advances--;
    if (this.advances === 0) this.onIdle();
    return result?.outcome.type === 'isolate' ? this.isolate(lock, signal) : result;
  }

  /**
   * Returns the part of the session's schedule that the wake-up does not know, and no more: an advance that is asked for a
   * group that is known would return it at every turn, and never start the work.
   */
  private routeOf({ schedule, isRouted }: Lock): AdvanceOptions['route'] {
    if (isRouted) return undefined;
    const needsLane = schedule.lane === undefined;
    const needsGroup = schedule.group === undefined && this.parts.queue.limitsGroups;
    if (needsLane) return needsGroup ? 'lane-and-group' : 'lane';
    return needsGroup ? 'group' : undefined;
  }

  /** Returns an advance whose work the queue traces. */
  private advanceOf(lock: Lock, advance = this.parts.advance): Advance {
    const trace = this.parts.queue.trace?.bind(this.parts.queue);
    return trace ? (...args) => trace(lock, () => advance(...args)) : advance;
  }

  /** Advances a suspect session by one step, which clears it, when it is its turn among the suspect sessions. */
  private async isolate(lock: Lock, signal: AbortSignal): Promise<AdvanceResult> {
    const { suspects } = this;
    if (suspects.waitingCount >= this.parts.concurrency) return this.sleep(ISOLATION_PAUSE_MS);
    const turn = suspects.take(signal);
    if (this.hasSlot()) this.onSlot();
    else this.endWait(); // a session that the queue hands out now would wait without a renewal of its lock
    if (!(await turn)) return YIELD;
    const result = await this.advanceAlone(lock, signal);
    suspects.end();
    return result;
  }

  private async advanceAlone(lock: Lock, signal: AbortSignal): Promise<AdvanceResult> {
    const { isolated } = this.parts;
    if (!isolated && this.advances > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    if (signal.aborted) return YIELD;
    const options = { signal, maxSteps: 1, suspects: 'alone' } as const;
    const result = await this.reported(this.advanceOf(lock, isolated), lock.sessionId, options);
    return result === undefined || result.outcome.type === 'isolate' ? this.sleep(SUSPECT_PAUSE_MS) : result;
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
    if (sessionId === undefined) this.parts.meter.counts.queueErrors++;
    announceTo([(thrown: unknown) => this.parts.onError(thrown, sessionId)], error);
  }

  private lose(lock: Lock): void {
    const work = this.works.get(lock);
    if (work === undefined) return; // the work has ended meanwhile
    this.parts.meter.counts.lostLocks++;
    work.abortController.abort(new RunAbort('yield', LOST_LOCK));
  }
}

const YIELD: AdvanceResult = { outcome: { type: 'yield' }, wake: [] };
const LOST_LOCK = 'The worker has lost its lock on the session.';

/** The clocks of the store and the engine may differ, so the engine waits before it tries a lost session again. */
const LOST_PAUSE_MS = 1_000;

/** Returns what the result of an advance requires. After an error, a sweep wakes the session. */
function followUpOf(lock: LockedSession, result: AdvanceResult | undefined, now: Instant): FollowUp {
  if (result === undefined) return { wakeUps: [] };
  const { sessionId, schedule } = lock;
  const { outcome, wake, next } = result;
  const own = { sessionId, ...(next ? scheduleOf(next) : schedule) };
  const at = instantOf(result, now);
  const wakeUps: WakeUp[] = at === undefined ? [] : [{ ...own, at }];
  for (const other of wake) wakeUps.push({ ...(other === sessionId ? own : { sessionId: other }), at: now });
  return outcome.type === 'throttled' ? { wakeUps, pause: outcome } : { wakeUps };
}

/** True when the session keeps the schedule by which it was taken, and wakes no other. */
function isSameSchedule({ schedule, isRouted }: LockedSession, { next, wake }: AdvanceResult): boolean {
  if (isRouted !== true || next === undefined || wake.length > 0) return false;
  const { lane, priority = 0, group } = next;
  return lane === schedule.lane && priority === (schedule.priority ?? 0) && group === schedule.group;
}

/** Returns the instant of the session's next wake-up. */
function instantOf({ outcome }: AdvanceResult, now: Instant): Instant | undefined {
  if (outcome.type === 'yield') return now;
  if (!('until' in outcome) || outcome.until === undefined) return undefined;
  return outcome.type === 'lost' ? Math.max(outcome.until, now + LOST_PAUSE_MS) : outcome.until;
}

function scheduleOf({ lane, priority, group }: Schedule): Omit<WakeUp, 'sessionId' | 'at'> {
  return { lane, priority, group, isRouted: true };
}
