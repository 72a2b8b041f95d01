import { useCallback, useSyncExternalStore } from 'react';

/** The session in the page's address, so that a reload and the back button find it. */
export function useSessionInAddress(): [string | undefined, (sessionId: string | undefined) => void] {
  const sessionId = useSyncExternalStore(subscribe, read);
  const open = useCallback((next: string | undefined) => {
    location.hash = next === undefined ? '' : `/${encodeURIComponent(next)}`;
  }, []);
  return [sessionId, open];
}

function subscribe(changed: () => void): () => void {
  window.addEventListener('hashchange', changed);
  return () => window.removeEventListener('hashchange', changed);
}

function read(): string | undefined {
  const text = location.hash.replace(/^#\/?/, '');
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
