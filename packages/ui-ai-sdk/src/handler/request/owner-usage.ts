import type { Clock } from '@holdfast/core';
import { ChatRequestError } from './chat-error.ts';
import type { Limits } from './chat-limits.ts';

const MINUTE_MS = 60_000;

interface Usage {
  streams: number;
  requests: number;
  reads: number;
  minute: number;
}

/** Counts the requests and streams of each owner in this process. */
export class OwnerUsage {
  private readonly limits: Limits;
  private readonly clock: Clock;
  private readonly byOwner = new Map<string, Usage>();
  private lastMinute = 0;

  constructor(limits: Limits, clock: Clock) {
    this.limits = limits;
    this.clock = clock;
  }

  /** Counts a request: `GET` reads, and all others change something. @throws ChatRequestError `CHAT_RATE_LIMITED`. */
  countRequest(owner: string, method: string): void {
    const usage = this.usageOf(owner);
    const { readsPerMinute, requestsPerMinute } = this.limits;
    const isOver = method === 'GET' ? ++usage.reads > readsPerMinute : ++usage.requests > requestsPerMinute;
    if (isOver) throw new ChatRequestError('CHAT_RATE_LIMITED', 'Too many requests. Try again in a minute.');
  }

  /** Counts a stream, and returns the function that ends it. @throws ChatRequestError `CHAT_RATE_LIMITED`. */
  openStream(owner: string): () => void {
    const usage = this.usageOf(owner);
    if (usage.streams >= this.limits.streams)
      throw new ChatRequestError(
        'CHAT_RATE_LIMITED',
        'Too many open streams. Close some pages of this chat.',
      );
    usage.streams++;
    let isOpen = true;
    return () => {
      if (isOpen) usage.streams--;
      isOpen = false;
    };
  }

  private usageOf(owner: string): Usage {
    const minute = Math.floor(this.clock.now() / MINUTE_MS);
    if (minute !== this.lastMinute) this.forgetIdle(minute);
    const usage = this.byOwner.get(owner) ?? { streams: 0, requests: 0, reads: 0, minute };
    this.byOwner.set(owner, usage);
    if (usage.minute !== minute) Object.assign(usage, { requests: 0, reads: 0, minute });
    return usage;
  }

  private forgetIdle(minute: number): void {
    this.lastMinute = minute;
    for (const [owner, { streams }] of this.byOwner) if (streams === 0) this.byOwner.delete(owner);
  }
}
