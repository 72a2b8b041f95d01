import type { UIMessage } from 'ai';

/**
 * Returns the messages without the user messages that an assistant message has as `steering-message` parts. A page that
 * sent a message during a run has its own copy of it at the end, and would show it twice.
 */
export function withoutSteered<Message extends UIMessage>(messages: readonly Message[]): Message[] {
  const steered = new Set<string>();
  for (const { parts } of messages)
    for (const part of parts) if (part.type === 'steering-message') steered.add(part.id);
  return messages.filter(({ id, role }) => role !== 'user' || !steered.has(id));
}
