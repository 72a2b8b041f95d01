import type { SessionChannel } from '../../channel/session-channel.ts';
import type { Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import { isTerminal } from '../../state/execution/status.ts';
import { withoutWaits } from '../actions/waiting-calls.ts';
import { reserveOf, type InboxContent } from '../actions/inbox-content.ts';
import type { AgentSession } from '../session.ts';
import type { InboxItem, OwnerOptions } from '../session-claim.ts';
import type { SessionInfo } from '../session-info.ts';
import type { SessionStore } from '../session-store.ts';
import { ifMissing } from '../store/backend/write-record.ts';
import { notifyWorker } from './notify-worker.ts';

type Relatives = Pick<SessionStore, 'load' | 'inspect' | 'enqueue'>;

export interface ChildrenParts {
  /** The store without an owner: a parent and its children can be sessions of different owners. */
  readonly relatives: Relatives;
  readonly channel: SessionChannel | undefined;
}

/**
 * Returns the state of a session without its waits for child sessions whose execution has ended or that do not exist. When
 * no other wait remains, the execution resumes. A session of another owner exists for it only as its own child.
 */
export async function withoutEndedChildren(
  session: AgentSession,
  store: Pick<Relatives, 'inspect'>,
  at: Instant,
): Promise<AgentState> {
  const { state } = session;
  const waiting = state.status === 'suspended' ? (state.execution?.waiting ?? []) : [];
  const endedChildren = new Set<unknown>();
  for (const entry of waiting) {
    if (entry.type !== 'child') continue;
    const child = await store.inspect(entry.sessionId).then(({ info }) => info, ifMissing(undefined));
    const isChild = child !== undefined && maySee(session, child);
    const hasEnded = child?.executionStatus !== undefined && isTerminal(child.executionStatus);
    if (!isChild || hasEnded) endedChildren.add(entry);
  }
  if (endedChildren.size === 0) return state;
  return withoutWaits(state, (entry) => endedChildren.has(entry), at);
}

function maySee({ sessionId, owner }: AgentSession, child: SessionInfo): boolean {
  return owner === undefined || owner === child.owner || sessionId === child.parentId;
}

/**
 * Enqueues the notice that the execution of a session has ended, in the inbox of the parent, and returns the id of the
 * parent. The parent becomes due, so a sweep finds it. The worker calls this under its claim: if its process dies before,
 * the session is due, and the next worker notifies the parent. Returns `undefined` when no parent was notified.
 */
export async function notifyParent(
  child: AgentSession,
  { relatives, channel }: ChildrenParts,
): Promise<string | undefined> {
  const { sessionId, parentId, state } = child;
  if (parentId === undefined || !state.execution?.isTerminal) return undefined;
  const content: InboxContent = { type: 'child-ended', sessionId };
  const id = state.execution.executionId;
  if (!(await enqueueNotice(child, parentId, { id, content }, relatives))) return undefined;
  if (channel) void notifyWorker(channel, parentId, { id, content }); // a channel that hangs must not keep the claim
  return parentId;
}

/**
 * Returns true when the parent has the notice. The parent may have been deleted, and its id then taken by another owner: a
 * session of another owner gets the notice only if it waits for the child.
 */
async function enqueueNotice(
  { sessionId, owner }: AgentSession,
  parentId: string,
  notice: Pick<InboxItem, 'id' | 'content'>,
  relatives: Relatives,
): Promise<boolean> {
  const reserve = reserveOf({ type: 'child-ended', sessionId });
  const isEnqueued = (options: OwnerOptions): Promise<boolean> =>
    relatives.enqueue(parentId, notice, { ...options, reserve }).then(() => true, ifMissing(false));
  if (await isEnqueued({ owner })) return true;
  const parent = owner === undefined ? undefined : await relatives.load(parentId);
  return parent !== undefined && waitsFor(parent, sessionId) && isEnqueued({ owner: parent.owner });
}

function waitsFor({ state }: AgentSession, sessionId: string): boolean {
  const waiting = state.execution?.waiting ?? [];
  return waiting.some((entry) => entry.type === 'child' && entry.sessionId === sessionId);
}
