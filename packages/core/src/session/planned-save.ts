import { planSave } from './save-plan.ts';
import { fingerprint } from './saved-session.ts';
import type { SavePlan } from './saved-session.ts';
import type { AgentSession } from './session.ts';

/** What a save is to write, however often it is tried. */
export interface PlannedSave {
  /** What it answers. */
  readonly next: AgentSession;
  readonly plan: SavePlan;
  readonly content: string;
}

export function plannedSave(
  next: AgentSession,
  base: AgentSession | undefined,
  operationId: string | undefined,
): PlannedSave {
  const plan = planSave(next, base);
  return { next, plan, content: operationId === undefined ? '' : fingerprint(plan) };
}

/** Is this what the session was made from? */
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
