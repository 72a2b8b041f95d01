import { backoff, jitterOf } from '../../backoff.ts';
import type { Clock } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { HeldSession, type ClaimParts } from '../claim/held-session.ts';
import {
  advanceOutcomeOf,
  type AdvanceOutcome,
  type AdvanceResult,
  type Schedule,
} from '../engine/engine.ts';
import { isUnreachable, type SessionBusyError } from '../session-errors.ts';
import type { AgentSession } from '../session.ts';
import { SessionWork, type SessionTask, type SessionWorkParts, type WorkResult } from './session-work.ts';

interface ScheduleParts {
  readonly schedule: (session: AgentSession) => Schedule;
}

export interface AdvanceParts extends ClaimParts, SessionWorkParts, ScheduleParts {
  /** The owner of all sessions of the runtime; `undefined`: any. */
  readonly owner: string | undefined;
}

/** Claims a session and works on it, for an engine. @throws what the store throws when it is unreachable. */
export async function advanceSession(
  sessionId: string,
  task: SessionTask,
  parts: AdvanceParts,
): Promise<AdvanceResult> {
  let held: HeldSession | undefined;
  try {
    held = await HeldSession.claim(sessionId, task, parts);
    const { steps } = held.latest.totals;
    const worked = await new SessionWork(held, task, parts).do();
    return { ...resultOf(worked, parts), steps: worked.released.totals.steps - steps };
  } catch (error) {
    if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return missing(error, held, parts);
    if (!held && hasErrorCode(error, 'SESSION_BUSY'))
      return { outcome: { type: 'lost', until: (error as SessionBusyError).until }, wake: [] };
    if (!held && hasErrorCode(error, 'SESSION_SUSPECT')) return { outcome: { type: 'isolate' }, wake: [] };
    if (held && hasErrorCode(error, 'SESSION_CONFLICT')) return { outcome: { type: 'lost' }, wake: [] };
    if (isUnreachable(error)) throw error; // the session is due when its claim expires
    return { outcome: await outcomeOfFailure(sessionId, error, held?.latest.owner, parts), wake: [], error };
  }
}

const MISSING: AdvanceResult = { outcome: { type: 'finished' }, wake: [], isMissing: true };

/**
 * A wake-up of a session that is gone needs no work. For the runtime of one owner, the session may be one of another owner:
 * the engine must report that it has dropped the wake-up.
 */
function missing(error: unknown, held: HeldSession | undefined, { owner }: AdvanceParts): AdvanceResult {
  return held === undefined && owner !== undefined ? { ...MISSING, error } : MISSING;
}

/** The default of `schedule`: no lane. */
export const noLane = (): Schedule => ({});

/** Returns the agent, the lane, the priority and the group of the next work. The group is the owner if `schedule` returns none. */
export function nextOf(
  session: AgentSession,
  { schedule }: ScheduleParts,
): NonNullable<AdvanceResult['next']> {
  const { agentName, owner } = session;
  return { agentName, ...(owner !== undefined && { group: owner }), ...schedule(session) };
}

function resultOf({ released, hasMore, wake }: WorkResult, parts: ScheduleParts): AdvanceResult {
  const next = nextOf(released, parts);
  const outcome = hasMore ? ({ type: 'yield' } as const) : advanceOutcomeOf(released, next.lane);
  return { outcome, wake: outcome.type === 'finished' ? [...wake] : [], next };
}

/** Records the failure of work on a session. @throws the error when the store cannot record it. */
async function outcomeOfFailure(
  sessionId: string,
  error: unknown,
  owner: string | undefined,
  { store, clock, maxAttempts }: AdvanceParts,
): Promise<AdvanceOutcome> {
  const delaysSeconds = delaysOf(maxAttempts, clock);
  const failure = await store
    .recordFailure(sessionId, { error: toErrorRecord(error), delaysSeconds }, { owner })
    .catch(() => Promise.reject(error as Error));
  if (failure === undefined) return { type: 'finished' };
  return failure.retryAt === undefined ? { type: 'suspended' } : { type: 'sleep', until: failure.retryAt };
}

/** The pauses between attempts, with jitter. */
const DELAYS_SECONDS = { first: 5, longest: 3_600, factor: 4 };

function delaysOf(maxAttempts: number, clock: Clock): readonly number[] {
  const jitter = 0.25 + jitterOf(clock.newId());
  return Array.from({ length: maxAttempts - 1 }, (_, index) => backoff(DELAYS_SECONDS, index + 1) * jitter);
}
