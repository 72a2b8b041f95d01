import type { Clock } from '../../clock.ts';
import { joinedListener, type AgentEventListener } from '../../loop/steps/events.ts';
import { hasErrorCode } from '../../errors.ts';
import { isUnreachable } from '../session-errors.ts';
import type { AgentSession } from '../session.ts';
import { notifyParent, withoutEndedChildren } from './children.ts';
import { withAttemptsExhausted } from './exhausted-attempts.ts';
import type { ClaimRequest, HeldSession } from './held-session.ts';
import { agentPreparer, type PrepareAgent } from './ready-agent.ts';
import type { WorkParts } from './work-parts.ts';

/** A task: the work to do on a session under one claim. */
export interface SessionTask extends ClaimRequest {
  /** Changes the session. It may run the agent and save on the way. */
  readonly act: (session: AgentSession, work: TaskContext) => Promise<AgentSession> | AgentSession;
  /** True when an engine retries the task. */
  readonly isRetried?: boolean | undefined;
  /** True when the worker only saves the session, and another one takes the steps. */
  readonly isStepsLater?: boolean | undefined;
  readonly onEvent?: AgentEventListener | undefined;
  /** The run context that the caller passed. */
  readonly runContext?: unknown;
}

/** The functions that a task may call. */
export interface TaskContext {
  /** Runs the agent until its execution ends, waits or yields, and saves. */
  readonly run: (session: AgentSession) => Promise<AgentSession>;
  readonly save: (session: AgentSession) => Promise<AgentSession>;
}

/** The result of a task. */
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

/**
 * Does the work on a claimed session, up to its release: prepares the session, lets the task act, saves, uses the items
 * that were enqueued meanwhile, and releases the claim.
 * @throws SessionConflictError when another worker has claimed the session; what the task, a hook or the store throws.
 */
export async function workOn(held: HeldSession, task: SessionTask, parts: WorkParts): Promise<WorkResult> {
  const prepare = agentPreparer(task.runContext, parts);
  const onEvent = joinedListener(parts.onEvent, task.onEvent);
  const wake = new Set<string>();
  const run = (waiting: AgentSession): Promise<AgentSession> => {
    const session = waiting.withoutWait();
    return mustRunHere(session, task)
      ? runAgent(held, session, { prepare, onEvent }, parts)
      : held.save(session);
  };
  try {
    const ready = await preparedSession(held, parts);
    const session = await held.saveChanges(
      await task.act(ready, { run, save: (changed) => held.save(changed) }),
    );
    let released = session;
    while (!(await isDone(held, released, parts, wake)) && task.isStepsLater !== true) {
      released = await held.saveChanges(
        await continueExecution(await withInboxAndChildren(held, released, parts), run),
      );
    }
    await held.release();
    return { session, released, hasMore: false, wake };
  } catch (error) {
    const hasMore = task.isRetried === true && (await held.dropTooLargeItem(error));
    if (task.isRetried && isClaimUncertain(error)) held.abandon();
    else await held.release();
    if (!hasMore) throw error;
    return { session: held.latest, released: held.latest, hasMore, wake };
  }
}

/** True unless another worker takes the steps. A stopped execution has no steps left. */
function mustRunHere({ state }: AgentSession, { isStepsLater }: SessionTask): boolean {
  return isStepsLater !== true || state.execution?.continuation.wasForceStopped === true;
}

/** True when the worker cannot release its claim: the store does not reply, or another worker has the session. */
function isClaimUncertain(error: unknown): boolean {
  return isUnreachable(error) || hasErrorCode(error, 'SESSION_CONFLICT');
}

/** Runs the agent of a session that has work to do; returns any other session as it is. */
export async function continueExecution(
  session: AgentSession,
  run: TaskContext['run'],
): Promise<AgentSession> {
  return session.status === 'active' && session.state.hasActiveExecution ? run(session) : session;
}

/** Returns the session after using its inbox items, no longer waiting for children that have ended. */
async function withInboxAndChildren(
  held: HeldSession,
  before: AgentSession,
  { relatives, clock }: WorkParts,
): Promise<AgentSession> {
  const session = await held.withInbox(before);
  return session.withState(await withoutEndedChildren(session, relatives, clock.now()));
}

/** Returns the claimed session, ready to work on. After too many attempts, its execution has failed. */
async function preparedSession(held: HeldSession, parts: WorkParts): Promise<AgentSession> {
  const { latest } = held;
  const { maxAttempts, clock } = parts;
  if (held.attempt <= maxAttempts) return withInboxAndChildren(held, latest, parts);
  if (latest.state.hasActiveExecution)
    return held.withInbox(await held.save(withExecutionGivenUp(latest, maxAttempts, clock)));
  // No execution was active, so an inbox item caused the failures.
  return withExecutionGivenUp(await held.withInbox(latest), maxAttempts, clock);
}

function withExecutionGivenUp(session: AgentSession, maxAttempts: number, clock: Clock): AgentSession {
  if (!session.state.hasActiveExecution) return session;
  return session.withState(withAttemptsExhausted(session.state, maxAttempts, clock));
}

interface RunAgentOptions extends Pick<SessionTask, 'onEvent'> {
  readonly prepare: PrepareAgent;
}

/**
 * Runs the agent until its execution ends, waits or yields. It runs the agent again when a child ended before the
 * execution began to wait for it.
 */
async function runAgent(
  held: HeldSession,
  session: AgentSession,
  options: RunAgentOptions,
  parts: WorkParts,
): Promise<AgentSession> {
  const afterRun = await held.run(session, options.prepare, options.onEvent);
  const state = await withoutEndedChildren(afterRun, parts.relatives, parts.clock.now());
  return state === afterRun.state || held.signal.aborted
    ? afterRun
    : runAgent(held, afterRun.withState(state), options, parts);
}

/** Notifies the parent of an ended session. Returns true when the claim was released, or no work remains under it. */
async function isDone(
  held: HeldSession,
  session: AgentSession,
  parts: WorkParts,
  wake: Set<string>,
): Promise<boolean> {
  try {
    const parentId = await notifyParent(session, parts);
    if (parentId !== undefined) wake.add(parentId);
  } catch (error) {
    held.abandon(); // the session becomes due when the claim expires, and the parent is then notified
    throw error;
  }
  return session.status !== 'active' || held.signal.aborted || held.releaseIfIdle();
}
