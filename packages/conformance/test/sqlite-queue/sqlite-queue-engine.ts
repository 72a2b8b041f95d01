import { RunAbort, systemClock } from '@holdfast/core';
import type { Clock, Instant } from '@holdfast/core';
import type { Advance, AdvanceResult, EngineWorker } from '@holdfast/core/engine';
import type { ExecutionEngine, ServeOptions, WakeOptions } from '@holdfast/core/engine';
import type { WakeUp, WakeUpTable } from './wake-up-table.ts';

export interface QueueOptions {
  readonly clock?: Clock;
  /** A worker that died loses its sessions after this time. */
  readonly lockSeconds?: number;
  /** How often a worker looks for wake-ups of other processes. */
  readonly pollSeconds?: number;
}

/** An engine whose wake-ups are in a file. Any number of processes can have one on the same file. */
export class SqliteQueueEngine implements ExecutionEngine {
  private readonly table: WakeUpTable;
  private readonly options: Required<QueueOptions>;
  private readonly workers = new Set<QueueWorker>();

  constructor(table: WakeUpTable, options: QueueOptions = {}) {
    this.table = table;
    this.options = { clock: systemClock, lockSeconds: 30, pollSeconds: 0.5, ...options };
  }

  async wake(sessionId: string, options: WakeOptions = {}): Promise<void> {
    this.table.add({ ...options, sessionId, at: options.at ?? this.options.clock.now() });
    for (const worker of this.workers) worker.startMore(); // other processes see it at their next look
  }

  async serve(advance: Advance, options: ServeOptions = {}): Promise<EngineWorker> {
    const worker = new QueueWorker(this.table, advance, { ...this.options, ...options });
    this.workers.add(worker);
    worker.startMore();
    return worker;
  }

  close(): void {
    for (const worker of this.workers) void worker.stop();
    this.table.close();
  }
}

/** Takes due sessions from the table and advances them. */
class QueueWorker implements EngineWorker {
  private readonly table: WakeUpTable;
  private readonly advance: Advance;
  private readonly options: Required<QueueOptions> & ServeOptions;
  private readonly stopController = new AbortController();
  private readonly work = new Set<Promise<void>>();
  private readonly polling: NodeJS.Timeout;
  /** The number of advances in this process, without those of suspect sessions. */
  private running = 0;
  private isIsolating = false;
  private onIdle = () => {};
  private cancelTimer = () => {};

  constructor(table: WakeUpTable, advance: Advance, options: Required<QueueOptions> & ServeOptions) {
    this.table = table;
    this.advance = advance;
    this.options = options;
    this.polling = setInterval(() => this.startMore(), options.pollSeconds * 1_000);
  }

  /** Starts work on due sessions. If the queue fails, the next look tries again. */
  startMore(): void {
    try {
      this.takeSessions();
    } catch (error) {
      warn(error);
    }
  }

  private takeSessions(): void {
    const { clock, lockSeconds, concurrency = 8 } = this.options;
    while (!this.stopController.signal.aborted && this.work.size < concurrency && !this.mustStayAlone()) {
      const lock = clock.newId();
      const sessionId = this.table.take(clock.now(), lock, clock.now() + lockSeconds * 1_000);
      if (sessionId === undefined) return this.setTimer();
      const work = Promise.resolve()
        .then(() => this.workOn(sessionId, lock))
        .finally(() => {
          this.work.delete(work);
          this.startMore();
        })
        .catch((error: unknown) => this.report(error, sessionId)); // the lock ends by itself
      this.work.add(work);
    }
  }

  async stop({ withinSeconds }: Parameters<EngineWorker['stop']>[0] = {}): Promise<void> {
    clearInterval(this.polling);
    this.cancelTimer();
    this.stopController.abort(new RunAbort('yield'));
    const ended = Promise.withResolvers<void>();
    void Promise.all(this.work).then(() => ended.resolve());
    const cancel = withinSeconds === undefined ? undefined : this.after(withinSeconds * 1_000, ended.resolve);
    await ended.promise;
    cancel?.();
  }

  private async workOn(sessionId: string, lock: string): Promise<void> {
    const lost = new AbortController();
    const stopRenewal = this.renewRepeatedly(lock, () => lost.abort(new RunAbort('yield')));
    const signal = AbortSignal.any([this.stopController.signal, lost.signal]);
    const result = await this.resultOf(sessionId, signal).finally(stopRenewal);
    const following = result ? followingWakeUps(sessionId, result, this.options.clock.now()) : [];
    this.table.finish(lock, following, result?.outcome);
  }

