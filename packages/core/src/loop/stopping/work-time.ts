import type { Instant } from '../../clock.ts';
import { secondsBetween } from '../../clock.ts';

/** Measures the time worked that a state does not know of yet. */
export class WorkTime {
  /** When it began, or was counted last. */
  since: Instant;

  constructor(now: Instant) {
    this.since = now;
  }

  /** Work begins: what was before does not count. */
  begin(now: Instant): void {
    this.since = now;
  }

  /** The seconds since it began, or was counted last. */
  secondsAt(now: Instant): number {
    return Math.max(0, secondsBetween(this.since, now));
  }

  /** The same; they count as counted. */
  count(now: Instant): number {
    const seconds = this.secondsAt(now);
    this.since = now;
    return seconds;
  }
}
