import { KINDS, type Plan } from '../../../src/agent.ts';
import type { ParentPlan } from '../../../src/engine/parent.ts';
import { OUTAGES } from '../../../src/provider.ts';

type Random = (below: number) => number;

const LANES = [undefined, 'fast', 'slow'] as const;
const OWNERS = [undefined, 'ada', 'ben'] as const;

/** Returns a plan at random: a session with a tool of any kind, that sleeps, meets an outage, or does neither. */
export function randomPlan(sessionId: string, random: Random): Plan {
  const outage = random(3) === 0 ? OUTAGES[random(OUTAGES.length)] : undefined;
  const canRest = outage !== 'overloaded'; // its clock jumps: the instant would be hours away
  return {
    sessionId,
    kind: KINDS[random(KINDS.length)] ?? 'once',
    steps: 2 + random(4),
    calls: 1 + random(3),
    outage,
    lane: LANES[random(LANES.length)],
    owner: OWNERS[random(OWNERS.length)],
    restMilliseconds: canRest && random(4) === 0 ? 200 + random(3_000) : undefined,
  };
}

/** Returns the plan of a parent with one to three children. */
export function randomParent(sessionId: string, random: Random): ParentPlan {
  const children = Array.from({ length: 1 + random(3) }, (_, index) =>
    randomPlan(`${sessionId}-child-${index}`, random),
  );
  return { sessionId, children };
}
