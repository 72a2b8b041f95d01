import { mustBe, optionsCheck } from '../arguments.ts';
import { systemClock, type Clock, type Instant } from '../clock.ts';
import { channelClosed } from './channel-errors.ts';
import type { ChannelEntry } from './channel-entry.ts';
import { ChannelListeners, safely } from './channel-listeners.ts';
import type {
  ChannelCapabilities,
  ChannelNews,
  ChannelNotification,
  PublishOptions,
  SessionChannel,
  SubscribeOptions,
} from './session-channel.ts';

/** Options of `MemorySessionChannel`. */
export interface MemorySessionChannelOptions {
  /** The clock by which unchanged tails expire. Default: the system clock. */
  readonly clock?: Clock;
}

interface Tail {
  readonly entries: ChannelEntry[];
  readonly changedAt: Instant;
}

/** The largest number of entries in a tail, and the time after which an unchanged tail expires. */
const LONGEST_TAIL = 2_000;
const TAIL_LIFETIME_MS = 600_000;

const checkOptions = optionsCheck<MemorySessionChannelOptions>('MemorySessionChannel', {
  clock: mustBe.clock,
});

/**
 * Connects workers and readers within one process. The reference channel, as a model for others: each method does its
 * work before it returns.
 */
export class MemorySessionChannel implements SessionChannel {
  readonly capabilities: ChannelCapabilities = { tail: 'deltas', delivery: 'pushed' };
  private transport: MemoryTransport;
  private isClosed = false;
  /** The functions that remove the listeners of this channel. */
  private readonly stops = new Set<() => void>();

  constructor(options: MemorySessionChannelOptions = {}) {
    this.transport = new MemoryTransport(checkOptions(options).clock ?? systemClock);
  }

  /** Returns another channel with the same tails and listeners, as another process has. Each closes on its own. */
  connect(): MemorySessionChannel {
    const other = new MemorySessionChannel();
    other.transport = this.transport;
    return other;
  }

  async publish(
    sessionId: string,
    batch: readonly ChannelEntry[],
    { trim = false }: PublishOptions = {},
  ): Promise<void> {
    this.requireOpen();
    this.transport.publish(sessionId, [...batch], trim);
  }

  async subscribe(
    sessionId: string,
    listener: (news: ChannelNews) => void,
    { signal }: SubscribeOptions,
  ): Promise<void> {
    this.requireOpen();
    if (signal.aborted) return;
    this.add(this.transport.subscribe(sessionId, inTurn(listener, signal)), signal);
  }

  async notify(sessionId: string, notification: ChannelNotification): Promise<void> {
    this.requireOpen();
    this.transport.workers.call(sessionId, notification);
  }

  onNotification(sessionId: string, listener: (notification: ChannelNotification) => void): () => void {
    if (this.isClosed) return () => undefined;
    return this.add(this.transport.workers.add(sessionId, listener));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const stop of this.stops) stop();
  }

  private requireOpen(): void {
    if (this.isClosed) throw channelClosed();
  }

  /** Returns a function that removes a listener. It is called when the signal aborts, and by `close`. */
  private add(remove: () => void, signal?: AbortSignal): () => void {
    const stop = (): void => {
      remove();
      this.stops.delete(stop);
      signal?.removeEventListener('abort', stop);
    };
    this.stops.add(stop);
    signal?.addEventListener('abort', stop);
    return stop;
  }
}

/** The tails and listeners of several channels. */
class MemoryTransport {
  readonly workers = new ChannelListeners<ChannelNotification>();
  private readonly clock: Clock;
  /** The tails by session, the one that has been unchanged longest first. */
  private readonly tails = new Map<string, Tail>();
  private readonly subscribers = new ChannelListeners<ChannelNews>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  publish(sessionId: string, batch: readonly ChannelEntry[], trim: boolean): void {
    const now = this.clock.now();
    const entries = trim ? [] : (this.tails.get(sessionId)?.entries ?? []);
    entries.push(...batch);
    entries.splice(0, entries.length - LONGEST_TAIL);
    this.tails.delete(sessionId);
    this.removeExpired(now);
    if (entries.length > 0) this.tails.set(sessionId, { entries, changedAt: now });
    if (batch.length > 0) this.subscribers.call(sessionId, { type: 'entries', entries: batch });
  }

  subscribe(sessionId: string, listener: (news: ChannelNews) => void): () => void {
    this.removeExpired(this.clock.now());
    const remove = this.subscribers.add(sessionId, listener);
    const tail = this.tails.get(sessionId);
    if (tail) listener({ type: 'entries', entries: [...tail.entries] });
    return remove;
  }

  private removeExpired(now: Instant): void {
    for (const [sessionId, { changedAt }] of this.tails) {
      if (changedAt > now - TAIL_LIFETIME_MS) return;
      this.tails.delete(sessionId);
    }
  }
}

/** Returns a function that calls the listener with one value after the other, unless the signal has aborted. */
function inTurn<T>(listener: (value: T) => void, signal: AbortSignal): (value: T) => void {
  const call = safely(listener);
  const waiting: T[] = [];
  return (value) => {
    if (waiting.push(value) > 1) return; // the listener itself has caused this value
    for (let next = waiting[0]; next !== undefined && !signal.aborted; next = waiting[0]) {
      call(next);
      waiting.shift();
    }
    waiting.length = 0;
  };
}
