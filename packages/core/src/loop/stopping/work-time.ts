import { secondsBetween, type Instant } from '../../clock.ts';

/** Measures the time worked that the state does not include yet. */
export class WorkTime {
  /** The start of the work, or the last count. */
  since: Instant;

  constructor(now: Instant) {
    this.since = now;
  }

  /** Begins the work: earlier time does not count. */
  begin(now: Instant): void {
    this.since = now;
  }

  /** The seconds since the start or the last count. */
  secondsAt(now: Instant): number {
    return Math.max(0, secondsBetween(this.since, now));
  }

  /** Returns the same seconds and marks them as counted. */
  count(now: Instant): number {
    const seconds = this.secondsAt(now);
    this.since = now;
    return seconds;
  }
}
