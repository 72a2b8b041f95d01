import type { Instant } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { InboxContent } from '../actions/inbox-content.ts';
import type { AgentSession } from '../session.ts';
import type { SessionStore } from '../session-store.ts';
import { notifyWorker } from './notify-worker.ts';
import type { WorkParts } from './runtime-options.ts';

/**
 * Returns the state without its waits for child sessions whose execution has ended or that no longer exist. When no
 * other wait remains, the execution resumes.
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
 * Enqueues the notice that the execution of a session has ended, in the inbox of the parent. The parent becomes due, so
 * a sweep finds it. The worker calls this under its claim: if its process dies before, the session is due, and the next
 * worker notifies the parent.
 */
export async function notifyParent(
  { sessionId, parentId, state: { execution } }: AgentSession,
  { relatives, channel }: Pick<WorkParts, 'relatives' | 'channel'>,
): Promise<void> {
  if (parentId === undefined || !execution?.isTerminal) return;
  const content: InboxContent = { type: 'child-ended', sessionId };
  await relatives.enqueue(parentId, { id: execution.executionId, content }).catch((error: unknown) => {
    if (!hasErrorCode(error, 'SESSION_NOT_FOUND')) throw error;
  });
  if (channel) void notifyWorker(channel, parentId, content); // a channel that hangs must not keep the claim
}
