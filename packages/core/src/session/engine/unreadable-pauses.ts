import { backoff } from '../../backoff.ts';
import type { Instant } from '../../clock.ts';

const MAX_SECONDS = 3_600;
const MAX_SESSIONS = 10_000;

interface Pause {
  readonly until: Instant;
  /** The number of pauses of the session, with this one. */
  readonly count: number;
}

/**
 * When to wake sessions again that this release cannot read. They are woken at all because another worker may have a
 * newer release, and because the worker that fails reports the error. Each pause is twice as long as the one before, up
 * to an hour.
 */
export class UnreadablePauses {
  private readonly pauses = new Map<string, Pause>();

  isPaused(sessionId: string, now: Instant): boolean {
    return (this.pauses.get(sessionId)?.until ?? now) > now;
  }

  /** Begins a pause. @param firstSeconds the length of the first pause of a session */
  begin(sessionId: string, now: Instant, firstSeconds: number): void {
    const count = (this.pauses.get(sessionId)?.count ?? 0) + 1;
    const seconds = backoff({ first: firstSeconds, longest: Math.max(MAX_SECONDS, firstSeconds) }, count);
    this.pauses.delete(sessionId); // the newest is the last
    this.pauses.set(sessionId, { until: now + seconds * 1_000, count });
    const [oldest] = this.pauses.keys();
    if (this.pauses.size > MAX_SESSIONS && oldest !== undefined) this.pauses.delete(oldest);
  }
}
