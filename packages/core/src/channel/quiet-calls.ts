import { safely } from './channel-listeners.ts';
import type { ChannelNotification, SessionChannel } from './session-channel.ts';

/**
 * Calls `look` for each notification of a session, and returns the function that ends this. When the channel throws, nothing
 * is notified: no work waits for a channel, and workers look by themselves too.
 */
export function onLook(
  channel: Pick<SessionChannel, 'onNotification'> | undefined,
  sessionId: string,
  look: (notification: ChannelNotification) => void,
): (() => void) | undefined {
  try {
    const remove = channel?.onNotification(sessionId, look);
    return remove && (() => safely(remove)(undefined));
  } catch {
    return undefined;
  }
}

/** Notifies workers. When the channel fails, they look later. */
export async function notifyQuietly(
  channel: Pick<SessionChannel, 'notify'> | undefined,
  sessionId: string,
  notification: ChannelNotification,
): Promise<void> {
  try {
    await channel?.notify(sessionId, notification);
  } catch {
    // The heartbeat and the polls of workers find what there is to do.
  }
}
