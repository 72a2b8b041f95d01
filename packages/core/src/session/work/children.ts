import type { Instant } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { InboxContent } from '../actions/inbox-content.ts';
import type { AgentSession } from '../session.ts';
import type { SessionStore } from '../session-store.ts';

/**
 * The state as its child sessions have left it: those whose execution is over, or that are gone, are waited for no
 * more. When nothing is left to wait for, the execution goes on, and reads of the children what it wants to know.
 */
export async function withoutEndedChildren(
  state: AgentState,
  store: Pick<SessionStore, 'load'>,
  at: Instant,
): Promise<AgentState> {
  const waiting = state.status === 'suspended' ? (state.execution?.waiting ?? []) : [];
  const endedChildren = new Set<unknown>();
  for (const entry of waiting) {
    if (entry.type !== 'child') continue;
    const child = await store.load(entry.sessionId);
    if (child === undefined || child.state.execution?.isTerminal) endedChildren.add(entry);
  }
  if (endedChildren.size === 0) return state;
  const remaining = waiting.filter((entry) => !endedChildren.has(entry));
  return remaining.length === 0
    ? state.withExecutionStatus('inProgress', at)
    : state.withExecutionStatus('suspended', at, remaining);
}

/**
 * Lets the parent of a session know that its execution has ended, so that a sweep finds the parent too. Done while the
 * session is claimed: when its process dies before, the session is due, and whoever looks at it tells the parent.
 */
export async function notifyParent(
  { sessionId, parentId, state: { execution } }: AgentSession,
  store: Pick<SessionStore, 'enqueue'>,
): Promise<void> {
  if (parentId === undefined || !execution?.isTerminal) return;
  const content: InboxContent = { type: 'child-ended', sessionId };
  await store.enqueue(parentId, { id: execution.executionId, content }).catch((error: unknown) => {
    if (!hasErrorCode(error, 'SESSION_NOT_FOUND')) throw error;
  });
}
