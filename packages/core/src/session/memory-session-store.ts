import { invalidArgument } from '../errors.ts';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import type { AgentSession, SessionInfo, SessionRevision } from './session.ts';
import { compareSessionInfos, isAfter, resolveSessionQuery, sessionCursor } from './session-cursor.ts';
import type { ResolvedSessionQuery } from './session-cursor.ts';
import type { DeleteOptions, SaveOptions, SessionPage, SessionQuery, SessionStore } from './session-store.ts';
import { SessionConflictError, SessionNotFoundError } from './session-store.ts';

interface Entry {
  readonly session: AgentSession;
  readonly operationId: string | undefined;
}

/**
 * Keeps sessions for as long as the process lives. The reference of the contract: read it to write your own.
 * Sessions are immutable, so keeping the value is keeping a copy.
 */
export class MemorySessionStore implements SessionStore {
  private readonly entries = new Map<string, Entry>();
  private readonly clock: Clock;

  constructor(options: { readonly clock?: Clock } = {}) {
    this.clock = options.clock ?? systemClock;
  }

  create(session: AgentSession): Promise<AgentSession> {
    return attempt(() => {
      const existing = this.entries.get(session.sessionId);
      if (session.version !== 0)
        throw invalidArgument(`A new session has version 0, found ${session.version}.`);
      if (existing) throw conflict(session, existing.session.revision);
      return this.put(session, { incarnation: this.clock.newId(), version: 1 }, undefined);
    });
  }

  load(sessionId: string): Promise<AgentSession | undefined> {
    return attempt(() => this.entries.get(sessionId)?.session);
  }

  save(session: AgentSession, { operationId }: SaveOptions = {}): Promise<AgentSession> {
    return attempt(() => {
      const existing = this.entries.get(session.sessionId);
      if (existing === undefined) throw new SessionNotFoundError(session.sessionId);
      const { revision } = existing.session;
      if (!isSameRevision(revision, session.revision)) {
        if (isOwnEarlierSave(existing, session.revision, operationId)) return existing.session;
        throw conflict(session, revision);
      }
      return this.put(session, { ...revision, version: revision.version + 1 }, operationId);
    });
  }

  exists(sessionId: string): Promise<boolean> {
    return attempt(() => this.entries.has(sessionId));
  }

  delete(sessionId: string, { revision }: DeleteOptions = {}): Promise<boolean> {
    return attempt(() => {
      const existing = this.entries.get(sessionId)?.session;
      if (existing && revision && !isSameRevision(existing.revision, revision)) {
        throw new SessionConflictError(sessionId, revision, existing.revision);
      }
      return this.entries.delete(sessionId);
    });
  }

  list(query?: SessionQuery): Promise<SessionPage> {
    return attempt(() => {
      const resolved = resolveSessionQuery(query);
      const { order, limit } = resolved;
      const matching = [...this.entries.values()]
        .map(({ session }) => session.info)
        .filter((info) => fits(info, resolved));
      const sorted = matching.toSorted(compareSessionInfos(order));
      const sessions = sorted.slice(0, limit);
      const last = sessions.at(-1);
      return { sessions, cursor: last && sorted.length > limit ? sessionCursor(last, order) : undefined };
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private put(
    session: AgentSession,
    revision: SessionRevision,
    operationId: string | undefined,
  ): AgentSession {
    const saved = session.withRevision(revision, this.clock.now());
    this.entries.set(saved.sessionId, { session: saved, operationId });
    return saved;
  }
}

/** A promise of what a function returns or throws. */
function attempt<T>(act: () => T): Promise<T> {
  return Promise.resolve().then(act);
}

function conflict(session: AgentSession, actual: SessionRevision): SessionConflictError {
  return new SessionConflictError(session.sessionId, session.revision, actual);
}

function isSameRevision(left: SessionRevision, right: SessionRevision): boolean {
  return left.version === right.version && left.incarnation === right.incarnation;
}

function isOwnEarlierSave(
  { session, operationId }: Entry,
  base: SessionRevision,
  wanted: string | undefined,
): boolean {
  const { incarnation, version } = session.revision;
  return (
    wanted !== undefined &&
    operationId === wanted &&
    incarnation === base.incarnation &&
    version === base.version + 1
  );
}

function fits(info: SessionInfo, query: ResolvedSessionQuery): boolean {
  return (
    isAfter(info, query) && FILTERS.every((name) => query[name] === undefined || query[name] === info[name])
  );
}

const FILTERS = ['status', 'agentName', 'parentId', 'executionStatus'] as const;
