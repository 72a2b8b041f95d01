import type { ChannelEntry } from '../../channel/channel-entry.ts';
import type { ChannelCapabilities, ChannelNews, SessionChannel } from '../../channel/session-channel.ts';
import { backoff } from '../../backoff.ts';
import { callAfter, pause, type Clock } from '../../clock.ts';
import type { AgentSession } from '../session.ts';
import { SessionNotFoundError, StoreClosedError } from '../session-errors.ts';
import type { LoadOptions } from '../session-claim.ts';
import type { SessionStore } from '../session-store.ts';
import { SessionMirror, type SessionView } from './session-mirror.ts';

/** The parts of a view. Only the session of the `owner` is shown; `base` serves the first load. */
interface ViewParts extends LoadOptions {
  readonly store: SessionStore;
  readonly channel: SessionChannel;
  readonly clock: Clock;
}

/** The time without news after which the store is read. It grows for an idle session, by how its channel delivers. */
const LOOK_MS = 1_000;
const LONGEST_LOOK_MS: Readonly<Record<ChannelCapabilities['delivery'], number>> = {
  pushed: 30_000,
  polled: 5_000,
};
/** The number of entries that wait for the session to be loaded. */
const MOST_WAITING = 2_000;

/** The view of one session in this process, from the first reader to the last. */
export class SharedView {
  private readonly sessionId: string;
  private readonly parts: ViewParts;
  private subscription = new AbortController();
  /** The last entry after which the view subscribed again, to receive the tail once more. */
  private repeatedFor: ChannelEntry | undefined;
  private mirror: SessionMirror | undefined;
  /** The session as the store last returned it, for the next load. */
  private stored: AgentSession | undefined;
  private isLoading = false;
  /** The entries that arrive while the session is loaded. */
  private waiting: ChannelEntry[] = [];
  /** The first entry for which the session was loaded last: a load that does not help is not repeated for it. */
  private loadedFor: ChannelEntry | undefined;
  /** The number of looks since the last news of an idle session, with the next one. */
  private looks = 1;
  private cancelLook: (() => void) | undefined;
  private end: { readonly error?: unknown } | undefined;
  private readonly readers = new Set<() => void>();
  private readerCount = 0;

  constructor(sessionId: string, parts: ViewParts) {
    this.sessionId = sessionId;
    this.parts = parts;
    this.stored = parts.base;
  }

  /** True when the session was deleted or could not be loaded, or the last reader has left. */
  get isOver(): boolean {
    return this.end !== undefined;
  }

  /** Adds a reader. The first one starts the view. A later one looks soon, since its caller may have changed the session. */
  enter(): void {
    if (this.readerCount++ > 0) {
      if (this.looks > 1) this.lookSoon(); // otherwise readers that come and go would hold the look up
      return;
    }
    void this.subscribe();
    void this.load();
  }

  /** Removes a reader. Returns true after the last one, which ends the view. */
  leave(): boolean {
    if (--this.readerCount > 0) return false;
    this.finish({});
    return true;
  }

  /**
   * Returns the view as soon as it is another than the given one; `undefined` when the session was deleted or the signal
   * aborts.
   * @throws the error of the first load.
   */
  async next(
    seen: SessionView | undefined,
    signal: AbortSignal | undefined,
  ): Promise<SessionView | undefined> {
    for (;;) {
      if (signal?.aborted) return undefined;
      if (this.end?.error !== undefined) throw this.end.error as Error;
      if (this.end) return undefined;
      const view = this.mirror?.view;
      if (view && view !== seen) return view;
      await this.news(signal);
    }
  }

  /** Waits for a change of the view. */
  private async news(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.readers.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.readers.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }

  private wakeReaders(): void {
    for (const wake of this.readers) wake();
  }

  private finish(end: { readonly error?: unknown }): void {
    this.end ??= end;
    this.cancelLook?.();
    this.subscription.abort();
    this.wakeReaders();
  }

