import { knownSize } from '../store/save-plan.ts';
import type { AgentSession } from '../session.ts';

interface CachedSession {
  readonly session: AgentSession;
  readonly size: number;
}

/**
 * Sessions as the store answered them last, as bases of the next claims and loads: the store compares, so a session that
 * is out of date costs a read and is never used. Bounded; the least recently used session goes first.
 */
export class SessionCache {
  private readonly limit: number;
  /** The least recently used first. */
  private readonly sessions = new Map<string, CachedSession>();
  private size = 0;

  /** @param limit the most that it holds, in UTF-16 code units of JSON */
  constructor(limit: number) {
    this.limit = limit;
  }

  get(sessionId: string): AgentSession | undefined {
    const cached = this.sessions.get(sessionId);
    if (cached === undefined) return undefined;
    this.sessions.delete(sessionId);
    this.sessions.set(sessionId, cached);
    return cached.session;
  }

  /** Holds a session as the store answered it, unless it is larger than the cache. */
  put(session: AgentSession): void {
    const { sessionId } = session;
    this.remove(sessionId);
    const size = knownSize(session);
    if (size === undefined || size > this.limit) return;
    this.sessions.set(sessionId, { session, size });
    this.size += size;
    for (const [oldest] of this.sessions) {
      if (this.size <= this.limit) return;
      this.remove(oldest);
    }
  }

  remove(sessionId: string): void {
    const cached = this.sessions.get(sessionId);
    if (cached === undefined) return;
    this.sessions.delete(sessionId);
    this.size -= cached.size;
  }
}
