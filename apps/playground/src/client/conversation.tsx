import { useEffect, useLayoutEffect, useRef } from 'react';
import type { SessionView } from '../session-view.ts';
import { ChatMessage } from './chat-message.tsx';
import { Composer } from './composer.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Notice } from './notice.tsx';
import type { SessionChat } from './use-session-chat.ts';

interface ConversationProps {
  readonly chat: SessionChat;
  readonly problem: string | undefined;
  readonly onFork: () => void;
  readonly onDelete: () => void;
}

/** The stored messages, the message in progress, and the message field. */
export function Conversation({ chat, problem, onFork, onDelete }: ConversationProps) {
  const { view, messages, isRunning } = chat;
  const end = useStickToEnd();
  useEscape(isRunning, chat.stop);
  return (
    <main className="chat" aria-label="Conversation">
      <div className="chat-head">
        <h2 title={view.title}>{view.title}</h2>
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
            onDecide={chat.decide}
          />
        ))}
        {isRunning && messages.at(-1)?.role !== 'assistant' && <p className="thinking">Thinking</p>}
        {messages.length === 0 && !isRunning && <p className="quiet">No messages yet.</p>}
        {view.executionStatus === 'stopped' && !isRunning && (
          <p className="quiet">Stopped: {stopReason(view)}</p>
        )}
      </div>
      <Notices chat={chat} problem={problem} />
      <Composer isRunning={isRunning} onSend={chat.send} onStop={chat.stop} />
    </main>
  );
}

function Notices({ chat, problem }: Pick<ConversationProps, 'chat' | 'problem'>) {
  const { view, isRunning, isConnected, notice } = chat;
  const { execution } = view;
  const failure = execution?.status === 'failed' && !isRunning ? execution.errors.at(-1)?.message : undefined;
  return (
    <>
      {!isConnected && (
        <Notice tone="warn">
          The server does not answer. The saved steps are safe. The page tries again…
        </Notice>
      )}
      {isConnected && view.isUnfinished && !isRunning && (
        <Notice
          tone="warn"
          action={
            <button type="button" className="button primary" onClick={chat.resume}>
              Continue
            </button>
          }
        >
          <strong>This run is unfinished.</strong> {unfinishedText(execution?.steps.length ?? 0)}
        </Notice>
      )}
      {failure !== undefined && <Notice tone="bad">The run failed: {failure}</Notice>}
      {[notice, problem].map(
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

function stopReason({ execution }: SessionView): string {
  return execution?.signals[0]?.message ?? 'the reason is unknown.';
}

function unfinishedText(steps: number): string {
  const saved =
    steps === 0
      ? 'Your message is saved'
      : `${steps} finished ${steps === 1 ? 'step is' : 'steps are'} saved`;
  return `${saved}; a call in doubt is repeated, with the same idempotency key.`;
}

/** A run can be stopped from wherever the focus is, as soon as the page shows that it can. */
function useEscape(isRunning: boolean, stop: () => void): void {
  useLayoutEffect(() => {
    if (!isRunning) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape') stop();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  });
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
