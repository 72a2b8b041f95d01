import type { Clock, Instant } from '../clock.ts';
import { callAfter } from '../clock.ts';
import { hasErrorCode } from '../errors.ts';
import { abortKind, RunAbort } from '../loop/abort.ts';
import type { AgentLoop } from '../loop/agent-loop.ts';
import type { Checkpoint, CheckpointPoint } from '../loop/checkpoint.ts';
import type { AgentEventListener } from '../loop/events.ts';
import { mustWait, stopReasonOf, withInboxItem } from './inbox.ts';
import type { SessionConflictError } from './session-errors.ts';
import type { SessionEvent, SessionHooks } from './session-events.ts';
import { afterWrite } from './session-events.ts';
import type { AgentSession } from './session.ts';
import type { ClaimedSession, InboxItem, SessionClaim, SessionStore } from './session-store.ts';

/**
 * How much of a run may be done twice after a crash. `each-effect`: nothing that has effects; kept after every answer of
 * the model, before a tool with effects is called, and after it. `each-step`: a step. `end`: all of it.
 */
export type SavePolicy = 'each-effect' | 'each-step' | 'end';

/** What a runtime gives to each piece of work. */
export interface WorkParts {
  readonly store: SessionStore;
  readonly hooks: SessionHooks;
  readonly report: (event: SessionEvent) => void;
  readonly clock: Clock;
  readonly savePolicy: SavePolicy;
  readonly onSaveFailure: 'stop' | 'continue';
  readonly leaseSeconds: number;
}

/** What is given to one piece of work. */
export interface WorkOptions {
  readonly signal?: AbortSignal | undefined;
  /** Steps to take before the session is left to whoever comes next. */
  readonly maxSteps?: number | undefined;
}

const POINTS: Readonly<Record<SavePolicy, readonly CheckpointPoint[]>> = {
  'each-effect': ['inference', 'intent', 'outcome', 'step'],
  'each-step': ['step'],
  end: [],
};

