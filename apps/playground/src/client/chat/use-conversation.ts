import { useChat } from '@ai-sdk/react';
import { withoutSteered } from '@holdfast/ui-ai-sdk/transport';
import type { UIMessage } from 'ai';
import { useEffect, useState } from 'react';
import type { Decide } from './approval-buttons.tsx';
import { chatOf, send, stop, transport, useIsConnected, useIsSending } from './chats.ts';

/** The conversation of a session as the page works with it. */
export interface Conversation {
  readonly messages: readonly UIMessage[];
  /** True while this page sends or reads a response. */
  readonly isBusy: boolean;
  /** True while the server does not have the last message. */
  readonly isSending: boolean;
  readonly isConnected: boolean;
  /** The error message for the user. */
  readonly notice: string | undefined;
  /** Sends a message; true as soon as the server has it. */
  readonly send: (text: string) => Promise<boolean>;
  /** Approves or denies a call that waits for approval. */
  readonly decide: Decide;
  readonly stop: () => void;
}

/** Shows a session, and keeps it current. */
export function useConversation(sessionId: string): Conversation {
  const chat = chatOf(sessionId);
  const { messages, status, error } = useChat({ chat, throttle: 30 });
  const [problem, setProblem] = useState<string>();
  const isConnected = useIsConnected();
  const isSending = useIsSending(sessionId);
  useEffect(() => transport.attach(chat), [chat]);
  return {
    messages: withoutSteered(messages),
    isBusy: status === 'submitted' || status === 'streaming',
    isSending,
    isConnected,
    notice: problem ?? error?.message,
    send: (text) => {
      setProblem(undefined);
      return send(sessionId, text);
    },
    decide: (id, approved) => void chat.addToolApprovalResponse({ id, approved }),
    stop: () => void stop(sessionId).catch((failure: Error) => setProblem(failure.message)),
  };
}
