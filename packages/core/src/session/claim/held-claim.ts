import { callAfter, timerTime, type Clock, type Instant } from '../../clock.ts';
import { isUnreachable } from '../session-errors.ts';
import { INBOX_PAGE } from '../store/record/inbox-items.ts';
import type { AgentSession } from '../session.ts';
import type { SessionStore } from '../session-store.ts';
import type { ClaimedSession, InboxPage, ReleaseOptions, SessionClaim } from '../session-claim.ts';

interface ClaimHolder {
  /** Receives the inbox items that were not read before: each item once, readable or not. */
  onInboxPage(page: InboxPage): void;
  /** Receives the error after which another worker may have the session. */
  onFenced(error: unknown): void;
  /** Receives the seconds for which the event loop of the process stood still, at least. */
  onStandstill(seconds: number): void;
  /** Returns the session as the store last returned it. */
  base(): AgentSession;
}

export interface HeldClaimParts {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly leaseSeconds: number;
}

/** The shortest standstill that counts, in milliseconds: modules that load, and a busy machine, cause shorter ones. */
const LEAST_STANDSTILL_MS = 1_000;
/** How often a claim looks at the clock between two heartbeats, to notice a standstill. */
const TICKS = 4;

/** A claim that a heartbeat renews, until it is released, abandoned or fenced. */
export class HeldClaim {
  /** True when the inbox may hold items behind those that were read. */
  hasMore = false;
  private claim: SessionClaim;
  /** When the claim was last requested or renewed, by the clock of this process. */
  private requestedAt: Instant;
  private lastReadPosition = -1;
  private readonly parts: HeldClaimParts;
  private readonly holder: ClaimHolder;
  private isOver = false;
  private isShared = false;
  private stopHeartbeat: () => void = () => undefined;
  private isBeating = false;
  private mustLook = false;
  /** When the timer of the claim should fire, by `timerTime`; absent during a heartbeat. */
  private tickDueAt: number | undefined;
  /** The worker stood still, and the store does not know it yet. */
  private isSuspect = false;

