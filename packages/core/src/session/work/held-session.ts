import type { Instant } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import { abortKind, RunAbort, unlessAborted } from '../../loop/stopping/abort.ts';
import type { AgentLoop, RunOptions } from '../../loop/agent-loop.ts';
import type { Checkpoint, CheckpointPoint } from '../../loop/steps/checkpoint.ts';
import { spentOf } from '../session-totals.ts';
import type { AgentEventListener, EventSession } from '../../loop/steps/events.ts';
import { nextAction } from '../../loop/steps/stepper.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { isUnreachable, standstillError } from '../session-errors.ts';
import type { ClaimedSession, InboxPage } from '../session-claim.ts';
import type { AgentSession } from '../session.ts';
import { ClaimChannel } from '../claim/claim-channel.ts';
import { HeldClaim } from '../claim/held-claim.ts';
import { ReceivedItems, type RunningExecution } from '../claim/received-items.ts';
import { loopFrom } from './agent-catalog.ts';
import type { PrepareAgent } from './ready-agent.ts';
import { savesAt } from '../claim/save-policy.ts';
import { callHookAfterWrite, callSessionHook } from '../session-events.ts';
import { SessionWriter, type SaveLease } from '../claim/session-writer.ts';
import type { WorkParts } from './work-parts.ts';
import type { SuspectPolicy, WorkSlot } from '../claim/work-slots.ts';

/** How to save. */
interface SaveManner {
  /** How long a save is repeated: until the lease ends (default), or three times. */
  readonly patience?: 'lease' | 'brief';
  /** Where in a run. */
  readonly checkpoint?: CheckpointPoint;
}

/** The worker that claims a session, and the limits of its work. */
export interface ClaimRequest {
  readonly workerId: string;
  /** When to work on the session although its last worker died. */
  readonly suspects: SuspectPolicy;
  /** Aborts the run of the agent. */
  readonly signal?: AbortSignal | undefined;
  /** The number of steps after which the worker yields. Default: no limit. */
  readonly maxSteps?: number | undefined;
}

/**
 * A session under a claim of this process, which a heartbeat renews. Each save passes the epoch of the claim. The
 * worker uses inbox items between two steps. The save with the effect of an item removes it from the inbox.
 */
export class HeldSession {
  /** The session as it was last saved. */
  latest: AgentSession;
  /**
   * Aborts with the task's signal, when another worker may have the session, and when an inbox item requests a stop.
   */
  readonly signal: AbortSignal;
  readonly attempt: number;
  /** True when the record has a failure of earlier work. */
  readonly hasFailedBefore: boolean;
  /** True once the agent has run under this claim. */
  hasRun = false;
  /** The session with which the run in progress began, when it was not saved before: the run itself has only its state. */
  private unsaved: AgentSession | undefined;
  private readonly parts: WorkParts;
  private readonly abortController = new AbortController();
  private readonly claim: HeldClaim;
  private readonly channel: ClaimChannel;
  private readonly slot: WorkSlot;
  private readonly inbox = new ReceivedItems();
  private readonly writer: SessionWriter;
  /** The execution of the run in progress. */
  private running: RunningExecution | undefined;
  /** The session as the last event showed it. */
  private shownInEvents: EventSession | undefined;
  private remainingSteps: number;
  private failure: { readonly error: unknown } | undefined;

  private constructor(
    { claimed, requestedAt, slot }: GrantedClaim,
    { signal, maxSteps = Infinity, suspects }: ClaimRequest,
    parts: WorkParts,
  ) {
    this.parts = parts;
    this.slot = slot;
    this.remainingSteps = maxSteps;
    this.latest = claimed.session;
    this.writer = new SessionWriter(claimed, parts);
    this.attempt = claimed.attempt;
    this.hasFailedBefore = claimed.failure !== undefined;
    this.signal = signal
      ? AbortSignal.any([signal, this.abortController.signal])
      : this.abortController.signal;
    this.claim = new HeldClaim(claimed, requestedAt, parts, {
      onInboxPage: (page) => this.receive(page),
      onFenced: (error) => this.abandonRun(error),
      onStandstill: (seconds) => this.noteStandstill(seconds, suspects === 'refuse'),
      base: () => this.writer.base,
    });
    this.channel = new ClaimChannel(claimed, parts, () => this.claim.look());
  }

