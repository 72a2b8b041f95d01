import type { Clock, Instant } from '@holdfast/core';
import type { Advance, AdvanceResult, AdvanceOutcome } from '@holdfast/core/engine';

/** A session was looked at. */
export interface Look {
  readonly sessionId: string;
  readonly at: Instant;
  readonly signal: AbortSignal | undefined;
}

/** What an advance does, and what comes of it. */
export type Act = (look: Look) => Promise<AdvanceResult>;

/** What came of it, when nobody else is to be woken. */
export const advanced = (outcome: AdvanceOutcome, ...wake: readonly string[]): AdvanceResult => ({
  outcome,
  wake,
});

export const FINISHED = advanced({ type: 'finished' });
export const SUSPENDED = advanced({ type: 'suspended' });
export const YIELD = advanced({ type: 'yield' });

/** Advances that are written down, with what an engine must never do. */
export class RecordedAdvances {
  /** In order. */
  readonly looks: Look[] = [];
  /** How many were under way at one time, at most. */
  most = 0;
  /** Sessions that were looked at while they were being worked on. */
  readonly overlaps: string[] = [];
  private readonly underWay: string[] = [];
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  of(sessionId: string): readonly Look[] {
    return this.looks.filter((look) => look.sessionId === sessionId);
  }

  by(act: Act): Advance {
    return async (sessionId, { signal } = {}) => {
      const look = { sessionId, at: this.clock.now(), signal };
      this.looks.push(look);
      if (this.underWay.includes(sessionId)) this.overlaps.push(sessionId);
      this.most = Math.max(this.most, this.underWay.push(sessionId));
      try {
        return await act(look);
      } finally {
        this.underWay.splice(this.underWay.indexOf(sessionId), 1);
      }
    };
  }
}
