import { knownSize } from '../store/content/written-parts.ts';
import type { AgentSession } from '../session.ts';

interface CachedSession {
  readonly session: AgentSession;
  readonly size: number;
}

/** The part of a cache that a runtime uses. */
export type CachedSessions = Pick<SessionCache, 'get' | 'put' | 'remove' | 'ownedBy'>;

/**
 * The sessions as the store last returned them, as bases of the next claims and loads. The store checks each base, so
 * an outdated session costs a read and is never used. The size is limited; the least recently used session is removed
 * first.
 */
export class SessionCache {
  private readonly limit: number;
  /** The sessions by id, the least recently used first. */
  private readonly sessions = new Map<string, CachedSession>();
  private size = 0;

  /** @param limit the largest total size, in bytes of JSON */
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

  /** Returns the cache for the calls of one owner, which find and remove no session of another owner. */
  ownedBy(owner: string): CachedSessions {
    const isOwn = (sessionId: string): boolean => this.sessions.get(sessionId)?.session.owner === owner;
    return {
      get: (sessionId) => (isOwn(sessionId) ? this.get(sessionId) : undefined),
      put: (session) => this.put(session),
      ownedBy: (other) => this.ownedBy(other),
      remove: (sessionId) => {
        if (isOwn(sessionId)) this.remove(sessionId);
      },
    };
  }

  /** Caches a session as the store returned it, unless the session is larger than the cache. */
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
