import { hasErrorCode, type AgentSession } from '@holdfast/core';
import type { SessionWatcher } from '@holdfast/core/channel';
import { errorText } from '../error-text.ts';
import { toSessionView, type SessionView } from '../view/session-view.ts';
import { changeBetween, type ViewEvent } from '../view/view-change.ts';

/**
 * Returns the view of a session: first as a whole, and then its changes. The text that a model writes is none of them.
 * The iteration ends without an event when the store does not reply: the page then connects again.
 */
export async function* viewEvents(
  watcher: SessionWatcher,
  sessionId: string,
  signal: AbortSignal,
): AsyncGenerator<ViewEvent, void, undefined> {
  try {
    yield* changes(watcher, sessionId, signal);
    if (!signal.aborted) yield { type: 'gone' };
  } catch (error) {
    if (hasErrorCode(error, 'SESSION_NOT_FOUND')) yield { type: 'gone' };
    else if (!hasErrorCode(error, 'STORE_UNAVAILABLE') && !hasErrorCode(error, 'STORE_THROTTLED'))
      yield { type: 'unreadable', message: errorText(error) };
  }
}

async function* changes(
  watcher: SessionWatcher,
  sessionId: string,
  signal: AbortSignal,
): AsyncGenerator<ViewEvent, void, undefined> {
  let seen: AgentSession | undefined;
  let shown: SessionView | undefined;
  for await (const { session } of watcher.watch(sessionId, { signal })) {
    if (session.state === seen?.state && session.version === seen.version) continue;
    seen = session;
    const view = toSessionView(session);
    yield { type: 'change', change: changeBetween(shown, view) };
    shown = view;
  }
}
