import { useEffect } from 'react';
import { ConversationPane } from './conversation.tsx';
import { StatePanel } from '../state/state-panel.tsx';
import { useConversation } from './use-conversation.ts';
import { useSessionView } from '../state/use-session-view.ts';

interface SessionScreenProps {
  readonly sessionId: string;
  readonly problem: string | undefined;
  readonly onFork: () => void;
  readonly onDelete: () => void;
  readonly onOpen: (sessionId: string | undefined) => void;
  /** The list of sessions shows something else than before. */
  readonly onChange: () => void;
}

/** One session: its conversation, and its state beside it. */
export function SessionScreen(props: SessionScreenProps) {
  const { sessionId, onOpen, onChange } = props;
  const conversation = useConversation(sessionId);
  const { view, isGone, problem, reopen } = useSessionView(sessionId);
  const { title, executionStatus } = view ?? {};
  useEffect(onChange, [onChange, title, executionStatus, isGone]);
  useEffect(() => {
    document.title = title === undefined ? 'Holdfast playground' : `${title} · Holdfast playground`;
    return () => void (document.title = 'Holdfast playground');
  }, [title]);
  const send = async (text: string) => {
    const isSent = await conversation.send(text);
    if (isSent && isGone) reopen();
    return isSent;
  };
  const unreadable = isGone && view === undefined ? 'It does not exist, or it has expired.' : problem;
  if (unreadable !== undefined) return <ClosedSession problem={unreadable} onOpen={onOpen} />;
  return (
    <>
      <ConversationPane {...props} conversation={{ ...conversation, send }} view={view} isGone={isGone} />
      {view ? (
        <StatePanel view={view} onOpen={onOpen} />
      ) : (
        <aside className="state" aria-label="State" aria-busy="true" />
      )}
    </>
  );
}

function ClosedSession({ problem, onOpen }: { problem: string; onOpen: SessionScreenProps['onOpen'] }) {
  return (
    <main className="chat" aria-label="Conversation">
      <div className="scroll welcome">
        <h2>This session cannot be opened</h2>
        <p role="alert">{problem}</p>
        <p>
          <button type="button" className="button" onClick={() => onOpen(undefined)}>
            Begin a new session
          </button>
        </p>
      </div>
    </main>
  );
}
