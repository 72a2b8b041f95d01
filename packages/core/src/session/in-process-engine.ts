import type { Clock, Instant } from '../clock.ts';
import { callAfter, systemClock } from '../clock.ts';
import { invalidArgument } from '../errors.ts';
import { RunAbort } from '../loop/abort.ts';
import { announceTo } from '../loop/events.ts';
import type { Advance, Advanced, ExecutionEngine, ServedEngine } from './engine.ts';

export interface InProcessEngineOptions {
  readonly clock?: Clock | undefined;
  /** Is told what an advance threw. The session stays due: a sweep finds it. Default: a warning of the process. */
  readonly onError?: ((error: unknown, sessionId: string) => void) | undefined;
}

/** What is known of a session that is to be looked at. */
interface Wakeup {
  /** It is being worked on. */
  isRunning: boolean;
  /** Somebody woke it meanwhile: look again. */
  isWanted: boolean;
}

/**
 * Works on sessions in this process, several at once. The reference of the contract: wake-ups are kept in memory, so
 * sweep after a start. A wake-up during work on a session is never lost: the session is looked at again.
 */
export class InProcessEngine implements ExecutionEngine {
  private readonly clock: Clock;
  private readonly onError: (error: unknown, sessionId: string) => void;
  private readonly wakeups = new Map<string, Wakeup>();
  private readonly timers = new Set<() => void>();
  private readonly waiting: string[] = [];
  private readonly underWay = new Set<Promise<void>>();
  private advance: Advance | undefined;
  private concurrency = 1;
  private leaving = new AbortController();

  constructor(options: InProcessEngineOptions = {}) {
    this.clock = options.clock ?? systemClock;
    this.onError = options.onError ?? (() => undefined);
  }

  async wake(sessionId: string, { at }: { readonly at?: Instant | undefined } = {}): Promise<void> {
    const delay = at === undefined ? 0 : at - this.clock.now();
    if (delay > 0) return this.wakeAfter(sessionId, delay);
    const known = this.wakeups.get(sessionId);
    if (known) {
      known.isWanted = known.isRunning;
      return;
    }
    this.wakeups.set(sessionId, { isRunning: false, isWanted: false });
    this.waiting.push(sessionId);
    this.startMore();
  }

  async serve(
    advance: Advance,
    { concurrency = 8 }: { readonly concurrency?: number | undefined } = {},
  ): Promise<ServedEngine> {
    if (!(Number.isInteger(concurrency) && concurrency >= 1)) {
      throw invalidArgument(`concurrency must be a whole number from 1, found ${String(concurrency)}.`);
    }
    if (this.advance) throw invalidArgument('This engine serves already: stop it first.');
    this.advance = advance;
    this.concurrency = concurrency;
    this.leaving = new AbortController();
    this.startMore();
    return { stop: () => this.stop() };
  }

  private async stop(): Promise<void> {
    this.advance = undefined;
    this.leaving.abort(new RunAbort('yield', 'The engine stops.'));
    for (const callOff of this.timers) callOff();
    this.timers.clear();
    await Promise.all(this.underWay);
  }

  private async wakeAfter(sessionId: string, delay: number): Promise<void> {
    const callOff = callAfter(this.clock, delay, () => {
      this.timers.delete(callOff);
      void this.wake(sessionId);
    });
    this.timers.add(callOff);
  }

  private startMore(): void {
    while (this.advance && this.underWay.size < this.concurrency && this.waiting.length > 0) {
      const sessionId = this.waiting.shift() as string;
      const work = this.work(sessionId, this.advance).finally(() => {
        this.underWay.delete(work);
        this.startMore();
      });
      this.underWay.add(work);
    }
  }

  private async work(sessionId: string, advance: Advance): Promise<void> {
    const wakeup = this.wakeups.get(sessionId);
    if (wakeup) wakeup.isRunning = true;
    let advanced: Advanced | undefined;
    try {
      advanced = await advance(sessionId, { signal: this.leaving.signal });
    } catch (error) {
      announceTo([(thrown: unknown) => this.onError(thrown, sessionId)], error);
    }
    this.wakeups.delete(sessionId);
    if (wakeup?.isWanted) await this.wake(sessionId);
    if (advanced) await this.followUp(sessionId, advanced);
  }

  private async followUp(sessionId: string, { outcome, wake }: Advanced): Promise<void> {
    for (const other of wake) await this.wake(other);
    if (outcome.type === 'yield') await this.wake(sessionId);
    else if (outcome.type === 'sleep') await this.wake(sessionId, { at: outcome.until });
  }
}
