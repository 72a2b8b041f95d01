import { mustBe, optionsCheck } from '../../arguments.ts';
import { systemClock, type Clock } from '../../clock.ts';
import type { SessionChannel } from '../../channel/session-channel.ts';
import type { LoadOptions } from '../session-claim.ts';
import { OWNER } from '../title-labels-owner.ts';
import type { SessionStore } from '../session-store.ts';
import type { SessionView } from './session-mirror.ts';
import { SharedView } from './shared-view.ts';

/** Options of `SessionWatcher`. */
export interface SessionWatcherOptions {
  readonly store: SessionStore;
  /** A channel with the transport of the workers' channels. */
  readonly channel: SessionChannel;
  /** The clock of timers. Default: the system clock. */
  readonly clock?: Clock;
}

/** Options of `SessionWatcher.watch`. Their `base` serves the first load of the view. */
export interface WatchOptions extends LoadOptions {
  /** Ends the iteration when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

const checkOptions = optionsCheck<SessionWatcherOptions>('SessionWatcher', {
  store: mustBe.required(mustBe.objectWith('a session store', ['load'])),
  channel: mustBe.required(mustBe.objectWith('a session channel', ['subscribe'])),
  clock: mustBe.clock,
});
const checkWatchOptions = optionsCheck<WatchOptions>('watch', {
  signal: mustBe.signal,
  owner: OWNER,
  base: mustBe.anything, // the store checks it
});

/**
 * Shows sessions live, whichever process works on them. All readers of a session for the same owner share one
 * subscription and one view.
 *
 * @example
 * const watcher = new SessionWatcher({ store, channel });
 * for await (const { session, partial } of watcher.watch(sessionId, { signal })) render(session.state, partial);
 */
export class SessionWatcher {
  private readonly options: Required<SessionWatcherOptions>;
  private readonly views = new Map<string, SharedView>();

  /** @throws TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(options: SessionWatcherOptions) {
    this.options = { clock: systemClock, ...checkOptions(options) };
  }

  /**
   * Returns the views of a session: the present one at once, then the latest after each change. A reader that is slow
   * misses views between; nothing is queued for it. A view can go back to the saved state, when a worker has died or
   * entries were lost. The iteration continues after the end of an execution. It ends when the signal aborts, and when
   * the session is deleted. With `owner`, it also ends when another owner creates a session under the same id.
   * @throws SessionNotFoundError when the session does not exist; what the store throws at the first load. Later, the
   * view stays as it is until the store replies again.
   */
  async *watch(sessionId: string, options: WatchOptions = {}): AsyncGenerator<SessionView, void, undefined> {
    const { signal, owner, base } = checkWatchOptions(options);
    const key = JSON.stringify([sessionId, owner]);
    const shared = this.sharedView(key, sessionId, { owner, base });
    shared.enter();
    try {
      let view: SessionView | undefined;
      while ((view = await shared.next(view, signal))) yield view;
    } finally {
      if (shared.leave() && this.views.get(key) === shared) this.views.delete(key);
    }
  }

  private sharedView(key: string, sessionId: string, options: LoadOptions): SharedView {
    const known = this.views.get(key);
    if (known && !known.isOver) return known;
    const created = new SharedView(sessionId, { ...this.options, ...options });
    this.views.set(key, created);
    return created;
  }
}
