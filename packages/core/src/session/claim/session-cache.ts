import type { AgentSession } from '../session.ts';
import { weighSession, type SessionWeight } from './session-weight.ts';

interface CachedSession {
  readonly session: AgentSession;
  readonly weight: SessionWeight;
}

/** The size of a cache where the process does not know the limit of its heap, as in a browser. */
const FALLBACK_BYTES = 16_000_000;
/** The share of the heap that a cache may take by default. */
const SHARE = 1 / 16;

/** Returns the bytes of the heap that a cache may take by default. */
export function defaultCacheBytes(): number {
  return Math.floor((heapLimit() ?? FALLBACK_BYTES / SHARE) * SHARE);
}

/** Returns the limit of the heap in bytes. `getBuiltinModule` replaces an import, so that core loads in a browser. */
function heapLimit(): number | undefined {
  const { process } = globalThis as { readonly process?: Partial<Pick<NodeJS.Process, 'getBuiltinModule'>> };
  try {
    return process?.getBuiltinModule?.('node:v8').getHeapStatistics().heap_size_limit;
  } catch {
    return undefined; // a platform that has the module without its functions
  }
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
    const weight = weighSession(session, this.sessions.get(sessionId)?.weight);
    this.remove(sessionId);
    if (weight === undefined || weight.heap > this.limit) return;
    this.sessions.set(sessionId, { session, weight });
    this.size += weight.heap;
    for (const [oldest] of this.sessions) {
      if (this.size <= this.limit) return;
      this.remove(oldest);
    }
  }

  remove(sessionId: string): void {
    const cached = this.sessions.get(sessionId);
    if (cached === undefined) return;
    this.sessions.delete(sessionId);
    this.size -= cached.weight.heap;
  }
}
