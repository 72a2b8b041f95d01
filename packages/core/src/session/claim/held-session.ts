import { backoff, jitterOf } from '../../backoff.ts';
import type { SessionChannel } from '../../channel/session-channel.ts';
import { onLook } from '../../channel/quiet-calls.ts';
import { SessionPublisher } from '../../channel/session-publisher.ts';
import { pause, type Clock } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import type { AgentEventListener, EventSession } from '../../loop/steps/events.ts';
import { RunAbort, unlessAborted } from '../../loop/stopping/abort.ts';
import { standstillError, type SessionBusyError } from '../session-errors.ts';
import { callHookAfterWrite, callSessionHook } from '../session-events.ts';
import type { ClaimedSession, InboxPage } from '../session-claim.ts';
import type { AgentSession } from '../session.ts';
import { HeldClaim, type HeldClaimParts } from './held-claim.ts';
import { ReceivedItems, type RunningExecution } from './received-items.ts';
import type { SessionCache } from './session-cache.ts';
import { SessionWriter, type SaveLease, type WriterParts } from './session-writer.ts';
import type { SuspectPolicy, WorkSlot, WorkSlots } from './work-slots.ts';

export interface ClaimParts extends HeldClaimParts, WriterParts {
  readonly channel: SessionChannel | undefined;
  /** The sessions that this process has read or saved last. */
  readonly cache: Pick<SessionCache, 'get' | 'put'>;
  /** The sessions that the runtime works on now. */
  readonly slots: WorkSlots;
}

interface SaveManner {
  /** How long a save is repeated: until the lease ends (default), or three times. */
  readonly patience?: 'lease' | 'brief';
  /** Where in a run. */
  readonly checkpoint?: string;
}

/** The worker that claims a session. */
export interface ClaimRequest {
  readonly workerId: string;
  /** When to work on the session although its last worker died. */
  readonly suspects: SuspectPolicy;
  /** Aborts the work. */
  readonly signal?: AbortSignal | undefined;
}

/** How long a caller waits for a busy session. */
interface BusyRetryOptions {
  readonly waitSeconds: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** The pauses between two attempts, which are short: the claim may be released at any moment. */
const PAUSES_MS = { first: 25, longest: 1_000 };

/**
 * Does work that needs a session for itself, as soon as no other worker holds a claim.
 * @throws the last error of the work.
 */
export async function retryWhileBusy<T>(
  work: () => Promise<T>,
  { waitSeconds, signal, clock }: BusyRetryOptions,
): Promise<T> {
  const end = clock.now() + waitSeconds * 1000;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const now = clock.now();
      if (now >= end || signal?.aborted || !hasErrorCode(error, 'SESSION_BUSY')) throw error;
      // No worker renews the claim of a process that died: it expires at `until`, by the clock of the store.
      const untilFree = Math.max(PAUSES_MS.first, (error as SessionBusyError).until - now);
      // Callers that wait for one session must not retry at the same time.
      const jittered = backoff(PAUSES_MS, attempt) * jitterOf(clock.newId());
      if (!(await pause(clock, Math.min(jittered, untilFree, end - now), signal))) throw error;
    }
  }
}

/**
 * A session under a claim of this process, which a heartbeat renews. Each save passes the epoch of the claim. The save
 * with the effect of an inbox item removes it from the inbox.
 */
export class HeldSession {
  /** The session as it was last saved. */
  latest: AgentSession;
  /**
   * Aborts with the request's signal, when another worker may have the session, and when an inbox item requests a stop.
   */
  readonly signal: AbortSignal;
  readonly attempt: number;
  /** True when the record has a failure of earlier work. */
  readonly hasFailedBefore: boolean;
  /** The items that the worker has read. It uses them between two steps. */
  readonly inbox = new ReceivedItems();
  /** The execution of the run in progress, which a stop in the inbox aborts. */
  running: RunningExecution | undefined;
  private readonly parts: ClaimParts;
  private readonly abortController = new AbortController();
  private readonly claim: HeldClaim;
  private readonly slot: WorkSlot;
  private readonly writer: SessionWriter;
  private readonly publisher: SessionPublisher | undefined;
  private readonly removeListener: (() => void) | undefined;
  /** The session as the last event showed it. */
  private shownInEvents: EventSession | undefined;
  private failure: { readonly error: unknown } | undefined;

