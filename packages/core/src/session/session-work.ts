import type { Instant } from '../clock.ts';
import { hasErrorCode } from '../errors.ts';
import { abortKind, RunAbort } from '../loop/abort.ts';
import type { AgentLoop, RunOptions } from '../loop/agent-loop.ts';
import type { Checkpoint } from '../loop/checkpoint.ts';
import type { AgentEventListener } from '../loop/events.ts';
import { next } from '../loop/stepper.ts';
import type { AgentState } from '../state/agent-state.ts';
import { tellParent } from './children.ts';
import { HeldClaim } from './held-claim.ts';
import { savesAt } from './save-policy.ts';
import { isUnreachable } from './session-errors.ts';
import { afterWrite, hooked } from './session-events.ts';
import { SessionMail } from './session-mail.ts';
import type { AgentSession } from './session.ts';
import type { ClaimedSession, InboxPage } from './session-store.ts';
import type { WorkParts } from './work-parts.ts';
import { SessionWriter } from './session-writer.ts';

/** What is given to one piece of work. */
export interface WorkOptions {
  readonly signal?: AbortSignal | undefined;
  /** Steps to take before the session is left to whoever comes next. */
  readonly maxSteps?: number | undefined;
}

/**
 * One session while one process works on it: under a claim that a heartbeat renews, with each save under its epoch. What
 * comes in from others is taken in between two steps, and leaves the inbox in the save that keeps it.
 */
export class SessionWork {
  /** As it was saved last. */
  latest: AgentSession;
  /** Aborts when the caller's does, when the claim is lost, and when somebody asks for a stop. */
  readonly signal: AbortSignal;
  readonly attempt: number;
  /** Has the agent been let work? */
  hasRun = false;
  private readonly parts: WorkParts;
  private readonly own = new AbortController();
  private readonly claim: HeldClaim;
  private readonly mail = new SessionMail();
  private readonly writer: SessionWriter;
  private isRunning = false;
  private stepsLeft: number;
  private failure: { readonly error: unknown } | undefined;

  private constructor(claimed: ClaimedSession, askedAt: Instant, parts: WorkParts, options: WorkOptions) {
    const { signal, maxSteps = Infinity } = options;
    this.parts = parts;
    this.stepsLeft = maxSteps;
    this.latest = claimed.session;
    this.writer = new SessionWriter(claimed, parts);
    this.attempt = claimed.attempt;
    this.signal = signal ? AbortSignal.any([signal, this.own.signal]) : this.own.signal;
    this.claim = new HeldClaim(claimed, askedAt, parts, {
      received: (page) => this.receive(page),
      lost: (error) => this.lose(error),
      base: () => this.writer.base,
    });
  }

  /** @throws SessionBusyError while somebody else works on it; SessionNotFoundError; what the `afterLoad` hook throws. */
  static async begin(
    sessionId: string,
    owner: string,
    parts: WorkParts,
    options: WorkOptions = {},
  ): Promise<SessionWork> {
    const { store, leaseSeconds, clock, hooks, report } = parts;
    const askedAt = clock.now();
    const base = parts.cache.get(sessionId);
    const claimed = await store.claim(sessionId, { owner, leaseSeconds, base });
    parts.cache.put(claimed.session);
    const work = new SessionWork(claimed, askedAt, parts, options);
    report({ type: 'session-loaded', session: claimed.session });
    work.receive(claimed);
    try {
      work.latest = await hooked(hooks, 'afterLoad', claimed.session);
    } catch (error) {
      await work.end();
      throw error;
    }
    return work;
  }

  /** The session with what has come in, as far as it can be used now. The next save takes it out of the inbox. */
  withMail(session: AgentSession): AgentSession {
    const { clock, report } = this.parts;
    return this.mail.used(session, clock, (item, reason) =>
      report({ type: 'inbox-item-ignored', session, item, reason }),
    );
  }

  /** Saves, if there is anything to save or to take out of the inbox. @throws as `save`. */
  async keep(session: AgentSession): Promise<AgentSession> {
    return session === this.latest && !this.mail.isTaken ? session : this.save(session);
  }

  /** Saves. @throws what the store throws after retries, and what the `beforeSave` hook throws. */
  async save(changed: AgentSession): Promise<AgentSession> {
    const session = await hooked(this.parts.hooks, 'beforeSave', changed);
    const used = this.mail.takeOut();
    let saved: AgentSession;
    try {
      saved = await this.writer.write(session, used);
    } catch (error) {
      this.mail.giveBack(used);
      throw error;
    }
    this.parts.cache.put(this.writer.base);
    // The state that was written, not an equal one that the store read back: the run shares structure with it.
    this.latest = saved.withState(session.state);
    await afterWrite(this.parts, 'afterSave', this.latest);
    return this.latest;
  }

