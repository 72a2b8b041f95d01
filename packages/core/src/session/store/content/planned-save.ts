import type { AgentSession } from '../../session.ts';
import { planSave } from './save-plan.ts';
import { fingerprint, type SavePlan } from './session-content.ts';

/** A save that is planned once for all its attempts. */
export interface PlannedSave {
  /** The session that the save returns. */
  readonly next: AgentSession;
  readonly plan: SavePlan;
  readonly hash: string;
}

export function plannedSave(
  next: AgentSession,
  base: AgentSession | undefined,
  operationId: string | undefined,
): PlannedSave {
  const plan = planSave(next, base);
  return { next, plan, hash: operationId === undefined ? '' : fingerprint(plan) };
}

/** True when the session was made from this base. */
export function isBase(
  base: AgentSession | undefined,
  { sessionId, revision }: AgentSession,
): base is AgentSession {
  return (
    base?.sessionId === sessionId &&
    base.revision.version === revision.version &&
    base.revision.incarnation === revision.incarnation
  );
}
