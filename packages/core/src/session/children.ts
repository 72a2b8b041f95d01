import type { Instant } from '../clock.ts';
import type { AgentState } from '../state/agent-state.ts';
import { outcomeOf } from './engine.ts';
import type { SessionStore } from './session-store.ts';

/**
 * The state as its child sessions have left it: those that are finished, or gone, are waited for no more. When nothing
 * is left to wait for, the execution goes on, and reads of the children what it wants to know.
 */
export async function withChildrenEnded(
  state: AgentState,
  store: Pick<SessionStore, 'load'>,
  at: Instant,
): Promise<AgentState> {
  const waiting = state.status === 'suspended' ? (state.execution?.waiting ?? []) : [];
  const ended = new Set<unknown>();
  for (const entry of waiting) {
    if (entry.type !== 'child') continue;
    const child = await store.load(entry.sessionId);
    if (child === undefined || outcomeOf(child).type === 'finished') ended.add(entry);
  }
  if (ended.size === 0) return state;
  const left = waiting.filter((entry) => !ended.has(entry));
  return left.length === 0
    ? state.withExecutionStatus('inProgress', at)
    : state.withExecutionStatus('suspended', at, left);
}
