import { useCallback, useEffect, useState } from 'react';
import { createSession, deleteSession, fetchModel, forkSession } from './api.ts';
import type { ModelInfo } from './api.ts';
import { Header } from './header.tsx';
import type { Pane } from './header.tsx';
import { SessionList } from './session-list.tsx';
import { SessionScreen } from './session-screen.tsx';
import { Welcome } from './welcome.tsx';
import { useSessionInAddress } from './use-hash.ts';
import { useSessions } from './use-sessions.ts';

/** The page: sessions, conversation, state. On a narrow screen one of them at a time. */
export function App() {
  const { sessions, reload } = useSessions();
  const [sessionId, openSession] = useSessionInAddress();
  const [pane, setPane] = useState<Pane>('chat');
  const [firstMessage, setFirstMessage] = useState<{ readonly sessionId: string; readonly text: string }>();
  const [problem, setProblem] = useState<string>();
  const model = useModel();

  const open = useCallback(
    (next: string | undefined) => {
      setProblem(undefined);
      openSession(next);
      setPane('chat');
    },
    [openSession],
  );
  const attempt = (work: () => Promise<void>) => {
    setProblem(undefined);
    work().then(reload, (error: Error) => setProblem(error.message));
  };
  const begin = (text: string) =>
    attempt(async () => {
      const session = await createSession();
      setFirstMessage({ sessionId: session.sessionId, text });
      open(session.sessionId);
    });
  const fork = (original: string) => attempt(async () => open((await forkSession(original)).sessionId));
  const remove = (doomed: string) =>
    attempt(async () => {
      await deleteSession(doomed);
      if (doomed === sessionId) open(undefined);
    });

  return (
    <div className="shell" data-pane={pane}>
      <a className="skip" href="#message" onClick={focusMessage}>
        Skip to the message field
      </a>
      <Header model={model} pane={pane} onPane={setPane} />
      <SessionList sessions={sessions} selected={sessionId} onOpen={open} onNew={() => open(undefined)} />
      {sessionId === undefined ? (
        <Welcome model={model} problem={problem} onStart={begin} />
      ) : (
        <SessionScreen
          key={sessionId}
          sessionId={sessionId}
          firstMessage={firstMessage?.sessionId === sessionId ? firstMessage.text : undefined}
          problem={problem}
          onFork={() => fork(sessionId)}
          onDelete={() => remove(sessionId)}
          onOpen={open}
          onChange={reload}
        />
      )}
    </div>
  );
}

/** The address belongs to the session, so the link must not change it. */
function focusMessage(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#message')?.focus();
}

function useModel(): ModelInfo | undefined {
  const [model, setModel] = useState<ModelInfo>();
  useEffect(() => {
    fetchModel().then(setModel, () => undefined);
  }, []);
  return model;
}
