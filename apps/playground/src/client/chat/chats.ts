import { Chat } from '@ai-sdk/react';
import { HoldfastChatTransport } from '@holdfast/ui-ai-sdk/transport';
import type { UIMessage } from 'ai';
import { useSyncExternalStore } from 'react';

/** A message that the server does not have yet. */
interface Sending {
  readonly messageId: string;
  readonly onSent: () => void;
}

let isConnected = true;
const chats = new Map<string, Chat<UIMessage>>();
const sendings = new Map<string, Sending>();
const listeners = new Set<() => void>();

export const transport = new HoldfastChatTransport({
  onConnection: (isNowConnected) => {
    isConnected = isNowConnected;
    announce();
  },
  onSent: ({ id }, chatId) => {
    const sending = sendings.get(chatId);
    if (sending?.messageId === id) sending.onSent();
  },
});

/** The chat of a session. It continues to send while the page shows another session. */
export function chatOf(sessionId: string): Chat<UIMessage> {
  const known = chats.get(sessionId);
  if (known) return known;
  const created = new Chat<UIMessage>({
    id: sessionId,
    transport,
    sendAutomaticallyWhen: transport.hasNewAnswers,
  });
  chats.set(sessionId, created);
  return created;
}

/** Sends a message, and returns true as soon as the server has it; false when it was refused or taken back. */
export async function send(sessionId: string, text: string): Promise<boolean> {
  const chat = chatOf(sessionId);
  const messageId = crypto.randomUUID();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  sendings.set(sessionId, { messageId, onSent: () => resolve(true) });
  announce();
  void chat.sendMessage({ id: messageId, role: 'user', parts: [{ type: 'text', text }] }).finally(() => {
    resolve(false);
  });
  const isSent = await promise;
  sendings.delete(sessionId);
  announce();
  if (!isSent) chat.messages = chat.messages.filter(({ id }) => id !== messageId);
  return isSent;
}

/** Stops the run of a session. A message that the server does not have is taken back, or stopped when it arrives. */
export async function stop(sessionId: string): Promise<void> {
  await transport.stop(sessionId);
}

/** Deletes a session. */
export async function remove(sessionId: string): Promise<void> {
  await transport.delete(sessionId);
  chats.delete(sessionId);
}

export function useIsConnected(): boolean {
  return useSyncExternalStore(subscribe, () => isConnected);
}

/** True while the server does not have the last message of a session. */
export function useIsSending(sessionId: string): boolean {
  return useSyncExternalStore(subscribe, () => sendings.has(sessionId));
}

function announce(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
