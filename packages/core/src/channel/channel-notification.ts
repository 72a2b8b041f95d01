import { isJsonObject, type JsonValue } from '../json.ts';
import type { ChannelNotification } from './session-channel.ts';

const LOOK: ChannelNotification = Object.freeze({ type: 'look' });

/** Returns the text of a notification, which is JSON. */
export function writeChannelNotification({ type, executionId, itemId }: ChannelNotification): string {
  return JSON.stringify({ type, executionId, itemId });
}

/** Reads the text of a notification. Returns `look` for a text that is damaged or that a newer release wrote. */
export function readChannelNotification(text: string): ChannelNotification {
  try {
    const value = JSON.parse(text) as JsonValue;
    if (!isJsonObject(value)) return LOOK;
    const type = value['type'] === 'stop' ? 'stop' : 'look';
    const { executionId, itemId } = value;
    return {
      type,
      ...(typeof executionId === 'string' && { executionId }),
      ...(typeof itemId === 'string' && { itemId }),
    };
  } catch {
    return LOOK;
  }
}