  private constructor(
    claimed: ClaimedSession,
    requestedAt: number,
    slot: WorkSlot,
    { signal, suspects }: ClaimRequest,
    parts: ClaimParts,
  ) {
    const { session, attempt, failure } = claimed;
    const { channel, clock } = parts;
    const { sessionId, incarnation, epoch } = claimed.claim;
    this.parts = parts;
    this.slot = slot;
    this.latest = session;
    this.writer = new SessionWriter(claimed, parts);
    this.attempt = attempt;
    this.hasFailedBefore = failure !== undefined;
    this.signal = signal
      ? AbortSignal.any([signal, this.abortController.signal])
      : this.abortController.signal;
    this.claim = new HeldClaim(claimed, requestedAt, parts, {
      onInboxPage: (page) => this.receive(page),
      onFenced: (error) => this.lose(error),
      onStandstill: (seconds) => this.noteStandstill(seconds, suspects === 'refuse'),
      base: () => this.writer.base,
    });
    this.publisher =
      channel && new SessionPublisher({ channel, clock, sessionId, incarnation, epoch }, session);
    this.removeListener = onLook(channel, sessionId, ({ itemId }) => {
      if (itemId === undefined || !this.inbox.hasReceived(itemId)) this.claim.look();
    });
  }

  /**
   * Claims a session.
   * @throws SessionBusyError while another worker holds it; SessionSuspectError when its last worker died and this one may
   * not work on it now; SessionNotFoundError; what the `afterLoad` hook throws.
   */
  static async claim(sessionId: string, request: ClaimRequest, parts: ClaimParts): Promise<HeldSession> {
    const { store, leaseSeconds, clock, cache, slots, hooks, report } = parts;
    const { workerId, suspects } = request;
    const slot = slots.enter(suspects, sessionId);
    const options = { workerId, leaseSeconds, base: cache.get(sessionId), ifSuspect: slot.ifSuspect };
    const requestedAt = clock.now();
    let claimed: ClaimedSession;
    try {
      claimed = await store.claim(sessionId, options);
    } catch (error) {
      slot.leave();
      throw error;
    }
    cache.put(claimed.session);
    const held = new HeldSession(claimed, requestedAt, slot, request, parts);
    const share = claimed.claim.isAlone ? () => held.claim.share() : undefined;
    await unlessAborted(slot.claimed(share), held.signal).catch(() => undefined);
    report({ type: 'session-loaded', session: claimed.session });
    held.receive(claimed);
    try {
      held.latest = await callSessionHook(hooks, 'afterLoad', claimed.session);
    } catch (error) {
      await held.release();
      throw error;
    }
    return held;
  }

  /** Saves the session if it was changed or an inbox item was used. @throws as `save` does. */
  async saveChanges(session: AgentSession, manner?: SaveManner): Promise<AgentSession> {
    return session === this.latest && !this.inbox.hasUsed ? session : this.save(session, manner);
  }

  /** Saves the session. @throws what the store throws after retries, and what the `beforeSave` hook throws. */
  async save(
    changed: AgentSession,
    { patience = 'lease', checkpoint }: SaveManner = {},
  ): Promise<AgentSession> {
    const session = await callSessionHook(this.parts.hooks, 'beforeSave', changed);
    this.publisher?.follow(session.state);
    const used = this.inbox.takeUsed();
    let saved: AgentSession;
    try {
      const lease = patience === 'lease' ? this.lease : undefined;
      saved = await this.writer.write(session, used, lease, checkpoint);
    } catch (error) {
      this.inbox.restoreUsed(used);
      throw error;
    }
    this.parts.cache.put(this.writer.base);
    // The session gets the written state, not an equal one that the store read back: the run shares structure with it.
    this.latest = saved.withState(session.state);
    this.publisher?.noteSaved(this.latest);
    await callHookAfterWrite(this.parts, 'afterSave', this.latest);
    return this.latest;
  }

