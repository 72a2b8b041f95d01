import { useCallback, useEffect, useState } from 'react';
import type { SessionView } from '../../view/session-view.ts';
import { viewAfter, type ViewEvent } from '../../view/view-change.ts';
import { sessionPath } from '../api.ts';

/** A session as the server last described it. */
interface WatchedView {
  readonly view: SessionView | undefined;
  /** True when there is no such session, or it was deleted. */
  readonly isGone: boolean;
  /** Why the session cannot be read. */
  readonly problem: string | undefined;
  /** Watches again, after a message has created the session anew. */
  readonly reopen: () => void;
}

const NOTHING = { view: undefined, isGone: false, problem: undefined };

/** The live view of a session. A hidden tab holds no connection: browsers allow few of them. */
export function useSessionView(sessionId: string): WatchedView {
  const [watched, setWatched] = useState<Omit<WatchedView, 'reopen'>>(NOTHING);
  const [opening, setOpening] = useState(0);
  useEffect(() => {
    let source: EventSource | undefined;
    const open = () => {
      let view: SessionView | undefined;
      source = new EventSource(`${sessionPath(sessionId)}/view`);
      source.addEventListener('open', () => (view = undefined)); // a new connection begins with the whole view
      source.addEventListener('message', ({ data }: MessageEvent<string>) => {
        const event = JSON.parse(data) as ViewEvent;
        if (event.type === 'change') {
          view = viewAfter(view, event.change);
          return setWatched({ ...NOTHING, view });
        }
        source?.close();
        setWatched((before) => ({
          view: before.view && { ...before.view, isRunning: false },
          isGone: event.type === 'gone',
          problem: event.type === 'unreadable' ? event.message : undefined,
        }));
      });
    };
    const follow = () => {
      source?.close();
      if (document.visibilityState === 'visible') open();
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      source?.close();
    };
  }, [sessionId, opening]);
  const reopen = useCallback(() => setOpening((count) => count + 1), []);
  return { ...watched, reopen };
}
