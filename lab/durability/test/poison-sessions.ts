import { expect } from 'vitest';
import type { Plan } from '../src/agent.ts';
import type { Entry } from '../src/journal.ts';
import type { World } from './world.ts';

/** The settings of workers that meet sessions which kill their processes. */
export const MEETS_POISON = { concurrency: 8, maxAttempts: 3, isIsolating: true, leaseSeconds: 0.5 } as const;

const POISON = 'poison';

/** The plan of a session that kills its processes. */
export function poisonPlan(sessionId: string): Plan {
  return { sessionId, kind: 'readOnly', steps: 1, calls: 1, isPoison: true };
}

/** Begins innocent sessions, and a session that kills its processes at a random place. Returns the innocent ones. */
export async function beginAroundPoison(
  world: World,
  count: number,
  random: (below: number) => number,
): Promise<readonly string[]> {
  const poisonAt = random(count);
  const innocents = Array.from({ length: count }, (_, index) => `innocent-${index}`);
  for (const [index, sessionId] of innocents.entries()) {
    if (index === poisonAt) await world.begin(poisonPlan(POISON));
    await world.begin({ sessionId, kind: 'once', steps: 1 + random(3), calls: 1 });
  }
  return innocents;
}

/** The entries of the deaths that the session of `beginAroundPoison` caused. */
export function deathsIn({ journal }: World): readonly Entry[] {
  return journal.read().filter(({ type, sessionId }) => type === 'called' && sessionId === POISON);
}

/** The session has failed after its attempts, and the innocent ones have ended. */
export async function expectOnlyPoisonFailed(world: World, innocents: readonly string[]): Promise<void> {
  for (const sessionId of innocents) {
    const { state } = await world.load(sessionId);
    expect([sessionId, state.status, state.finalResponse]).toEqual([sessionId, 'completed', 'Done.']);
  }
  const { state } = await world.load(POISON);
  expect(state.status).toBe('failed');
  expect(state.errors.map(({ code }) => code)).toContain('ATTEMPTS_EXHAUSTED');
}
