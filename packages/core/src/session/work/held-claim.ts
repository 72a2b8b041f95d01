import type { Clock, Instant } from '../../clock.ts';
import { callAfter } from '../../clock.ts';
import { isUnreachable } from '../session-errors.ts';
import { INBOX_PAGE } from '../store/inbox-items.ts';
import type { AgentSession } from '../session.ts';
import type { ClaimedSession, InboxPage, SessionClaim, SessionStore } from '../session-store.ts';

/** Who works under a claim. */
interface ClaimHolder {
  /** Is told what has come into the inbox since it was read last: each item once, and once that it cannot be read. */
  onInboxPage(page: InboxPage): void;
  /** Is told when others may have the session. */
  onFenced(error: unknown): void;
  /** The session as the store answered it last. */
  base(): AgentSession;
}

interface ClaimParts {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly leaseSeconds: number;
}

/** A claim that a heartbeat renews, until it is ended or lost. */
export class HeldClaim {
  /** Whether the inbox may hold items behind those that were read. */
  hasMore = false;
  private claim: SessionClaim;
  /** When it was asked for last, by this process's clock. */
  private requestedAt: Instant;
  /** The position of the last item that was read. */
  private lastReadPosition = -1;
  private readonly parts: ClaimParts;
  private readonly holder: ClaimHolder;
  private isOver = false;
  private stopHeartbeat: () => void = () => undefined;

  constructor(claimed: ClaimedSession, requestedAt: Instant, parts: ClaimParts, holder: ClaimHolder) {
    this.claim = claimed.claim;
    this.onlyNew(claimed);
    this.requestedAt = requestedAt;
    this.parts = parts;
    this.holder = holder;
    this.scheduleHeartbeat();
  }

  get epoch(): number {
    return this.claim.epoch;
  }

  /** Is the session surely this process's? When that cannot be found out, the claim counts as lost. */
  isHeld(): boolean | Promise<boolean> {
    return this.isLeaseValid || this.renewOrFence();
  }

  /** Makes the claim last longer, and looks into the inbox. `false` when that was not possible. */
  async renew(): Promise<boolean> {
    return (await this.tryToRenew()) === undefined;
  }

  /** Ends the claim unless something has come in. A store that does not answer has the claim run out by itself. */
  async releaseIfIdle(): Promise<boolean> {
    const isReleased = await this.parts.store
      .release(this.claim, { onlyIfIdle: true })
      .catch(() => undefined);
    if (isReleased) this.abandon();
    return isReleased ?? true;
  }

  /** Ends the claim, so that others need not wait for it to run out. */
  async release(): Promise<void> {
    if (this.isOver) return;
    this.abandon();
    await this.parts.store.release(this.claim).catch(() => false);
  }

  /** Lets the claim run out. */
  abandon(): void {
    this.isOver = true;
    this.stopHeartbeat();
  }

  /** By this process's clock, as long as that goes forward, nobody else can have the session. */
  private get isLeaseValid(): boolean {
    const { clock, leaseSeconds } = this.parts;
    const now = clock.now();
    return now >= this.requestedAt && now < this.requestedAt + leaseSeconds * 1000;
  }

  private async renewOrFence(): Promise<boolean> {
    const problem = await this.tryToRenew();
    if (problem !== undefined) this.holder.onFenced(problem.error);
    return problem === undefined;
  }

  /** What stood in the way. */
  private async tryToRenew(): Promise<{ readonly error: unknown } | undefined> {
    const { store, clock, leaseSeconds } = this.parts;
    const requestedAt = clock.now();
    try {
      const renewed = await store.renew(this.claim, {
        leaseSeconds,
        after: this.lastReadPosition,
        base: this.holder.base(),
      });
      this.claim = renewed.claim;
      this.requestedAt = requestedAt;
      this.hasMore = renewed.inbox.length + renewed.unreadable.length === INBOX_PAGE;
      this.holder.onInboxPage(this.onlyNew(renewed));
      return undefined;
    } catch (error) {
      if (!isUnreachable(error) && !this.isOver) this.holder.onFenced(error);
      return { error };
    }
  }

  /** The items that were not read before: two renewals may overlap. */
  private onlyNew({ inbox, unreadable }: InboxPage): InboxPage {
    const { lastReadPosition } = this;
    const isNew = ({ position }: { readonly position: number }): boolean => position > lastReadPosition;
    for (const { position } of [...inbox, ...unreadable])
      this.lastReadPosition = Math.max(this.lastReadPosition, position);
    return { inbox: inbox.filter(isNew), unreadable: unreadable.filter(isNew) };
  }

  private scheduleHeartbeat(): void {
    const { clock, leaseSeconds } = this.parts;
    this.stopHeartbeat = callAfter(clock, (leaseSeconds * 1000) / 3, () => void this.heartbeat());
  }

  /** Reads all that has come in, page by page: a stop must not wait behind many messages. */
  private async heartbeat(): Promise<void> {
    let problem = await this.tryToRenew();
    while (problem === undefined && this.hasMore && !this.isOver) problem = await this.tryToRenew();
    const isLost = problem !== undefined && !isUnreachable(problem.error);
    if (!isLost && !this.isOver) this.scheduleHeartbeat();
  }
}
