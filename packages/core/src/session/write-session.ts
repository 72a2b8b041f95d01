import type { Clock } from '../clock.ts';
import { pause } from '../clock.ts';
import { hasErrorCode } from '../errors.ts';
import type { SessionConflictError } from './session-errors.ts';
import { isUnreachable } from './session-errors.ts';
import type { SessionEvent } from './session-events.ts';
import type { AgentSession } from './session.ts';
import type { SaveOptions, SessionStore } from './session-store.ts';

interface WriteParts {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly report: (event: SessionEvent) => void;
}

const ATTEMPTS = 3;

/**
 * Saves a session, again under the same operation id while the store does not answer, and reports what came of it.
 * @throws what the store throws at last.
 */
export async function writeSession(
  session: AgentSession,
  options: SaveOptions & { readonly operationId: string },
  { store, clock, report }: WriteParts,
): Promise<AgentSession> {
  for (let attempt = 1; ; attempt++) {
    try {
      const saved = await store.save(session, options);
      report({ type: 'session-saved', session: saved });
      return saved;
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_CONFLICT'))
        report({ type: 'session-conflict', session, error: error as SessionConflictError });
      if (attempt === ATTEMPTS || !isUnreachable(error)) throw error;
      await pause(clock, 100 * 4 ** (attempt - 1));
    }
  }
}
