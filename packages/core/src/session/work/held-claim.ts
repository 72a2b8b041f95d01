import type { Clock, Instant } from '../../clock.ts';
import { callAfter } from '../../clock.ts';
import { isUnreachable } from '../session-errors.ts';
import { INBOX_PAGE } from '../store/inbox-items.ts';
import type { AgentSession } from '../session.ts';
import type { ClaimedSession, InboxPage, SessionClaim, SessionStore } from '../session-store.ts';

/** Who works under a claim. */
interface ClaimHolder {
  /** Is told what has come into the inbox since it was read last: each item once, and once that it cannot be read. */
  received(page: InboxPage): void;
  /** Is told when others may have the session. */
  lost(error: unknown): void;
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
  private askedAt: Instant;
  /** The position of the last item that was read. */
  private seen = -1;
  private readonly parts: ClaimParts;
  private readonly holder: ClaimHolder;
  private isOver = false;
  private stopBeating: () => void = () => undefined;

  constructor(claimed: ClaimedSession, askedAt: Instant, parts: ClaimParts, holder: ClaimHolder) {
    this.claim = claimed.claim;
    this.unseen(claimed);
    this.askedAt = askedAt;
    this.parts = parts;
    this.holder = holder;
    this.beat();
  }

  get epoch(): number {
    return this.claim.epoch;
  }

  /** Is the session surely this process's? When that cannot be found out, the claim counts as lost. */
  isHeld(): boolean | Promise<boolean> {
    return this.isSure || this.renewOrLose();
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
    this.stopBeating();
  }

  /** By this process's clock, as long as that goes forward, nobody else can have the session. */
  private get isSure(): boolean {
    const { clock, leaseSeconds } = this.parts;
    const now = clock.now();
    return now >= this.askedAt && now < this.askedAt + leaseSeconds * 1000;
  }

  private async renewOrLose(): Promise<boolean> {
    const problem = await this.tryToRenew();
    if (problem !== undefined) this.holder.lost(problem.error);
    return problem === undefined;
  }

  /** What stood in the way. */
  private async tryToRenew(): Promise<{ readonly error: unknown } | undefined> {
    const { store, clock, leaseSeconds } = this.parts;
    const askedAt = clock.now();
    try {
      const renewed = await store.renew(this.claim, {
        leaseSeconds,
        after: this.seen,
        base: this.holder.base(),
      });
      this.claim = renewed.claim;
      this.askedAt = askedAt;
      this.hasMore = renewed.inbox.length + renewed.unreadable.length === INBOX_PAGE;
      this.holder.received(this.unseen(renewed));
      return undefined;
    } catch (error) {
      if (!isUnreachable(error) && !this.isOver) this.holder.lost(error);
      return { error };
    }
  }

  /** The items that were not read before: two renewals may overlap. */
  private unseen({ inbox, unreadable }: InboxPage): InboxPage {
    const { seen } = this;
    const isNew = ({ position }: { readonly position: number }): boolean => position > seen;
    for (const { position } of [...inbox, ...unreadable]) this.seen = Math.max(this.seen, position);
    return { inbox: inbox.filter(isNew), unreadable: unreadable.filter(isNew) };
  }

  private beat(): void {
    const { clock, leaseSeconds } = this.parts;
    this.stopBeating = callAfter(clock, (leaseSeconds * 1000) / 3, () => void this.beatOnce());
  }

  /** Reads all that has come in, page by page: a stop must not wait behind many messages. */
  private async beatOnce(): Promise<void> {
    let problem = await this.tryToRenew();
    while (problem === undefined && this.hasMore && !this.isOver) problem = await this.tryToRenew();
    const isLost = problem !== undefined && !isUnreachable(problem.error);
    if (!isLost && !this.isOver) this.beat();
  }
}
