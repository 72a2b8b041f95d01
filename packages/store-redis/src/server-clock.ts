import type { Instant } from '@holdfast/core';

/**
 * The time of the server without asking for it: replies carry it. The server read its clock after the command was sent
 * and before the reply came; what all replies so far agree on gives the difference to the process's own clock, which is
 * one that nobody sets.
 */
export class ServerClock {
  private low = Number.NEGATIVE_INFINITY;
  private high = Number.POSITIVE_INFINITY;

  /** Before the first reply: the time of the machine. */
  now(): Instant {
    if (this.low === Number.NEGATIVE_INFINITY) return Date.now();
    return Math.floor(performance.now() + (this.low + this.high) / 2);
  }

  /** What the server said, in milliseconds since 1970, and when by `performance.now()`. */
  learn(serverTime: number, sentAt: number, receivedAt: number): void {
    const [low, high] = [serverTime - receivedAt, serverTime - sentAt];
    // No difference fits all replies: one of the clocks was set, or goes wrong. The latest reply is right.
    const isNews = low > this.high || high < this.low;
    this.low = isNews ? low : Math.max(low, this.low);
    this.high = isNews ? high : Math.min(high, this.high);
  }
}
