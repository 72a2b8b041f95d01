import { useEffect, useState } from 'react';
import { fetchSession } from './api.ts';
import type { SessionDetails } from './api.ts';
import { Conversation } from './conversation.tsx';
import { StatePanel } from './state-panel.tsx';
import { useSessionChat } from './use-session-chat.ts';

interface SessionScreenProps {
  readonly sessionId: string;
  /** The message to send when the session is open. */
  readonly firstMessage: string | undefined;
  readonly problem: string | undefined;
  readonly onFork: () => void;
  readonly onDelete: () => void;
  readonly onOpen: (sessionId: string | undefined) => void;
  /** The session has changed. */
  readonly onChange: () => void;
}

/** One session: its conversation, and its state beside it. */
export function SessionScreen(props: SessionScreenProps) {
  const { sessionId, onOpen } = props;
  const [details, setDetails] = useState<SessionDetails>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isWanted = true;
    fetchSession(sessionId).then(
      (found) => isWanted && setDetails(found),
      (error: Error) => isWanted && setProblem(error.message),
    );
    return () => void (isWanted = false);
  }, [sessionId]);
  if (details) return <OpenSession {...props} details={details} />;
  return (
    <main className="chat" aria-label="Conversation">
      <div className="scroll welcome">
        {problem !== undefined && (
          <>
            <h2>This session cannot be opened</h2>
            <p role="alert">{problem}</p>
            <p>
              <button type="button" className="button" onClick={() => onOpen(undefined)}>
                Begin a new session
              </button>
            </p>
          </>
        )}
      </div>
    </main>
  );
}

function OpenSession({
  details,
  firstMessage,
  onChange,
  ...actions
}: SessionScreenProps & { details: SessionDetails }) {
  const chat = useSessionChat(details, firstMessage);
  const { view } = chat;
  useEffect(onChange, [onChange, view.version, view.isRunning]);
  useEffect(() => {
    document.title = `${view.title} · Holdfast playground`;
    return () => void (document.title = 'Holdfast playground');
  }, [view.title]);
  return (
    <>
      <Conversation chat={chat} {...actions} />
      <StatePanel view={view} onOpen={actions.onOpen} />
    </>
  );
}
