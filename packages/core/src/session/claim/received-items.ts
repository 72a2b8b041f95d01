import { mustWaitForEnd, stopReasonOf, withInboxItem, type ItemParts } from '../actions/inbox-content.ts';
import type { AgentSession } from '../session.ts';
import type { InboxItem, InboxItemRef } from '../session-claim.ts';

/** The execution that the run in progress works on. A run that begins an execution can have a new id. */
export interface RunningExecution {
  readonly executionId: string | undefined;
}

/**
 * The inbox items that a worker has read under its claim. The worker uses an item once, however often it is read. The
 * save with the effect of the item removes it from the inbox.
 */
export class ReceivedItems {
  /** The items that were read, by position. */
  private readonly known = new Map<number, InboxItem>();
  private unused: InboxItem[] = [];
  /** Items that have aborted the run. */
  private stops: InboxItem[] = [];
  private usedItems: readonly InboxItemRef[] = [];

  /** True when an item was read and not used yet. */
  get hasUnused(): boolean {
    return this.unused.length > 0;
  }

  /** True when an item was used and the inbox still holds it. */
  get hasUsed(): boolean {
    return this.usedItems.length > 0;
  }

  /** True for the id of an item that was read, used or not. */
  hasReceived(itemId: string): boolean {
    return [...this.known.values()].some(({ id }) => id === itemId);
  }

  /**
   * Adds items that were read. Returns the reason to stop the run in progress, when an item requests to stop its
   * execution.
   */
  receive(items: readonly InboxItem[], running: RunningExecution | undefined): string | undefined {
    let stop: string | undefined;
    for (const item of items) {
      if (this.known.has(item.position)) continue;
      this.known.set(item.position, item);
      const reason = running && stopReasonOf(item, running.executionId);
      (reason === undefined ? this.unused : this.stops).push(item);
      stop ??= reason;
    }
    return stop;
  }

  /** Returns the session after using the items that can be used now. A session that is not active uses none. */
  async apply(
    session: AgentSession,
    parts: ItemParts,
    onIgnored: (item: InboxItem, reason: string) => void,
  ): Promise<AgentSession> {
    if (session.status !== 'active' || this.unused.length === 0) return session;
    let { state } = session;
    const items = [...this.unused];
    const [waiting, used]: [InboxItem[], InboxItem[]] = [[], []];
    for (const item of items) {
      if (mustWaitForEnd(state, item)) {
        waiting.push(item);
        continue;
      }
      const applied = await withInboxItem(state, item, parts);
      used.push(item);
      state = applied.state;
      if (applied.ignored !== undefined) onIgnored(item, applied.ignored);
    }
    this.usedItems = [...this.usedItems, ...used];
    this.unused = [...waiting, ...this.unused.slice(items.length)]; // further items were read meanwhile
    return session.withState(state);
  }

  /**
   * Ends a run. A stop counts as used when the execution is over. When the run only yielded, the stop is for the next
   * run.
   */
  endRun(isOver: boolean): void {
    if (isOver) this.usedItems = [...this.usedItems, ...this.stops];
    else this.unused = [...this.unused, ...this.stops];
    this.stops = [];
  }

  /** Returns the used items, for a save to remove from the inbox. The caller must restore them when the save fails. */
  takeUsed(): readonly InboxItemRef[] {
    const { usedItems } = this;
    this.usedItems = [];
    return usedItems;
  }

  /** Marks only the largest used item as used, for a save that removes the item without its effect. */
  keepLargestUsed(): InboxItem | undefined {
    const sizeOf = ({ position }: InboxItemRef): number =>
      JSON.stringify(this.known.get(position)?.content ?? null).length;
    const [largest] = this.usedItems.toSorted((left, right) => sizeOf(right) - sizeOf(left));
    if (largest === undefined) return undefined;
    this.usedItems = [largest];
    return this.known.get(largest.position);
  }

  restoreUsed(items: readonly InboxItemRef[]): void {
    this.usedItems = [...items, ...this.usedItems];
  }
}
