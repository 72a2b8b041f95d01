import { notifyQuietly } from '../../channel/quiet-calls.ts';
import type { SessionChannel } from '../../channel/session-channel.ts';
import type { InboxContent } from '../actions/inbox-content.ts';

/**
 * Notifies the worker that holds a session of an item in its inbox. When the channel does not reply, the worker reads
 * the item with its next heartbeat.
 */
export async function notifyWorker(
  channel: SessionChannel,
  sessionId: string,
  { id: itemId, content }: { readonly id: string; readonly content: InboxContent },
): Promise<void> {
  const { executionId } = content.type === 'stop' ? content : {};
  const type = content.type === 'stop' ? 'stop' : 'look';
  await notifyQuietly(channel, sessionId, {
    type,
    ...(executionId !== undefined && { executionId }),
    itemId,
  });
}
