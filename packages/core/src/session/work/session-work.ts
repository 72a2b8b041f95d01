import { hasErrorCode, HoldfastError } from '../../errors.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import type { InternalRunOptions } from '../../loop/run/loop-parts.ts';
import type { Checkpoint, CheckpointPoint } from '../../loop/steps/checkpoint.ts';
import { joinedListener, type AgentEventListener } from '../../loop/steps/events.ts';
import { applyOutcome, nextAction } from '../../loop/steps/stepper.ts';
import { abortKind } from '../../loop/stopping/abort.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { stopSignal } from '../../state/execution/continuation.ts';
import { newStepMessageIds } from '../../state/execution/step-output.ts';
import type { ActionContext } from '../actions/actions.ts';
import type { ClaimRequest, HeldSession } from '../claim/held-session.ts';
import { isUnreachable } from '../session-errors.ts';
import type { SaveParts } from '../claim/session-writer.ts';
import { spentOf } from '../session-totals.ts';
import type { AgentSession } from '../session.ts';
import type { Agents } from './agents.ts';
import { notifyParent, withoutEndedChildren, type ChildrenParts } from './children.ts';
import { sessionGuards } from './session-budget.ts';

/**
 * At which checkpoints the runtime saves, and so how much of a run is repeated after a crash. `each-effect`: nothing
 * with an effect; the runtime saves after every response, and before and after each tool call with an effect.
 * `each-step`: at most one step; it saves when a step is closed. `end`: the whole run.
 */
export type SavePolicy = 'each-effect' | 'each-step' | 'end';

const SAVED_POINTS: Readonly<Record<SavePolicy, readonly CheckpointPoint[]>> = {
  'each-effect': ['inference', 'intent', 'outcome', 'step'],
  'each-step': ['step'],
  end: [],
};

export const SAVE_POLICIES: readonly string[] = Object.keys(SAVED_POINTS);

/** The parts of a runtime that the work under a claim needs. */
export interface SessionWorkParts extends ChildrenParts, SaveParts {
  readonly agents: Agents;
  readonly onEvent: AgentEventListener | undefined;
  readonly savePolicy: SavePolicy;
  readonly onSaveFailure: 'stop' | 'continue';
  readonly maxAttempts: number;
}

/** A task: the work to do on a session under one claim. */
export interface SessionTask extends ClaimRequest {
  /** Changes the session. It may run the agent and save on the way. */
  readonly act: (session: AgentSession, context: ActionContext) => Promise<AgentSession> | AgentSession;
  /** True when an engine retries the task. */
  readonly isRetried?: boolean | undefined;
  /** True when the worker only saves the session, and another one takes the steps. */
  readonly isStepsLater?: boolean | undefined;
  /** The number of steps after which the worker yields. Default: no limit. */
  readonly maxSteps?: number | undefined;
  readonly onEvent?: AgentEventListener | undefined;
  /** The run context that the caller passed. */
  readonly runContext?: unknown;
}

export interface WorkResult {
  /** The session right after the task. */
  readonly session: AgentSession;
  /** The session at its release: the worker may have responded to enqueued messages in between. */
  readonly released: AgentSession;
  /** True when an item was dropped because it made the session too large: the session must be advanced again. */
  readonly hasMore: boolean;
  /** The parent, if it was notified. */
  readonly wake: ReadonlySet<string>;
}

/** The work on a claimed session, up to its release. */
export class SessionWork {
  private readonly held: HeldSession;
  private readonly task: SessionTask;
  private readonly parts: SessionWorkParts;
  private readonly prepareAgent: ReturnType<Agents['preparer']>;
  private readonly wake = new Set<string>();
  private remainingSteps: number;
  private hasRun = false;
  /** The session of the run in progress, whose last states may not be saved: the run itself has only its state. */
  private current: AgentSession;

  constructor(held: HeldSession, task: SessionTask, parts: SessionWorkParts) {
    this.held = held;
    this.task = task;
    this.parts = parts;
    this.prepareAgent = parts.agents.preparer(task.runContext);
    this.remainingSteps = task.maxSteps ?? Infinity;
    this.current = held.latest;
  }

