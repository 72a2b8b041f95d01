import { useCallback, useEffect, useState } from 'react';
import type { SessionSummary } from '../../view/session-summary.ts';
import { fetchSessions } from '../api.ts';

/** All sessions, the last changed first; loaded again on request and when the page gets the focus. */
export function useSessions(): {
  readonly sessions: readonly SessionSummary[] | undefined;
  readonly reload: () => void;
} {
  const [sessions, setSessions] = useState<readonly SessionSummary[]>();
  const reload = useCallback(() => {
    // A server that is gone shows in the conversation; the list stays as it was.
    fetchSessions().then(setSessions, () => undefined);
  }, []);
  useEffect(() => {
    reload();
    window.addEventListener('focus', reload);
    return () => window.removeEventListener('focus', reload);
  }, [reload]);
  return { sessions, reload };
}
