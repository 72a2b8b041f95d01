import { Chat, useChat } from '@ai-sdk/react';
import { HoldfastChatTransport, withoutSteered } from '@holdfast/ui-ai-sdk/transport';
import { Composer } from 'chat-shared/composer';
import { Messages } from 'chat-shared/messages';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';

const id = new URLSearchParams(location.search).get('chat') ?? 'first';
const transport = new HoldfastChatTransport();
const chat = new Chat({
  id,
  transport,
  sendAutomaticallyWhen: transport.hasNewAnswers,
  onToolCall({ toolCall: { toolName: tool, toolCallId } }) {
    const output = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (tool === 'timeZone') void chat.addToolOutput({ tool, toolCallId, output });
  },
});

function Page() {
  const { messages, status, error, addToolApprovalResponse: decide } = useChat({ chat });
  useEffect(() => transport.attach(chat), []);
  return (
    <main>
      <Messages messages={withoutSteered(messages)} decide={decide} />
      {error && <p role="alert">{error.message}</p>}
      <Composer onSend={(text) => void chat.sendMessage({ text })} />
      {status !== 'ready' && <button onClick={() => void transport.stop(id).catch(alert)}>Stop</button>}
    </main>
  );
}

createRoot(document.body).render(<Page />);
