import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { createRoot } from 'react-dom/client';
import { ChatView } from './chat-view.tsx';

const id = new URL(location.href).searchParams.get('chat') ?? '';
const response = await fetch(`/api/chat/${id}`);
const { messages } = (await response.json()) as { messages: UIMessage[] };

/** The page as the documentation of the AI SDK shows it. */
function StockPage() {
  const chat = useChat({
    id,
    messages,
    transport: new DefaultChatTransport(),
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return <ChatView chat={chat} onStop={() => void fetch(`/api/chat/${id}/stop`, stopInit)} />;
}

const stopInit = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };

createRoot(document.querySelector('#root') as Element).render(<StockPage />);
