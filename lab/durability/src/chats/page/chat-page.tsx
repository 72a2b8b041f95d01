import { Chat, useChat } from '@ai-sdk/react';
import { HoldfastChatTransport, withoutSteered } from '@holdfast/ui-ai-sdk/transport';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { ChatView } from './chat-view.tsx';

const id = new URL(location.href).searchParams.get('chat') ?? '';
const transport = new HoldfastChatTransport();
const chat = new Chat({ id, transport, sendAutomaticallyWhen: transport.hasNewAnswers });

function ChatPage() {
  useEffect(() => transport.attach(chat), []);
  const { messages, ...others } = useChat({ chat });
  const shown = { messages: withoutSteered(messages), ...others };
  return <ChatView chat={shown} onStop={() => void transport.stop(id).catch(() => undefined)} />;
}

createRoot(document.querySelector('#root') as Element).render(<ChatPage />);