  /**
   * Takes an item out of the inbox, unused, when nothing but what had come in has made the session too large to be kept:
   * else nobody could work on it any more. False when that is not what went wrong.
   */
  async ignoreTooLarge(error: unknown): Promise<boolean> {
    if (this.hasRun || !hasErrorCode(error, 'SESSION_TOO_LARGE')) return false;
    const { latest: session } = this;
    const item = this.mail.leaveLargest();
    if (item === undefined) return false;
    await this.save(session);
    const { message: reason } = error as Error;
    this.parts.report({ type: 'inbox-item-ignored', session, item, reason });
    return true;
  }

  /** Lets the agent work on a session until it ends, waits, or must be left; keeps it as the policy says. */
  async run(
    session: AgentSession,
    loopOf: (session: AgentSession) => AgentLoop,
    onEvent?: AgentEventListener,
  ): Promise<AgentSession> {
    const since = this.latest.state;
    const isKept = session === this.latest || this.parts.savePolicy === 'end';
    const begun = isKept ? session : await this.save(session);
    const state = await this.ran(loopOf(begun), begun.state, { since, onEvent });
    if (this.failure) throw this.failure.error as Error;
    if (abortKind(this.signal) === 'lost') return this.latest;
    this.mail.endRun(!state.hasActiveExecution);
    return this.keep(this.latest.withStatus(begun.status).withState(state));
  }

  private async ran(loop: AgentLoop, state: AgentState, options: RunOptions): Promise<AgentState> {
    const { signal, checkpoint } = this;
    this.isRunning = this.hasRun = true;
    try {
      return await loop.run(state, { ...options, signal, checkpoint });
    } finally {
      this.isRunning = false;
    }
  }

  private readonly checkpoint: Checkpoint = {
    save: async (state, point) => {
      const isBetweenSteps = point === 'step' && state.currentStep === undefined; // a subagent has steps within one
      const hasMore = isBetweenSteps && next(state).type === 'beginStep';
      if (hasMore && --this.stepsLeft <= 0) this.own.abort(new RunAbort('yield'));
      const session = this.latest.withState(state);
      const ready = isBetweenSteps ? this.withMail(session) : session;
      const isDue = savesAt(this.parts.savePolicy, point) || this.mail.isTaken;
      return (isDue ? await this.saveOnTheWay(ready) : ready).state;
    },
    mayAct: () => this.claim.isHeld(),
  };

  private async saveOnTheWay(session: AgentSession): Promise<AgentSession> {
    try {
      return await this.keep(session);
    } catch (error) {
      if (this.parts.onSaveFailure === 'continue' && isUnreachable(error)) {
        this.parts.report({ type: 'session-save-failed', session, error });
        return session;
      }
      this.lose(error);
      throw error;
    }
  }

  /**
   * Lets `act` work on the session until nothing is left in the inbox, and ends the work. One that is put aside leaves
   * its inbox as it is.
   */
  async untilIdle(
    act: (session: AgentSession) => Promise<AgentSession>,
    done?: AgentSession,
  ): Promise<AgentSession> {
    let session = done ?? (await act(this.latest));
    while (!(await this.isDone(session))) session = await act(this.withMail(session));
    await this.end();
    return session;
  }

  private async isDone(session: AgentSession): Promise<boolean> {
    try {
      await tellParent(session, this.parts.store);
    } catch (error) {
      this.abandon(); // so that somebody looks at the session again
      throw error;
    }
    return session.status !== 'active' || this.signal.aborted || this.isIdle();
  }

  /** Ends the work, so that others need not wait for the lease. `false` when something has come in: the claim stays. */
  private async isIdle(): Promise<boolean> {
    if (await this.claim.releaseIfIdle()) return true;
    while (!this.mail.isWaiting) {
      const isRenewed = await this.claim.renew();
      if (!isRenewed || !this.claim.hasMore) break;
    }
    return !this.mail.isWaiting;
  }

  /** Ends the work, whatever has come in. */
  end(): Promise<void> {
    return this.claim.release();
  }

  /** Ends the work without a word: the claim runs out, and counts as an attempt that has failed. */
  abandon(): void {
    this.claim.abandon();
  }

  private receive({ inbox, unreadable }: InboxPage): void {
    const { latest: session, parts } = this;
    for (const { position, error } of unreadable)
      parts.report({ type: 'inbox-item-unreadable', session, position, error });
    const stop = this.mail.receive(inbox, this.isRunning);
    if (stop !== undefined) this.own.abort(new RunAbort('cancel', stop));
  }

  private lose(error: unknown): void {
    this.failure ??= { error };
    this.own.abort(new RunAbort('lost'));
  }
}
