import { useCallback, useEffect, useState } from 'react';
import { fetchServerInfo, type ServerInfo } from './api.ts';
import { chatOf, remove, send, stop, transport, useIsConnected } from './chat/chats.ts';
import { Header, type Pane } from './header.tsx';
import { SessionList } from './sessions/session-list.tsx';
import { SessionScreen } from './chat/session-screen.tsx';
import { Welcome } from './chat/welcome.tsx';
import { useSessionInAddress } from './use-hash.ts';
import { useSessions } from './sessions/use-sessions.ts';

/** The page: sessions, conversation, state. On a narrow screen one of them at a time. */
export function App() {
  const { sessions, reload } = useSessions();
  const [sessionId, openSession] = useSessionInAddress();
  const [pane, setPane] = useState<Pane>('chat');
  const [starting, setStarting] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const server = useServerInfo();
  const isConnected = useIsConnected();
  // Until the page has opened the new session, it is the one to stop.
  useEffect(() => setStarting(undefined), [sessionId]);

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
  const begin = async (text: string) => {
    const created = crypto.randomUUID();
    setProblem(undefined);
    setStarting(created);
    const isSent = await send(created, text);
    if (isSent) open(created);
    else {
      setStarting(undefined);
      setProblem(chatOf(created).error?.message);
    }
    return isSent;
  };
  const fork = (original: string) =>
    attempt(async () => {
      const copy = crypto.randomUUID();
      await transport.fork(original, { chatId: copy });
      open(copy);
    });
  const discard = (doomed: string) =>
    attempt(async () => {
      await remove(doomed);
      if (doomed === sessionId) open(undefined);
    });

  return (
    <div className="shell" data-pane={pane}>
      <a className="skip" href="#message" onClick={focusMessage}>
        Skip to the message field
      </a>
      <Header server={server} pane={pane} onPane={setPane} />
      <SessionList sessions={sessions} selected={sessionId} onOpen={open} onNew={() => open(undefined)} />
      {sessionId === undefined ? (
        <Welcome
          server={server}
          isConnected={isConnected}
          isSending={starting !== undefined}
          problem={problem}
          onStart={begin}
          onStop={() => void (starting && stop(starting).catch(() => undefined))} // the session shows the run
        />
      ) : (
        <SessionScreen
          key={sessionId}
          sessionId={sessionId}
          problem={problem}
          onFork={() => fork(sessionId)}
          onDelete={() => discard(sessionId)}
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

function useServerInfo(): ServerInfo | undefined {
  const [server, setServer] = useState<ServerInfo>();
  useEffect(() => {
    fetchServerInfo().then(setServer, () => undefined);
  }, []);
  return server;
}
