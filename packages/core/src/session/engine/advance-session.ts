import type { Clock } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import { jitterOf } from '../../jitter.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import type { AdvanceOutcome, AdvanceResult } from './engine.ts';
import { advanceOutcomeOf } from './engine.ts';
import type { SessionBusyError } from '../session-errors.ts';
import { isUnreachable } from '../session-errors.ts';
import type { AgentSession } from '../session.ts';
import { HeldSession } from '../claim/held-session.ts';
import { groupByOwner } from '../work/runtime-options.ts';
import type { WorkParts } from '../work/runtime-options.ts';
import { callSessionHook } from '../session-events.ts';
import { workOn } from '../work/session-work.ts';
import type { SessionTask } from '../work/session-work.ts';

/** Claims a session and works on it, for an engine. @throws what the store throws when it is unreachable. */
export async function advanceSession(
  sessionId: string,
  task: SessionTask,
  parts: WorkParts,
): Promise<AdvanceResult> {
  let held: HeldSession | undefined;
  try {
    held = await HeldSession.claim(sessionId, task, parts);
    const { released, hasMore } = await workOn(held, task, parts);
    if (held.hasFailedBefore) await parts.store.recordFailure(sessionId, undefined);
    return { ...resultOf(released, hasMore, parts), steps: held.closedSteps };
  } catch (error) {
    if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return { outcome: { type: 'finished' }, wake: [] };
    if (!held && hasErrorCode(error, 'SESSION_BUSY'))
      return { outcome: { type: 'lost', until: (error as SessionBusyError).until }, wake: [] };
    if (!held && hasErrorCode(error, 'SESSION_SUSPECT')) return { outcome: { type: 'isolate' }, wake: [] };
    if (held && hasErrorCode(error, 'SESSION_CONFLICT')) return { outcome: { type: 'lost' }, wake: [] };
    if (isUnreachable(error)) throw error; // the session is due when its claim expires
    const outcome = await outcomeOfFailure(sessionId, error, parts);
    return { outcome, wake: [], error, steps: held?.closedSteps };
  }
}

/**
 * Returns the result for a session that belongs to a lane: the engine wakes it there. Returns `undefined` for other
 * sessions, and for those that cannot be loaded: the work on them reports the error.
 */
export async function routeSession(sessionId: string, parts: WorkParts): Promise<AdvanceResult | undefined> {
  const { store, cache, hooks, schedule } = parts;
  if (schedule === groupByOwner) return undefined;
  try {
    const stored = await store.load(sessionId, { base: cache.get(sessionId) });
    if (stored === undefined) return undefined;
    cache.put(stored);
    const session = await callSessionHook(hooks, 'afterLoad', stored);
    const next = { agentName: session.agentName, ...schedule(session) };
    return next.lane === undefined ? undefined : { outcome: { type: 'yield' }, wake: [], next };
  } catch {
    return undefined;
  }
}

function resultOf(session: AgentSession, hasMore: boolean, { schedule }: WorkParts): AdvanceResult {
  const { agentName, parentId } = session;
  const next = { agentName, ...schedule(session) };
  const outcome = hasMore ? ({ type: 'yield' } as const) : advanceOutcomeOf(session, next.lane);
  return { outcome, wake: outcome.type === 'finished' && parentId !== undefined ? [parentId] : [], next };
}

/** Records the failure of work on a session. @throws the error when the store cannot record it. */
async function outcomeOfFailure(
  sessionId: string,
  error: unknown,
  { store, clock, maxAttempts }: WorkParts,
): Promise<AdvanceOutcome> {
  const delaysSeconds = delaysOf(maxAttempts, clock);
  const failure = await store
    .recordFailure(sessionId, { error: toErrorRecord(error), delaysSeconds })
    .catch(() => Promise.reject(error as Error));
  if (failure === undefined) return { type: 'finished' };
  return failure.retryAt === undefined ? { type: 'suspended' } : { type: 'sleep', until: failure.retryAt };
}

const FIRST_DELAY_SECONDS = 5;
const MAX_DELAY_SECONDS = 3_600;

/** The pauses between attempts: each four times as long as the one before, up to an hour, with jitter. */
function delaysOf(maxAttempts: number, clock: Clock): readonly number[] {
  const jitter = 0.25 + jitterOf(clock.newId());
  const delayOf = (index: number): number => Math.min(FIRST_DELAY_SECONDS * 4 ** index, MAX_DELAY_SECONDS);
  return Array.from({ length: maxAttempts - 1 }, (_, index) => delayOf(index) * jitter);
}