  // The tail

  private async subscribe(): Promise<void> {
    const { channel, clock } = this.parts;
    const { signal } = this.subscription;
    const listener = (news: ChannelNews): void => this.receive(news);
    while (!signal.aborted) {
      try {
        await channel.subscribe(this.sessionId, listener, { signal });
        return;
      } catch {
        await pause(clock, LOOK_MS, signal);
      }
    }
  }

  /** Subscribes again, and so receives the tail from the beginning of the series. */
  private repeat(): void {
    this.subscription.abort();
    this.subscription = new AbortController();
    this.waiting = [];
    void this.subscribe();
  }

  private receive(news: ChannelNews): void {
    this.looks = 1;
    if (news.type === 'gap') {
      this.waiting = [];
      this.mirror?.miss();
      void this.load();
      return;
    }
    this.waiting.push(...news.entries);
    if (this.waiting.length > MOST_WAITING) {
      this.waiting = [];
      this.mirror?.miss();
    }
    this.useWaiting();
  }

  /** Uses the entries in turn, up to one that needs a load. */
  private useWaiting(): void {
    const { mirror } = this;
    if (mirror === undefined || this.isLoading) return;
    for (let entry = this.waiting[0]; entry !== undefined; entry = this.waiting[0]) {
      const receipt = mirror.receive(entry);
      if (receipt === 'load' && !isSameCause(entry, this.loadedFor)) {
        this.loadedFor = entry;
        void this.load();
        break;
      }
      this.waiting.shift();
      if (receipt === 'missed' && !isSameCause(entry, this.repeatedFor)) {
        this.repeatedFor = entry;
        this.repeat();
        break;
      }
    }
    this.scheduleLook();
    this.wakeReaders();
  }

  // The store

  private async load(): Promise<void> {
    if (this.isLoading || this.isOver) return;
    this.isLoading = true;
    try {
      const { store, owner } = this.parts;
      const session = await store.load(this.sessionId, { base: this.stored, owner });
      this.use(session);
    } catch (error) {
      if (this.mirror === undefined || error instanceof StoreClosedError) this.finish({ error });
    } finally {
      this.isLoading = false;
    }
    if (!this.isOver) this.useWaiting();
  }

  private use(session: AgentSession | undefined): void {
    if (session === undefined) {
      this.finish(this.mirror ? {} : { error: new SessionNotFoundError(this.sessionId) });
      return;
    }
    if (session.version !== this.stored?.version) this.looks = 1;
    this.stored = session;
    if (this.mirror) this.mirror.load(session);
    else this.mirror = new SessionMirror(session);
  }

  /**
   * Reads the store after a time without news. The time grows while no worker works on the session, if its channel has
   * tails or pushes.
   */
  private scheduleLook(): void {
    const { clock, channel } = this.parts;
    const { tail, delivery } = channel.capabilities;
    this.cancelLook?.();
    if (this.isOver) return;
    const times = { first: LOOK_MS, longest: LONGEST_LOOK_MS[delivery] };
    this.cancelLook = callAfter(clock, backoff(times, this.looks), () => {
      const isSlower = !this.isAtWork && (tail === 'deltas' || delivery === 'pushed');
      this.looks = isSlower ? this.looks + 1 : 1;
      void this.load();
    });
  }

  private lookSoon(): void {
    this.looks = 1;
    this.scheduleLook();
  }

  private get isAtWork(): boolean {
    const state = this.mirror?.view.session.state;
    return state?.hasActiveExecution === true && state.status !== 'suspended';
  }
}

/** True for entries of one series: what did not help for the first one is not repeated for the other. */
function isSameCause(one: ChannelEntry, other: ChannelEntry | undefined): boolean {
  return (
    one.incarnation === other?.incarnation &&
    one.epoch === other.epoch &&
    one.series === other.series &&
    one.base === other.base &&
    (one.change.type === 'saved') === (other.change.type === 'saved')
  );
}
