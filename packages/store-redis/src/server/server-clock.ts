import type { Instant } from '@holdfast/core';

/**
 * Estimates the time of the server from its replies, without extra requests. The server reads its clock after a command
 * was sent and before the reply arrives. So each reply bounds the difference between the server's clock and the
 * process's monotonic clock.
 */
export class ServerClock {
  private low = Number.NEGATIVE_INFINITY;
  private high = Number.POSITIVE_INFINITY;

  /** The time of the server; before the first reply, the time of this machine. */
  now(): Instant {
    if (this.low === Number.NEGATIVE_INFINITY) return Date.now();
    return Math.floor(performance.now() + (this.low + this.high) / 2);
  }

  /**
   * Narrows the bounds by one reply.
   * @param serverTime the server's clock in milliseconds since 1970
   * @param sentAt, receivedAt by `performance.now()`
   */
  learn(serverTime: number, sentAt: number, receivedAt: number): void {
    const [low, high] = [serverTime - receivedAt, serverTime - sentAt];
    // When no difference fits all replies, one of the clocks was set or drifts: the latest reply replaces the bounds.
    const isContradiction = low > this.high || high < this.low;
    this.low = isContradiction ? low : Math.max(low, this.low);
    this.high = isContradiction ? high : Math.min(high, this.high);
  }
}