  /**
   * Prepares the session, lets the task act, saves, uses the items that were enqueued meanwhile, and releases the claim.
   * @throws SessionConflictError when another worker has claimed the session; what the task, a hook or the store throws.
   */
  async do(): Promise<WorkResult> {
    const { held, task, wake } = this;
    const context = this.actionContext();
    let result: WorkResult;
    try {
      const ready = await this.preparedSession();
      const session = await held.saveChanges(await task.act(ready, context));
      let released = session;
      while (!(await this.isDone(released)) && task.isStepsLater !== true) {
        const next = await this.withInboxAndChildren(released);
        released = await held.saveChanges(await continueExecution(next, context));
      }
      await held.release();
      result = { session, released, hasMore: false, wake };
    } catch (error) {
      result = await this.endAfter(error);
    }
    if (held.hasFailedBefore) await this.clearFailure();
    return result;
  }

  private actionContext(): ActionContext {
    const { held, task, parts } = this;
    return {
      run: async (waiting) => {
        const session = waiting.withoutWait();
        return mustRunHere(session, task) ? this.run(session) : held.save(session);
      },
      save: (session) => held.save(session),
      loop: parts.agents.loop,
      clock: parts.clock,
      signal: task.signal,
    };
  }

  // Before the task

  /** Returns the claimed session, ready to work on. After too many attempts, its execution has failed. */
  private async preparedSession(): Promise<AgentSession> {
    const { held, parts } = this;
    const { latest, attempt } = held;
    if (attempt <= parts.maxAttempts) return this.withInboxAndChildren(latest);
    if (latest.state.hasActiveExecution)
      return this.withInbox(await held.save(withAttemptsExhausted(latest, parts)));
    // No execution was active, so an inbox item caused the failures.
    return withAttemptsExhausted(await this.withInbox(latest), parts);
  }

  /** Returns the session after using its inbox items, no longer waiting for children that have ended. */
  private async withInboxAndChildren(before: AgentSession): Promise<AgentSession> {
    const session = await this.withInbox(before);
    return session.withState(await this.withoutEndedChildren(session));
  }

  /** Returns the session after using the inbox items that can be used now. The next save removes the used items. */
  private async withInbox(session: AgentSession): Promise<AgentSession> {
    const { clock, report, agents } = this.parts;
    return this.held.inbox.apply(session, { clock, loop: () => agents.loop(session) }, (item, reason) =>
      report({ type: 'inbox-item-ignored', session, item, reason }),
    );
  }

  private withoutEndedChildren(session: AgentSession): Promise<AgentState> {
    const { relatives, clock } = this.parts;
    return withoutEndedChildren(session, relatives, clock.now());
  }

  // The run of the agent

  /**
   * Runs the agent until its execution ends, waits or yields, and saves as the save policy sets. It runs the agent again
   * when a child ended before the execution began to wait for it.
   */
  private async run(session: AgentSession): Promise<AgentSession> {
    const { held, parts } = this;
    const previousState = held.latest.state;
    const isSaved = session === held.latest || parts.savePolicy === 'end';
    this.current = isSaved ? session : await held.save(session);
    const { status, state: before, budget, pastTotals } = this.current;
    const { loop, runContext } = await this.prepareAgent(this.current);
    const onEvent = held.listener(joinedListener(parts.onEvent, this.task.onEvent));
    const limits = budget && { budget: budget.remaining(spentOf(pastTotals)), changeGuards: sessionGuards };
    const state = await this.stateAfterRun(loop, before, { previousState, onEvent, runContext, ...limits });
    held.requireHeld();
    if (abortKind(held.signal) === 'lost') return held.latest;
    held.inbox.endRun(!state.hasActiveExecution);
    const afterRun = await held.saveChanges(this.current.withStatus(status).withState(state));
    const next = await this.withoutEndedChildren(afterRun);
    return next === afterRun.state || held.signal.aborted ? afterRun : this.run(afterRun.withState(next));
  }

  private async stateAfterRun(
    loop: AgentLoop,
    state: AgentState,
    options: InternalRunOptions,
  ): Promise<AgentState> {
    const { held, checkpoint, parts } = this;
    const { signal, inEvents: session } = held;
    const { maxValueBytes } = parts.store.capabilities;
    // The other half of a value is room for the other members of the open step.
    const stepBytes = maxValueBytes === undefined ? undefined : () => Math.floor(maxValueBytes / 2);
    const run = { signal, checkpoint, session, stepBytes };
    const all: InternalRunOptions = { onExhausted: 'suspend', ...options, ...run };
    this.hasRun = true;
    held.running = { executionId: state.hasActiveExecution ? state.executionId : undefined };
    try {
      return await loop.run(state, all);
    } finally {
      held.running = undefined;
    }
  }

