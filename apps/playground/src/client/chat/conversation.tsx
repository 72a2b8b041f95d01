import type { UIMessage } from 'ai';
import { useEffect, useRef } from 'react';
import type { SessionView } from '../../view/session-view.ts';
import { ChatMessage } from './chat-message.tsx';
import { Composer } from './composer.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Notice } from '../parts/notice.tsx';
import type { Conversation } from './use-conversation.ts';
import { Waiting } from './waiting.tsx';

interface ConversationPaneProps {
  readonly sessionId: string;
  readonly conversation: Conversation;
  /** The session beside the chat; absent before it has arrived. */
  readonly view: SessionView | undefined;
  /** True when the session was deleted elsewhere. */
  readonly isGone: boolean;
  readonly problem: string | undefined;
  readonly onFork: () => void;
  readonly onDelete: () => void;
}

/** The stored messages, the message in progress, and the message field. */
export function ConversationPane(props: ConversationPaneProps) {
  const { sessionId, conversation, view, onFork, onDelete } = props;
  const { messages, isSending, stop } = conversation;
  const isRunning = conversation.isBusy || isSending || (view?.isRunning ?? false);
  const title = view?.title ?? '';
  const end = useStickToEnd();
  return (
    <main className="chat" aria-label="Conversation">
      <div className="chat-head">
        <h2 title={title}>{title}</h2>
        <button type="button" className="button small" onClick={onFork}>
          Fork
        </button>
        <ConfirmButton label="Delete" question="Really delete?" isDisabled={isRunning} onConfirm={onDelete} />
      </div>
      <div
        className="scroll messages"
        ref={end}
        tabIndex={0}
        role="log"
        aria-label="Messages"
        aria-live="polite"
        aria-busy={isRunning}
      >
        {messages.map((message, index) => (
          <ChatMessage
            key={message.id}
            message={message}
            isGrowing={isRunning && index === messages.length - 1}
            onDecide={conversation.decide}
          />
        ))}
        {isRunning && !isMoving(messages) && <Waiting label={waitingFor(conversation)} />}
        {messages.length === 0 && !isRunning && <p className="quiet">No messages yet.</p>}
        {view?.executionStatus === 'stopped' && !isRunning && (
          <p className="quiet">Stopped: {stopReason(view)}</p>
        )}
      </div>
      <Notices {...props} isRunning={isRunning} />
      <Composer
        draft={sessionId}
        isSending={isSending}
        onSend={conversation.send}
        onStop={isRunning ? stop : undefined}
      />
    </main>
  );
}

type NoticesProps = Pick<ConversationPaneProps, 'conversation' | 'view' | 'isGone' | 'problem'>;

function Notices({
  conversation,
  view,
  isGone,
  problem,
  isRunning,
}: NoticesProps & { readonly isRunning: boolean }) {
  const { execution } = view ?? {};
  const failure = execution?.status === 'failed' && !isRunning ? execution.errors.at(-1)?.message : undefined;
  return (
    <>
      {!conversation.isConnected && (
        <Notice tone="warn">
          The server does not answer. The page keeps what you sent, and tries again…
        </Notice>
      )}
      {isGone && <Notice tone="warn">This session was deleted. Your next message begins it anew.</Notice>}
      {failure !== undefined && <Notice tone="bad">The run failed: {failure}</Notice>}
      {[conversation.notice, problem].map(
        (text) =>
          text !== undefined &&
          text !== failure && (
            <Notice key={text} tone="bad">
              {text}
            </Notice>
          ),
      )}
    </>
  );
}

/** True when the end of the conversation shows by itself that the run continues. */
function isMoving(messages: readonly UIMessage[]): boolean {
  const last = messages.at(-1);
  const part = last?.role === 'assistant' ? last.parts.at(-1) : undefined;
  if (part?.type === 'text') return part.state === 'streaming' && part.text !== '';
  return part !== undefined && 'toolCallId' in part && part.state === 'input-available';
}

function waitingFor({ isSending, isConnected }: Conversation): string {
  if (!isConnected) return 'Waiting for the server';
  return isSending ? 'Sending' : 'Thinking';
}

function stopReason({ execution }: SessionView): string {
  return execution?.signals[0]?.message ?? 'the reason is unknown.';
}

/** Follows the end as it grows, unless the reader has scrolled up. */
function useStickToEnd() {
  const element = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    const onScroll = () => {
      isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < 60;
    };
    current.addEventListener('scroll', onScroll, { passive: true });
    return () => current.removeEventListener('scroll', onScroll);
  }, []);
  useEffect(() => {
    if (isAtEnd.current && element.current) element.current.scrollTop = element.current.scrollHeight;
  });
  return element;
}
