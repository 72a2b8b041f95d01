import { isDeepStrictEqual } from 'node:util';
import { isTerminal } from '@holdfast/core/engine';
import type { Kind, Plan } from '../src/agent.ts';
import type { Entry } from '../src/journal.ts';
import { canonical, difference } from './canonical.ts';
import { historyProblems, priceProblems } from './checks.ts';
import { listedSessions } from './listed-sessions.ts';
import { uninterrupted } from './uninterrupted.ts';
import type { World } from './world.ts';

/** The kinds of tools whose calls in doubt end with an unknown outcome. */
const ENDS_UNKNOWN = new Set<Kind>(['once', 'approval']);

/** Returns true when every session has ended and none is due: a session that has ended begins again only when it is due. */
export async function isIdle({ store }: World): Promise<boolean> {
  const listed = await listedSessions(store, {});
  if (!listed.every(({ executionStatus: status }) => status !== undefined && isTerminal(status)))
    return false;
  const { sessions } = await store.due({ at: Date.now() + 86_400_000, limit: 1 });
  return sessions.length === 0;
}

/** Returns the problems of a session, and its difference to the same session of an uninterrupted run. */
export async function changed(world: World, plan: Plan): Promise<readonly string[]> {
  const session = await world.load(plan.sessionId);
  const executions = session.state.steps.flatMap(({ toolExecutions }) => [...toolExecutions]);
  const wereInDoubt = executions.filter(
    ({ outcome, approval }) =>
      (plan.kind === 'ask' && approval !== undefined) ||
      (ENDS_UNKNOWN.has(plan.kind) && outcome?.type === 'interrupted'),
  );
  const inDoubt = new Set(wereInDoubt.map(({ call }) => call.toolCallId));
  const [found, wanted] = [session, await uninterrupted(plan)].map((each) => canonical(each, inDoubt));
  const otherwise = isDeepStrictEqual(found, wanted) ? [] : [difference(found, wanted)];
  return [
    ...historyProblems(session),
    ...priceProblems(session),
    ...otherwise.map((what) => `${plan.sessionId} differs from a run without a fault: ${what}`),
  ];
}

/** Returns how many more calls there are than in an uninterrupted run. */
export function repeated(entries: readonly Entry[], wanted: Entry['type']): number {
  const calls = entries.flatMap(({ type, call }) => (type === wanted ? [call] : []));
  return calls.length - new Set(calls).size;
}