  constructor(claimed: ClaimedSession, requestedAt: Instant, parts: HeldClaimParts, holder: ClaimHolder) {
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

  /** When the lease ends unless it is renewed, by the clock of this process. */
  get leaseEnd(): Instant {
    const { clock, leaseSeconds } = this.parts;
    return Math.min(this.requestedAt, clock.now()) + leaseSeconds * 1000; // the clock may have gone back
  }

  /** True when this process certainly holds the claim. A claim that the store cannot confirm counts as fenced. */
  isHeld(): boolean | Promise<boolean> {
    return this.isLeaseValid || this.renewOrFence();
  }

  /** Renews the claim and reads the inbox. Returns false when the renewal failed. */
  async renew(): Promise<boolean> {
    return (await this.tryToRenew()) === undefined;
  }

  /** Renews the claim and reads the inbox at once. A look during a heartbeat follows it. */
  look(): void {
    this.mustLook = true;
    if (this.isBeating || this.isOver) return;
    this.noticeStandstill();
    this.stopHeartbeat();
    void this.heartbeat();
  }

  /**
   * Tells the store that the worker now works on other sessions too. When the store does not reply, the next renewal
   * tells it. Returns false in that case.
   */
  share(): Promise<boolean> {
    this.isShared = true;
    return this.renew();
  }

  /**
   * Releases the claim, and returns true. Returns false when items wait in the inbox, or the claim was no longer valid.
   * When the store does not reply, it returns true, and the claim expires.
   */
  async releaseIfIdle(): Promise<boolean> {
    const isReleased = await this.parts.store
      .release(this.claim, { onlyIfIdle: true, ...this.releaseOptions() })
      .catch(() => undefined);
    if (isReleased) this.abandon();
    return isReleased ?? true;
  }

  /** Releases the claim, so that other workers need not wait until it expires. */
  async release(): Promise<void> {
    if (this.isOver) return;
    const options = this.releaseOptions();
    this.abandon();
    await this.parts.store.release(this.claim, options).catch(() => false);
  }

  /** Lets the claim expire. */
  abandon(): void {
    this.isOver = true;
    this.stopHeartbeat();
  }

  /**
   * True when no other worker can have the session, by the clock of this process. A clock that went back makes it
   * false.
   */
  private get isLeaseValid(): boolean {
    const now = this.parts.clock.now();
    return now >= this.requestedAt && now < this.leaseEnd;
  }

  private releaseOptions(): ReleaseOptions {
    this.noticeStandstill();
    return { base: this.holder.base(), ...(this.isSuspect && { isSuspect: true }) };
  }

  /** Returns true when the timer of the claim is late by more than a third of the lease. */
  private noticeStandstill(): boolean {
    const { tickDueAt, parts } = this;
    const milliseconds = timerTime(parts.clock) - (tickDueAt ?? Infinity);
    if (milliseconds <= Math.max(LEAST_STANDSTILL_MS, this.interval)) return false;
    this.tickDueAt = undefined; // once
    this.isSuspect = true;
    this.holder.onStandstill(milliseconds / 1000);
    return true;
  }

  private async renewOrFence(): Promise<boolean> {
    const problem = await this.tryToRenew();
    if (problem !== undefined) this.holder.onFenced(problem.error);
    return problem === undefined;
  }

  /** Renews the claim and reads the inbox. Returns the error of a failed renewal. */
  private async tryToRenew(): Promise<{ readonly error: unknown } | undefined> {
    const { isShared, isSuspect } = this;
    const { store, clock, leaseSeconds } = this.parts;
    const requestedAt = clock.now();
    try {
      const renewed = await store.renew(this.claim, {
        ...(isShared && { isShared }),
        ...(isSuspect && { isSuspect }),
        leaseSeconds,
        after: this.lastReadPosition,
        base: this.holder.base(),
      });
      this.claim = renewed.claim;
      if (isSuspect) this.isSuspect = false;
      this.requestedAt = requestedAt;
      this.hasMore = renewed.inbox.length + renewed.unreadable.length === INBOX_PAGE;
      this.holder.onInboxPage(this.onlyNew(renewed));
      return undefined;
    } catch (error) {
      if (!isUnreachable(error) && !this.isOver) this.holder.onFenced(error);
      return { error };
    }
  }

  /** Returns the items that were not read before: two renewals may overlap. */
  private onlyNew({ inbox, unreadable }: InboxPage): InboxPage {
    const { lastReadPosition } = this;
    const isNew = ({ position }: { readonly position: number }): boolean => position > lastReadPosition;
    for (const { position } of [...inbox, ...unreadable])
      this.lastReadPosition = Math.max(this.lastReadPosition, position);
    return { inbox: inbox.filter(isNew), unreadable: unreadable.filter(isNew) };
  }

  private scheduleHeartbeat(): void {
    this.scheduleTick(TICKS, timerTime(this.parts.clock) + this.interval);
  }

  /** Schedules one of the remaining ticks. The last one is a heartbeat, as is one that comes at `beatAt` or later. */
  private scheduleTick(remaining: number, beatAt: number): void {
    const { clock } = this.parts;
    const delay = this.interval / TICKS;
    this.tickDueAt = timerTime(clock) + delay;
    this.stopHeartbeat = callAfter(clock, delay, () => {
      const isBeat = this.noticeStandstill() || remaining === 1 || timerTime(clock) >= beatAt;
      if (isBeat) void this.heartbeat();
      else this.scheduleTick(remaining - 1, beatAt);
    });
  }

  /** The time between two heartbeats, in milliseconds. */
  private get interval(): number {
    return (this.parts.leaseSeconds * 1000) / 3;
  }

  /** Renews the claim and reads the whole inbox, page by page: a stop must not wait behind many messages. */
  private async heartbeat(): Promise<void> {
    this.isBeating = true;
    this.tickDueAt = undefined;
    let problem: { readonly error: unknown } | undefined;
    do {
      this.mustLook = false;
      problem = await this.tryToRenew();
    } while (problem === undefined && (this.hasMore || this.mustLook) && !this.isOver);
    this.isBeating = false;
    const isLost = problem !== undefined && !isUnreachable(problem.error);
    if (!isLost && !this.isOver) this.scheduleHeartbeat();
  }
}
