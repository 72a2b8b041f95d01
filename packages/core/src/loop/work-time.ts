import type { Clock, Instant } from '../clock.ts';
import { secondsBetween } from '../clock.ts';

/** Measures the time worked that a state does not know of yet. */
export class WorkTime {
  private readonly clock: Clock;
  private since: Instant;

  constructor(clock: Clock) {
    this.clock = clock;
    this.since = clock.now();
  }

  /** Work begins: what was before does not count. */
  begin(): void {
    this.since = this.clock.now();
  }

  /** The seconds since it began, or was counted last. */
  get seconds(): number {
    return Math.max(0, secondsBetween(this.since, this.clock.now()));
  }

  /** The same; they count as counted. */
  count(): number {
    const { seconds } = this;
    this.begin();
    return seconds;
  }
}
