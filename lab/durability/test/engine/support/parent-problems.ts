import type { ParentPlan } from '../../../src/engine/parent.ts';
import { historyProblems } from '../../checks.ts';
import type { World } from '../../world.ts';

/** Returns what is wrong with a parent that has ended: it responds after all its children have ended, once. */
export async function parentProblems(
  { runtime }: World,
  { sessionId, children }: ParentPlan,
): Promise<readonly string[]> {
  const session = await runtime.get(sessionId);
  const { status, finalResponse, execution } = session.state;
  const problems = [...historyProblems(session)];
  if (status !== 'completed' || finalResponse !== 'Done.')
    problems.push(`${sessionId} is ${status}: ${finalResponse ?? JSON.stringify(session.state.errors)}`);
  const respondedAt = execution?.completedAt ?? 0;
  const listed = await runtime.list({ parentId: sessionId, limit: 100 });
  const found = listed.sessions.map((child) => child.sessionId).toSorted();
  const expected = children.map((child) => child.sessionId).toSorted();
  if (found.join() !== expected.join()) problems.push(`${sessionId} has the children ${found.join()}`);
  // The clock of an overloaded session jumps: its instants cannot be compared.
  const comparable = children.filter(({ outage }) => outage !== 'overloaded');
  for (const { sessionId: child } of comparable) {
    const endedAt = (await runtime.get(child)).state.execution?.completedAt ?? Infinity;
    if (endedAt > respondedAt) problems.push(`${sessionId} has responded before ${child} has ended`);
  }
  return execution?.isTerminal ? problems : [...problems, `${sessionId} has not ended`];
}