  /**
   * Removes the largest used item from the inbox, without its effect, when only inbox items made the session too large
   * to save. Otherwise no worker could work on the session again. Returns false for any other error, and when the item
   * could not be removed.
   */
  async dropTooLargeItem(error: unknown): Promise<boolean> {
    if (!hasErrorCode(error, 'SESSION_TOO_LARGE')) return false;
    const { latest: session } = this;
    const item = this.inbox.keepLargestUsed();
    if (item === undefined) return false;
    try {
      await this.save(session);
    } catch {
      return false;
    }
    const { message: reason } = error as Error;
    this.parts.report({ type: 'inbox-item-ignored', session, item, reason });
    return true;
  }

  /** True when this process certainly holds the claim. A claim that the store cannot confirm counts as lost. */
  mayAct(): boolean | Promise<boolean> {
    return this.claim.isHeld();
  }

  /** @throws the error after which another worker may have the session. */
  requireHeld(): void {
    if (this.failure) throw this.failure.error as Error;
  }

  /** Makes the run in progress yield. */
  yield(): void {
    this.abortController.abort(new RunAbort('yield'));
  }

  /** Aborts the work after an error: another worker may have the session. */
  lose(error: unknown): void {
    this.failure ??= { error };
    this.removeListener?.();
    this.publisher?.stop();
    this.abortController.abort(new RunAbort('lost'));
  }

  /** Releases the claim. Returns false when a usable item was enqueued: the claim then stays. */
  async releaseIfIdle(): Promise<boolean> {
    this.publisher?.flush();
    if (await this.claim.releaseIfIdle()) return true;
    while (!this.inbox.hasUnused) {
      const isRenewed = await this.claim.renew();
      if (!isRenewed || !this.claim.hasMore) break;
    }
    return !this.inbox.hasUnused;
  }

  /** Releases the claim, even if items wait in the inbox. */
  async release(): Promise<void> {
    this.removeListener?.();
    this.publisher?.close();
    await this.claim.release();
    this.slot.leave();
  }

  /** Lets the claim expire: the session is then a suspect, as if this worker had died. */
  abandon(): void {
    this.removeListener?.();
    this.publisher?.close();
    this.claim.abandon();
    this.slot.leave();
  }

  /** Returns the listener of a run: the given one, and the publisher. */
  listener(onEvent: AgentEventListener | undefined): AgentEventListener | undefined {
    const { publisher } = this;
    if (publisher === undefined || this.parts.channel?.capabilities.tail !== 'deltas') return onEvent;
    return (event) => {
      publisher.receive(event);
      return onEvent?.(event);
    };
  }

  /** Returns the session for an event. The events between two saves share it. */
  readonly inEvents = (): EventSession => {
    const { sessionId, version } = this.latest;
    if (this.shownInEvents?.version !== version)
      this.shownInEvents = Object.freeze({ sessionId, epoch: this.claim.epoch, version });
    return this.shownInEvents;
  };

  private readonly lease: SaveLease = {
    endsAt: () => this.claim.leaseEnd,
    failure: () => this.failure,
  };

  private receive({ inbox, unreadable }: InboxPage): void {
    const { latest: session, parts } = this;
    for (const { position, error } of unreadable)
      parts.report({ type: 'inbox-item-unreadable', session, position, error });
    const stop = this.inbox.receive(inbox, this.running);
    if (stop !== undefined) this.abortController.abort(new RunAbort('cancel', stop));
  }

  /** Ends the work in a process with other sessions: the session may stop them again. */
  private noteStandstill(seconds: number, mustYield: boolean): void {
    const { latest: session, parts } = this;
    parts.report({ type: 'worker-stood-still', session, error: standstillError(session.sessionId, seconds) });
    if (mustYield) this.yield();
  }
}