  private async resultOf(sessionId: string, signal: AbortSignal): Promise<AdvanceResult | undefined> {
    const result = await this.advanceBesideOthers(sessionId, signal);
    return result?.outcome.type === 'isolate' ? this.isolate(sessionId, signal) : result;
  }

  private async advanceBesideOthers(
    sessionId: string,
    signal: AbortSignal,
  ): Promise<AdvanceResult | undefined> {
    this.running++;
    try {
      return await this.reported(sessionId, () => this.advance(sessionId, { signal, suspects: 'refuse' }));
    } finally {
      this.running--;
      if (this.running === 0) this.onIdle();
    }
  }

  /** Without an isolated process, a suspect session must be alone in this one. */
  private mustStayAlone(): boolean {
    return this.options.isolated === undefined && this.isIsolating;
  }

  /** Advances one suspect session at a time. The others sleep, and leave their places to other sessions. */
  private async isolate(sessionId: string, signal: AbortSignal): Promise<AdvanceResult> {
    const { isolated, clock, lockSeconds } = this.options;
    const sleep = (milliseconds: number): AdvanceResult => ({
      outcome: { type: 'sleep', until: clock.now() + milliseconds },
      wake: [],
    });
    if (this.isIsolating) return sleep(1_000);
    this.isIsolating = true;
    try {
      if (!isolated && this.running > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
      const advance = isolated ?? this.advance;
      const options = { signal, suspects: 'alone', maxSteps: 1 } as const;
      const result = await this.reported(sessionId, () => advance(sessionId, options));
      const mustRepeat = result === undefined || result.outcome.type === 'isolate'; // its process died
      return mustRepeat ? sleep(lockSeconds * 1_000) : result;
    } finally {
      this.isIsolating = false;
    }
  }

  private async reported(
    sessionId: string,
    work: () => Promise<AdvanceResult>,
  ): Promise<AdvanceResult | undefined> {
    try {
      const result = await work();
      if (result.error !== undefined) this.report(result.error, sessionId);
      return result;
    } catch (error) {
      this.report(error, sessionId); // the session stays due: a sweep wakes it
      return undefined;
    }
  }

  private renewRepeatedly(lock: string, onLost: () => void): () => void {
    const milliseconds = this.options.lockSeconds * 1_000;
    const renewLater = () => {
      cancel = this.after(milliseconds / 3, () =>
        this.isLost(lock, this.options.clock.now() + milliseconds) ? onLost() : renewLater(),
      );
    };
    let cancel = () => {};
    renewLater();
    return () => cancel();
  }

  /** Renews a lock. Returns true if another worker has taken the session. */
  private isLost(lock: string, lockedUntil: Instant): boolean {
    try {
      return !this.table.renew(lock, lockedUntil);
    } catch (error) {
      warn(error); // the next third of the lock tries again
      return false;
    }
  }

  /** Calls `startMore` at the instant of the next wake-up. */
  private setTimer(): void {
    const now = this.options.clock.now();
    const at = this.table.nextInstant(now);
    this.cancelTimer();
    if (at !== undefined) this.cancelTimer = this.after(at - now, () => this.startMore());
  }

  private after(milliseconds: number, callback: () => void): () => void {
    const delay = Math.min(milliseconds, 2 ** 31 - 1); // the longest timer
    if (this.options.clock.after) return this.options.clock.after(delay, callback);
    const timer = setTimeout(callback, delay);
    return () => clearTimeout(timer);
  }

  private report(error: unknown, sessionId: string): void {
    const { onError = (thrown: unknown) => warn(`"${sessionId}": ${String(thrown)}`) } = this.options;
    try {
      onError(error, sessionId);
    } catch (thrown) {
      warn(thrown); // the work continues
    }
  }
}

const warn = (error: unknown): void => process.emitWarning(String(error));

/** Returns the wake-ups that the result of an advance requires. */
function followingWakeUps(sessionId: string, { outcome, wake, next }: AdvanceResult, now: Instant): WakeUp[] {
  const others = wake.map((other) => ({ sessionId: other, at: now }));
  const schedule = { lane: next?.lane, priority: next?.priority };
  if (outcome.type === 'yield') return [...others, { sessionId, at: now, ...schedule }];
  if (!('until' in outcome) || outcome.until === undefined) return others;
  // The clock of the store can differ from that of this process.
  const at = outcome.type === 'lost' ? Math.max(outcome.until, now + 1_000) : outcome.until;
  return [...others, { sessionId, at, ...schedule }];
}
