import { knownSize } from './save-plan.ts';
import type { AgentSession } from './session.ts';

/**
 * Sessions as the store answered them last, for the claims and loads that follow. The store says whether one of them is
 * still what it has; the cache only spares reading its content again. Bounded; the session that was used longest ago goes
 * first.
 */
export class SessionCache {
  private readonly limit: number;
  private readonly sessions = new Map<string, AgentSession>();
  private size = 0;

  /** @param limit the most that it holds, in UTF-16 code units of JSON */
  constructor(limit: number) {
    this.limit = limit;
  }

  get(sessionId: string): AgentSession | undefined {
    return this.sessions.get(sessionId);
  }

  /** Holds a session as the store answered it. */
  put(session: AgentSession): void {
    this.remove(session.sessionId);
    const size = knownSize(session);
    if (size === undefined || size > this.limit) return;
    this.sessions.set(session.sessionId, session);
    this.size += size;
    for (const [oldest] of this.sessions) {
      if (this.size <= this.limit) return;
      this.remove(oldest);
    }
  }

  remove(sessionId: string): void {
    const session = this.sessions.get(sessionId);
    if (session === undefined) return;
    this.sessions.delete(sessionId);
    this.size -= knownSize(session) ?? 0;
  }
}