  /**
   * Claims a session.
   * @throws SessionBusyError while another worker holds it; SessionSuspectError when its last worker died and this one may
   * not work on it now; SessionNotFoundError; what the `afterLoad` hook throws.
   */
  static async claim(sessionId: string, request: ClaimRequest, parts: WorkParts): Promise<HeldSession> {
    const { hooks, report } = parts;
    const granted = await requestClaim(sessionId, request, parts);
    const { claimed } = granted;
    const held = new HeldSession(granted, request, parts);
    const share = claimed.claim.isAlone ? () => held.claim.share() : undefined;
    await unlessAborted(granted.slot.claimed(share), held.signal).catch(() => undefined);
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

  /** Returns the session after using the inbox items that can be used now. The next save removes the used items. */
  async withInbox(session: AgentSession): Promise<AgentSession> {
    const { clock, report, agents } = this.parts;
    const parts = { clock, loop: () => loopFrom(agents, session) };
    return this.inbox.apply(session, parts, (item, reason) =>
      report({ type: 'inbox-item-ignored', session, item, reason }),
    );
  }

  /** Runs the agent until its execution ends, waits or yields, and saves as the save policy sets. */
  async run(
    session: AgentSession,
    prepare: PrepareAgent,
    onEvent: AgentEventListener | undefined,
  ): Promise<AgentSession> {
    const previousState = this.latest.state;
    const isSaved = session === this.latest || this.parts.savePolicy === 'end';
    const savedSession = isSaved ? session : await this.save(session);
    this.unsaved = savedSession;
    const { loop, runContext } = await prepare(savedSession);
    const { budget, pastTotals } = savedSession;
    const limits = budget && { budget: budget.remaining(spentOf(pastTotals)) };
    const options = { previousState, onEvent: this.channel.listener(onEvent), runContext, ...limits };
    const state = await this.stateAfterRun(loop, savedSession.state, options);
    if (this.failure) throw this.failure.error as Error;
    if (abortKind(this.signal) === 'lost') return this.latest;
    this.inbox.endRun(!state.hasActiveExecution);
    return this.saveChanges(this.current.withStatus(savedSession.status).withState(state));
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
    this.channel.follow(session);
    const used = this.inbox.takeUsed();
    let saved: AgentSession;
    try {
      const lease = patience === 'lease' ? this.lease : undefined;
      saved = await this.writer.write(session, used, { lease, checkpoint });
    } catch (error) {
      this.inbox.restoreUsed(used);
      throw error;
    }
    this.parts.cache.put(this.writer.base);
    // The session gets the written state, not an equal one that the store read back: the run shares structure with it.
    this.latest = saved.withState(session.state);
    this.unsaved = undefined;
    this.channel.noteSaved(this.latest);
    await callHookAfterWrite(this.parts, 'afterSave', this.latest);
    return this.latest;
  }

  /**
   * Removes the largest used item from the inbox, without its effect, when only inbox items made the session too large
   * to save. Otherwise no worker could work on the session again. Returns false for any other error, and when the item
   * could not be removed.
   */
  async dropTooLargeItem(error: unknown): Promise<boolean> {
    if (this.hasRun || !hasErrorCode(error, 'SESSION_TOO_LARGE')) return false;
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

  /** Releases the claim. Returns false when a usable item was enqueued: the claim then stays. */
  async releaseIfIdle(): Promise<boolean> {
    this.channel.flush();
    if (await this.claim.releaseIfIdle()) return true;
    while (!this.inbox.hasUnused) {
      const isRenewed = await this.claim.renew();
      if (!isRenewed || !this.claim.hasMore) break;
    }
    return !this.inbox.hasUnused;
  }

  /** Releases the claim, even if items wait in the inbox. */
  async release(): Promise<void> {
    this.channel.close();
    await this.claim.release();
    this.slot.leave();
  }

  /** Lets the claim expire: the session is then a suspect, as if this worker had died. */
  abandon(): void {
    this.channel.close();
    this.claim.abandon();
    this.slot.leave();
  }

  private get current(): AgentSession {
    return this.unsaved ?? this.latest;
  }

  private async stateAfterRun(loop: AgentLoop, state: AgentState, options: RunOptions): Promise<AgentState> {
    const { signal, checkpoint, session } = this;
    this.hasRun = true;
    this.running = { executionId: state.hasActiveExecution ? state.executionId : undefined };
    try {
      return await loop.run(state, { onExhausted: 'suspend', ...options, signal, checkpoint, session });
    } finally {
      this.running = undefined;
    }
  }

  /** Returns the session for an event. The events between two saves share it. */
  private readonly session = (): EventSession => {
    const { sessionId, version } = this.latest;
    if (this.shownInEvents?.version !== version)
      this.shownInEvents = Object.freeze({ sessionId, epoch: this.claim.epoch, version });
    return this.shownInEvents;
  };

  private readonly lease: SaveLease = {
    endsAt: () => this.claim.leaseEnd,
    failure: () => this.failure,
  };

  private readonly checkpoint: Checkpoint = {
    save: async (state, point) => {
      if (this.running) this.running = { executionId: state.executionId };
      const isBetweenSteps = point === 'step' && state.currentStep === undefined; // not a step of a subagent
      const hasNextStep = isBetweenSteps && nextAction(state).type === 'beginStep';
      if (hasNextStep && --this.remainingSteps <= 0) this.abortController.abort(new RunAbort('yield'));
      const session = this.current.withState(state);
      const ready = isBetweenSteps && this.inbox.hasUnused ? await this.withInbox(session) : session;
      const isDue = savesAt(this.parts.savePolicy, point) || this.inbox.hasUsed;
      return (isDue ? await this.saveDuringRun(ready, point) : ready).state;
    },
    mayAct: () => this.claim.isHeld(),
  };

  private async saveDuringRun(session: AgentSession, checkpoint: CheckpointPoint): Promise<AgentSession> {
    const mayContinue = this.parts.onSaveFailure === 'continue';
    try {
      return await this.saveChanges(session, { patience: mayContinue ? 'brief' : 'lease', checkpoint });
    } catch (error) {
      if (mayContinue && isUnreachable(error)) {
        this.parts.report({ type: 'session-save-failed', session, error });
        return session;
      }
      this.abandonRun(error);
      throw error;
    }
  }

  private receive({ inbox, unreadable }: InboxPage): void {
    const { latest: session, parts } = this;
    for (const { position, error } of unreadable)
      parts.report({ type: 'inbox-item-unreadable', session, position, error });
    const stop = this.inbox.receive(inbox, this.running);
    if (stop !== undefined) this.abortController.abort(new RunAbort('cancel', stop));
  }

  /** Ends the work in a process with other sessions: the session may stop them again. */
  private noteStandstill(seconds: number, mustYield: boolean): void {
    const { latest: session, parts, abortController } = this;
    parts.report({ type: 'worker-stood-still', session, error: standstillError(session.sessionId, seconds) });
    if (mustYield) abortController.abort(new RunAbort('yield'));
  }

  private abandonRun(error: unknown): void {
    this.failure ??= { error };
    this.channel.close({ isFenced: true });
    this.abortController.abort(new RunAbort('lost'));
  }
}

/** A claim, and the place of the work under it. */
interface GrantedClaim {
  readonly claimed: ClaimedSession;
  /** When the claim was requested. */
  readonly requestedAt: Instant;
  readonly slot: WorkSlot;
}

async function requestClaim(
  sessionId: string,
  { workerId, suspects }: ClaimRequest,
  { store, leaseSeconds, clock, cache, slots }: WorkParts,
): Promise<GrantedClaim> {
  const slot = slots.enter(suspects, sessionId);
  try {
    const requestedAt = clock.now();
    const base = cache.get(sessionId);
    const { ifSuspect } = slot;
    const claimed = await store.claim(sessionId, { workerId, leaseSeconds, base, ifSuspect });
    cache.put(claimed.session);
    return { claimed, requestedAt, slot };
  } catch (error) {
    slot.leave();
    throw error;
  }
}
