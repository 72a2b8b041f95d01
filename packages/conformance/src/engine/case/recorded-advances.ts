import type { Clock, Instant } from '@holdfast/core';
import type { Advance, AdvanceOptions, AdvanceOutcome, AdvanceResult } from '@holdfast/core/engine';

/** One call of an advance. */
export interface Look {
  readonly sessionId: string;
  readonly at: Instant;
  readonly signal: AbortSignal | undefined;
  readonly suspects?: AdvanceOptions['suspects'];
  readonly route?: AdvanceOptions['route'];
}

/** The work of an advance, which returns its result. */
export type Act = (look: Look) => Promise<AdvanceResult>;

/** The result of an advance that wakes the sessions `wake`. */
export const advanced = (outcome: AdvanceOutcome, ...wake: readonly string[]): AdvanceResult => ({
  outcome,
  wake,
});

export const FINISHED = advanced({ type: 'finished' });
export const SUSPENDED = advanced({ type: 'suspended' });
export const YIELD = advanced({ type: 'yield' });
export const ISOLATE = advanced({ type: 'isolate' });

/** Records advances, and detects overlapping ones. */
export class RecordedAdvances {
  /** The advances in order. */
  readonly looks: Look[] = [];
  /** The maximum number of advances that ran at the same time. */
  most = 0;
  /** The sessions whose advance began while another one was running. */
  readonly overlaps: string[] = [];
  private readonly underWay: string[] = [];
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  of(sessionId: string): readonly Look[] {
    return this.looks.filter((look) => look.sessionId === sessionId);
  }

  /** Records an act. If it throws before it returns a promise, so does the advance. */
  by(act: Act): Advance {
    return (sessionId, { signal, suspects, route } = {}) => {
      const look = { sessionId, at: this.clock.now(), signal, suspects, route };
      this.looks.push(look);
      if (this.underWay.includes(sessionId)) this.overlaps.push(sessionId);
      this.most = Math.max(this.most, this.underWay.push(sessionId));
      const end = (): void => void this.underWay.splice(this.underWay.indexOf(sessionId), 1);
      try {
        return endAfter(act(look), end);
      } catch (error) {
        end();
        throw error;
      }
    };
  }
}

async function endAfter<T>(work: Promise<T>, end: () => void): Promise<T> {
  try {
    return await work;
  } finally {
    end();
  }
}