const SAVE_ATTEMPTS = 3;

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
  private readonly parts: WorkParts;
  private readonly own = new AbortController();
  private base: AgentSession;
  private claim: SessionClaim;
  /** By this process's clock: until then nobody else can have the session. */
  private heldUntil: Instant;
  private readonly unused = new Map<string, InboxItem>();
  /** Items that are in the session, and leave the inbox with the next save. */
  private taken: string[] = [];
  /** Items that have aborted the run. */
  private stops: string[] = [];
  private isRunning = false;
  private hasEnded = false;
  private stepsLeft: number;
  private stopBeating: () => void = () => undefined;
  private failure: unknown;

  private constructor(claimed: ClaimedSession, askedAt: Instant, parts: WorkParts, options: WorkOptions) {
    const { signal, maxSteps = Infinity } = options;
    this.parts = parts;
    this.stepsLeft = maxSteps;
    this.latest = this.base = claimed.session;
    this.claim = claimed.claim;
    this.attempt = claimed.attempt;
    this.heldUntil = askedAt + parts.leaseSeconds * 1000;
    this.signal = signal ? AbortSignal.any([signal, this.own.signal]) : this.own.signal;
    this.receive(claimed.inbox);
  }

  /** @throws SessionBusyError while somebody else works on it; SessionNotFoundError. */
  static async begin(
    sessionId: string,
    owner: string,
    parts: WorkParts,
    options: WorkOptions = {},
  ): Promise<SessionWork> {
    const { store, leaseSeconds, clock, hooks, report } = parts;
    const askedAt = clock.now();
    const claimed = await store.claim(sessionId, { owner, leaseSeconds });
    const work = new SessionWork(claimed, askedAt, parts, options);
    report({ type: 'session-loaded', session: claimed.session });
    work.beat();
    try {
      work.latest = (await hooks.afterLoad?.(claimed.session)) ?? claimed.session;
    } catch (error) {
      await work.end();
      throw error;
    }
    return work;
  }

  /** The session with what has come in, as far as it can be used now. The next save takes it out of the inbox. */
  withMail(session: AgentSession): AgentSession {
    let { state } = session;
    for (const item of this.unused.values()) {
      if (mustWait(state, item)) continue;
      const used = withInboxItem(state, item, this.parts.clock);
      this.unused.delete(item.id);
      this.taken.push(item.id);
      state = used.state;
      if (used.ignored !== undefined)
        this.parts.report({ type: 'inbox-item-ignored', session, item, reason: used.ignored });
    }
    return session.withState(state);
  }

  /** Saves. @throws what the store throws after retries; from then on the claim is taken for lost. */
  async save(changed: AgentSession): Promise<AgentSession> {
    const { hooks, report } = this.parts;
    const session = (await hooks.beforeSave?.(changed)) ?? changed;
    const taken = this.taken;
    this.taken = [];
    try {
      this.base = await this.write(session, taken);
    } catch (error) {
      this.taken = [...taken, ...this.taken];
      if (hasErrorCode(error, 'SESSION_CONFLICT'))
        report({ type: 'session-conflict', session, error: error as SessionConflictError });
      throw error;
    }
    report({ type: 'session-saved', session: this.base });
    // The state that was written, not an equal one that the store read back: the run shares structure with it.
    this.latest = this.base.withState(session.state);
    await afterWrite(this.parts, 'afterSave', this.latest);
    return this.latest;
  }

  /** Lets the agent work on a session until it ends, waits, or must be left; keeps it as the policy says. */
  async run(
    session: AgentSession,
    loopOf: (session: AgentSession) => AgentLoop,
    onEvent?: AgentEventListener,
  ): Promise<AgentSession> {
    const isKept = session === this.latest || this.parts.savePolicy === 'end';
    const begun = isKept ? session : await this.save(session);
    const { signal, checkpoint } = this;
    this.isRunning = true;
    const state = await loopOf(begun)
      .run(begun.state, { signal, onEvent, checkpoint })
      .finally(() => {
        this.isRunning = false;
      });
    if (this.failure !== undefined) throw this.failure as Error;
    if (this.isLost) return this.latest;
    this.taken.push(...this.stops.splice(0));
    const ended = this.latest.withStatus(begun.status).withState(state);
    return ended === this.latest && this.taken.length === 0 ? ended : this.save(ended);
  }

  private readonly checkpoint: Checkpoint = {
    save: async (state, point) => {
      if (point === 'step' && --this.stepsLeft <= 0) this.own.abort(new RunAbort('yield'));
      const session = this.latest.withState(state);
      const ready = point === 'step' ? this.withMail(session) : session;
      const isDue = POINTS[this.parts.savePolicy].includes(point) || this.taken.length > 0;
      if (ready === this.latest || !isDue) return ready.state;
      try {
        return (await this.save(ready)).state;
      } catch (error) {
        if (this.parts.onSaveFailure === 'continue' && isUnreachable(error)) {
          this.parts.report({ type: 'session-save-failed', session: ready, error });
          return ready.state;
        }
        this.lose(error);
        throw error;
      }
    },
    mayAct: () => this.parts.clock.now() < this.heldUntil || this.renew(),
  };

  /** Lets `act` work on the session until nothing is left in the inbox, and ends the work. */
  async untilIdle(
    act: (session: AgentSession) => Promise<AgentSession>,
    done?: AgentSession,
  ): Promise<AgentSession> {
    let session = done ?? (await act(this.latest));
    while (!this.signal.aborted && !(await this.finish())) session = await act(this.withMail(session));
    await this.end();
    return session;
  }

  /** Ends the work, so that others need not wait for the lease. `false` when something has come in: the claim stays. */
  private async finish(): Promise<boolean> {
    if (await this.parts.store.release(this.claim, { onlyIfIdle: true })) return true;
    return !((await this.renew()) && this.unused.size > 0);
  }

  /** Ends the work, whatever has come in. */
  async end(): Promise<void> {
    this.hasEnded = true;
    this.stopBeating();
    await this.parts.store.release(this.claim).catch(() => false); // the lease runs out by itself
  }

  /** Ends the work without a word: the claim runs out, and counts as an attempt that has failed. */
  abandon(): void {
    this.hasEnded = true;
    this.stopBeating();
  }

  private get isLost(): boolean {
    return abortKind(this.signal) === 'lost';
  }

  private async write(session: AgentSession, acknowledge: readonly string[]): Promise<AgentSession> {
    const { store, clock } = this.parts;
    const options = { base: this.base, operationId: clock.newId(), epoch: this.claim.epoch, acknowledge };
    for (let attempt = 1; ; attempt++) {
      try {
        return await store.save(session, options);
      } catch (error) {
        if (attempt === SAVE_ATTEMPTS || !isUnreachable(error)) throw error;
        await new Promise<void>((resolve) => callAfter(clock, 100 * 4 ** (attempt - 1), resolve));
      }
    }
  }

  private receive(items: readonly InboxItem[]): void {
    for (const item of items) {
      const isKnown = this.unused.has(item.id) || [...this.taken, ...this.stops].includes(item.id);
      if (isKnown) continue;
      const reason = this.isRunning ? stopReasonOf(item) : undefined;
      if (reason === undefined) {
        this.unused.set(item.id, item);
        continue;
      }
      this.stops.push(item.id);
      this.own.abort(new RunAbort('cancel', reason));
    }
  }

  private beat(): void {
    const { clock, leaseSeconds } = this.parts;
    this.stopBeating = callAfter(clock, (leaseSeconds * 1000) / 3, () => {
      void this.renew().finally(() => {
        if (!this.isLost && !this.hasEnded) this.beat();
      });
    });
  }

  /** Makes the claim last longer, and looks into the inbox. `false` when the session is somebody else's. */
  private async renew(): Promise<boolean> {
    const { store, clock, leaseSeconds } = this.parts;
    const askedAt = clock.now();
    try {
      const { claim, inbox } = await store.renew(this.claim, { leaseSeconds });
      this.claim = claim;
      this.heldUntil = askedAt + leaseSeconds * 1000;
      this.receive(inbox);
      return true;
    } catch (error) {
      if (!isUnreachable(error)) this.lose(error);
      return clock.now() < this.heldUntil;
    }
  }

  private lose(error: unknown): void {
    this.failure ??= error;
    this.own.abort(new RunAbort('lost'));
  }
}

function isUnreachable(error: unknown): boolean {
  return hasErrorCode(error, 'STORE_UNAVAILABLE') || hasErrorCode(error, 'STORE_THROTTLED');
}
