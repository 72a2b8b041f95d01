import type { UseChatHelpers } from '@ai-sdk/react';
import { isToolUIPart, type UIMessage } from 'ai';
import { useEffect, useState } from 'react';

type ViewedChat = Pick<
  UseChatHelpers<UIMessage>,
  'messages' | 'status' | 'error' | 'sendMessage' | 'regenerate' | 'addToolApprovalResponse'
>;

/** The facts that a test reads from a page. */
export interface Shown {
  readonly messages: readonly UIMessage[];
  readonly status: string;
  readonly error: string | undefined;
  /** The instants of the last change of the status and of the last press of Stop. */
  readonly changedAt: number;
  readonly stoppedAt: number;
}

/** Shows a chat, and puts what it shows on the window. */
export function ChatView({ chat, onStop }: { readonly chat: ViewedChat; readonly onStop: () => void }) {
  const [text, setText] = useState('');
  const { messages, status, error } = chat;
  useEffect(() => note({ messages, status, error: error?.message }), [messages, status, error]);
  useEffect(() => note({ changedAt: Date.now() }), [status]);
  const send = (messageId?: string): void => {
    setText('');
    void chat.sendMessage(messageId === undefined ? { text } : { text, messageId });
  };
  const stop = (): void => {
    note({ stoppedAt: Date.now() });
    onStop();
  };
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} data-role={message.role}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} decide={chat.addToolApprovalResponse} />
          ))}
          {message.role === 'user' && <button onClick={() => send(message.id)}>Edit</button>}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <textarea aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      <button onClick={() => send()}>Send</button>
      <button onClick={() => void chat.regenerate()}>Regenerate</button>
      <button onClick={stop}>Stop</button>
    </main>
  );
}

interface PartProps {
  readonly part: UIMessage['parts'][number];
  readonly decide: ViewedChat['addToolApprovalResponse'];
}

function Part({ part, decide }: PartProps) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (!isToolUIPart(part)) return null;
  const { state } = part;
  return (
    <div data-tool={part.type} data-state={state}>
      {state === 'approval-requested' &&
        [true, false].map((approved) => (
          <button key={String(approved)} onClick={() => void decide({ id: part.approval.id, approved })}>
            {approved ? 'Approve' : 'Deny'}
          </button>
        ))}
    </div>
  );
}

function note(facts: Partial<Shown>): void {
  const page = window as { shown?: Partial<Shown> };
  page.shown = { ...page.shown, ...facts };
}
