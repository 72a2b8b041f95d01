import type { UIMessage } from 'ai';

/**
 * Returns the messages without the user messages that an assistant message has as `steering-message` parts. A page that
 * sent a message during a run has its own copy of it at the end, and would show it twice.
 */
export function withoutSteered<Message extends UIMessage>(messages: readonly Message[]): Message[] {
  const steered = steeredIds(messages, 0);
  return messages.filter((message) => !isSteered(message, steered));
}

/** Returns the ids of the `steering-message` parts of the messages from an index on. */
export function steeredIds(messages: readonly UIMessage[], from: number): ReadonlySet<string> {
  const steered = new Set<string>();
  for (let index = from; index < messages.length; index++)
    for (const part of messages[index]?.parts ?? [])
      if (part.type === 'steering-message') steered.add(part.id);
  return steered;
}

/** True for a user message that an assistant message has as a part. */
export function isSteered({ id, role }: UIMessage, steered: ReadonlySet<string>): boolean {
  return role === 'user' && steered.has(id);
}