  private readonly checkpoint: Checkpoint = {
    save: async (state, point) => {
      const { held, parts } = this;
      if (held.running) held.running = { executionId: state.executionId };
      const isBetweenSteps = point === 'step' && state.currentStep === undefined; // not a step of a subagent
      const hasNextStep = isBetweenSteps && nextAction(state).type === 'beginStep';
      if (hasNextStep && --this.remainingSteps <= 0) held.yield();
      const session = this.current.withState(state);
      const ready = isBetweenSteps && held.inbox.hasUnused ? await this.withInbox(session) : session;
      const isDue = SAVED_POINTS[parts.savePolicy].includes(point) || held.inbox.hasUsed;
      return (isDue ? await this.saveDuringRun(ready, point) : ready).state;
    },
    mayAct: () => this.held.mayAct(),
  };

  private async saveDuringRun(session: AgentSession, checkpoint: CheckpointPoint): Promise<AgentSession> {
    const { held, parts } = this;
    const mayContinue = parts.onSaveFailure === 'continue';
    try {
      const patience = mayContinue ? 'brief' : 'lease';
      return (this.current = await held.saveChanges(session, { patience, checkpoint }));
    } catch (error) {
      if (mayContinue && isUnreachable(error)) {
        parts.report({ type: 'session-save-failed', session, error });
        return session;
      }
      held.lose(error);
      throw error;
    }
  }

  // The end

  /** Notifies the parent of an ended session. Returns true when the claim was released, or no work remains under it. */
  private async isDone(session: AgentSession): Promise<boolean> {
    const { held, wake } = this;
    try {
      const parentId = await notifyParent(session, this.parts);
      if (parentId !== undefined) wake.add(parentId);
    } catch (error) {
      held.abandon(); // the session becomes due when the claim expires, and the parent is then notified
      throw error;
    }
    return session.status !== 'active' || held.signal.aborted || held.releaseIfIdle();
  }

  /**
   * Releases the claim after an error.
   * @throws the error, unless the session can be advanced again without the item that caused it.
   */
  private async endAfter(error: unknown): Promise<WorkResult> {
    const { held, task, wake } = this;
    const isRetried = task.isRetried === true;
    const hasMore = isRetried && !this.hasRun && (await held.dropTooLargeItem(error));
    if (isRetried && isClaimUncertain(error)) held.abandon();
    else await held.release();
    if (!hasMore) throw error;
    return { session: held.latest, released: held.latest, hasMore, wake };
  }

  private async clearFailure(): Promise<void> {
    const { sessionId, owner } = this.held.latest;
    await this.parts.store.recordFailure(sessionId, undefined, { owner });
  }
}

/** Runs the agent of a session that has work to do; returns any other session as it is. */
export async function continueExecution(
  session: AgentSession,
  { run }: Pick<ActionContext, 'run'>,
): Promise<AgentSession> {
  return session.status === 'active' && session.state.hasActiveExecution ? run(session) : session;
}

/** True unless another worker takes the steps. A stopped execution has no steps left. */
function mustRunHere({ state }: AgentSession, { isStepsLater }: SessionTask): boolean {
  return isStepsLater !== true || state.execution?.continuation.wasForceStopped === true;
}

/** True when the worker cannot release its claim: the store does not reply, or another worker has the session. */
function isClaimUncertain(error: unknown): boolean {
  return isUnreachable(error) || hasErrorCode(error, 'SESSION_CONFLICT');
}

/**
 * Returns the session with its active execution failed after too many failed attempts. It runs no code of the agent,
 * because that code may be the cause of the failures.
 */
function withAttemptsExhausted(
  session: AgentSession,
  { maxAttempts, clock }: Pick<SessionWorkParts, 'maxAttempts' | 'clock'>,
): AgentSession {
  const { state } = session;
  if (!state.hasActiveExecution) return session;
  const at = clock.now();
  const message = `The execution failed after ${maxAttempts} failed attempts in a row at one step.`;
  const error = new HoldfastError('ATTEMPTS_EXHAUSTED', message, { data: { maxAttempts } });
  let failed = applyOutcome(state.withExecutionStatus('inProgress', at), { type: 'failed', error, at });
  failed = failed.withStopSignal(stopSignal({ reason: 'retryLimitReached', message, source: 'runtime' }), at);
  failed = applyOutcome(failed, { type: 'stepClosed', messageIds: newStepMessageIds(clock), at });
  return session.withState(applyOutcome(failed, { type: 'finished', at }));
}
