import { useEffect, useState } from 'react';
import type { SessionSummary } from '../../view/session-summary.ts';
import { ago } from '../format.ts';
import { StatusPill } from './status-pill.tsx';

interface SessionListProps {
  readonly sessions: readonly SessionSummary[] | undefined;
  readonly selected: string | undefined;
  readonly onOpen: (sessionId: string) => void;
  readonly onNew: () => void;
}

/** The sessions of the store, the last active first. */
export function SessionList({ sessions, selected, onOpen, onNew }: SessionListProps) {
  const now = useNow();
  return (
    <nav className="sessions" aria-label="Sessions">
      <button
        type="button"
        className="new-session"
        aria-current={selected === undefined || undefined}
        onClick={onNew}
      >
        <span aria-hidden="true">+</span> New session
      </button>
      {sessions?.length === 0 && <p className="quiet padded">No sessions yet.</p>}
      <ul>
        {sessions?.map((session) => (
          <li key={session.sessionId}>
            <button
              type="button"
              className="session"
              aria-current={session.sessionId === selected || undefined}
              onClick={() => onOpen(session.sessionId)}
            >
              <span className="session-title">{session.title}</span>
              <span className="session-facts">
                <StatusPill session={session} />
                {session.isFork && <span className="tag">fork</span>}
                <span className="session-time">
                  v{session.version} · {ago(session.updatedAt, now)}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 20_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
