import type { SessionChannel } from '../../channel/session-channel.ts';
import type { AgentSession } from '../session.ts';
import type { InboxContent } from '../actions/inbox-content.ts';

/**
 * Notifies the worker that holds a session of an item in its inbox. When the channel does not reply, the worker reads
 * the item with its next heartbeat.
 */
export async function notifyWorker(
  channel: SessionChannel,
  sessionId: string,
  content: InboxContent,
): Promise<void> {
  const { executionId } = content.type === 'stop' ? content : {};
  const type = content.type === 'stop' ? 'stop' : 'look';
  try {
    await channel.notify(sessionId, { type, ...(executionId !== undefined && { executionId }) });
  } catch {
    // The heartbeat reads the inbox.
  }
}

/**
 * Publishes that a session was saved without a claim, so that readers load it. When the channel does not reply, they
 * read the store some seconds later.
 */
export async function publishSave(channel: SessionChannel, session: AgentSession): Promise<void> {
  const { sessionId, version, status, updatedAt: at, revision } = session;
  const position = { incarnation: revision.incarnation, epoch: 0, series: 0, n: 1, base: version - 1 };
  try {
    await channel.publish(sessionId, [{ ...position, change: { type: 'saved', version, status, at } }]);
  } catch {
    // Readers look at the store.
  }
}
