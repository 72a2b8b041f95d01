import type { Clock } from '../clock.ts';
import { mustWait, stopReasonOf, withInboxItem } from './inbox.ts';
import type { AgentSession } from './session.ts';
import type { InboxItem, InboxItemName } from './session-store.ts';

/**
 * What has come in for a session while one process works on it. An item is used once, however often it is read, and
 * leaves the inbox with the save that keeps what came of it.
 */
export class SessionMail {
  /** By position. */
  private readonly known = new Map<number, InboxItem>();
  private unused: InboxItem[] = [];
  /** Items that have aborted the run. */
  private stops: InboxItem[] = [];
  private taken: readonly InboxItemName[] = [];

  /** Is there something that was not used yet? */
  get isWaiting(): boolean {
    return this.unused.length > 0;
  }

  /** Was something used that the inbox still has? */
  get isTaken(): boolean {
    return this.taken.length > 0;
  }

  /** Takes in what was read from the inbox. Why a run in progress is to stop, when something asks for that. */
  receive(items: readonly InboxItem[], isRunning: boolean): string | undefined {
    let stop: string | undefined;
    for (const item of items) {
      if (this.known.has(item.position)) continue;
      this.known.set(item.position, item);
      const reason = isRunning ? stopReasonOf(item) : undefined;
      (reason === undefined ? this.unused : this.stops).push(item);
      stop ??= reason;
    }
    return stop;
  }

  /** The session with what has come in, as far as it can be used now: one that is put aside takes nothing. */
  used(
    session: AgentSession,
    clock: Clock,
    onIgnored: (item: InboxItem, reason: string) => void,
  ): AgentSession {
    if (session.status !== 'active' || this.unused.length === 0) return session;
    let { state } = session;
    const waiting: InboxItem[] = [];
    for (const item of this.unused) {
      if (mustWait(state, item)) {
        waiting.push(item);
        continue;
      }
      const used = withInboxItem(state, item, clock);
      this.taken = [...this.taken, item];
      state = used.state;
      if (used.ignored !== undefined) onIgnored(item, used.ignored);
    }
    this.unused = waiting;
    return session.withState(state);
  }

  /** A run has ended. What has stopped it is used when it is over; when it was only left, whoever goes on is to stop. */
  endRun(isOver: boolean): void {
    if (isOver) this.taken = [...this.taken, ...this.stops];
    else this.unused = [...this.unused, ...this.stops];
    this.stops = [];
  }

  /** The items that a save is to take out of the inbox. When it is not done they must be given back. */
  takeOut(): readonly InboxItemName[] {
    const { taken } = this;
    this.taken = [];
    return taken;
  }

  /** Of the items that were used, has only the largest taken out: it is used for nothing. */
  leaveLargest(): InboxItem | undefined {
    const sizeOf = ({ position }: InboxItemName): number =>
      JSON.stringify(this.known.get(position)?.content ?? null).length;
    const [largest] = this.taken.toSorted((left, right) => sizeOf(right) - sizeOf(left));
    if (largest === undefined) return undefined;
    this.taken = [largest];
    return this.known.get(largest.position);
  }

  giveBack(items: readonly InboxItemName[]): void {
    this.taken = [...items, ...this.taken];
  }
}
