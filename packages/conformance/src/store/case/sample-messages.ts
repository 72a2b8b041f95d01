import { userMessage, type Message } from '@holdfast/core';
import { START } from './store-case.ts';

const made = new Map<string, Message>();

/**
 * Messages whose ids are their numbers, beginning at `from`. Each `version` of a message has another text. Repeated
 * calls return the same object for the same message, because a store may recognise a message by its identity.
 */
export function sampleMessages(count: number, from = 0, version = 'first'): Message[] {
  return Array.from({ length: count }, (_, index) => {
    const text = `Message ${from + index}, ${version}.`;
    const id = `30000000-0000-4000-8000-${String(from + index).padStart(12, '0')}`;
    const message = made.get(text) ?? userMessage(text, { id, createdAt: START });
    made.set(text, message);
    return message;
  });
}
