import { AgentSession, SessionNotFoundError, type SessionStore } from '@holdfast/core';
import type { StoreParts } from '../map-store.ts';

const creating = (
  create: (store: SessionStore, session: AgentSession) => Promise<AgentSession>,
): StoreParts => ({
  store: (store) => ({
    create: (session, options) => store.create(session, options).then(() => create(store, session)),
  }),
});

/** Defects in return values and in the check of arguments. */
export const answering: Readonly<Record<string, StoreParts>> = {
  'returns a new session as it was passed': creating(async (_store, session) => session),
  'creates a session when it saves a missing one': {
    store: (store) => ({
      async save(session, options) {
        try {
          return await store.save(session, options);
        } catch (error) {
          if (!(error instanceof SessionNotFoundError)) throw error;
          return store.create(AgentSession.create({ ...session, at: session.createdAt }));
        }
      },
    }),
  },
  'creates a session that was saved before': {
    store: (store) => ({
      create({ sessionId, definition, parentId, forkedFrom, state, createdAt: at }, options) {
        const init = { sessionId, definition, parentId, forkedFrom, state, at };
        return store.create(AgentSession.create(init), options);
      },
    }),
  },
  'accepts a save to a version that it does not have': {
    store: (store) => ({
      async save(session, options) {
        const found = await store.load(session.sessionId);
        const isAhead = found !== undefined && found.version < session.version;
        return store.save(isAhead ? session.withRevision(found.revision, 0) : session, options);
      },
    }),
  },
  'does not delete': { store: () => ({ delete: async () => true }) },
  'deletes any revision': { store: (store) => ({ delete: (sessionId) => store.delete(sessionId) }) },
  'finds missing sessions': { store: () => ({ exists: async () => true }) },
  'returns any base of the session': basing((found, base) => found.sessionId === base.sessionId),
  'returns a base of any session': basing((found, base) => found.version === base.version),
  'returns a base of the same version': basing(
    (found, base) => found.sessionId === base.sessionId && found.version === base.version,
  ),
  'returns a base of the same revision': basing(
    ({ revision: found }, { revision: base }) =>
      found.version === base.version && found.incarnation === base.incarnation,
  ),
  'returns a base without comparing it': {
    store: (store) => ({ load: async (sessionId, options) => options?.base ?? store.load(sessionId) }),
  },
  'returns a base that it cannot save from': {
    store: (store) => ({
      async claim(sessionId, options) {
        const claimed = await store.claim(sessionId, options);
        const { session } = claimed;
        const { incarnation, version } = session.revision;
        const older = session.withRevision({ incarnation, version: version - 1 }, session.updatedAt);
        return session === options.base ? { ...claimed, session: older } : claimed;
      },
    }),
  },
  'creates a session when it is claimed or receives an item': {
    store: (store) => ({
      async claim(sessionId, options) {
        await ensure(store, sessionId);
        return store.claim(sessionId, options);
      },
      async enqueue(sessionId, item) {
        await ensure(store, sessionId);
        return store.enqueue(sessionId, item);
      },
    }),
  },
  'throws for invalid ids': {
    store: (store) => ({
      load: async (sessionId) => {
        if (sessionId.length > 0 && sessionId.length <= 1_000) return store.load(sessionId);
        throw new RangeError('A session id has 1 to 1,000 characters.');
      },
    }),
  },
  'returns mutable values': {
    store: (store) => ({
      async load(sessionId) {
        const session = await store.load(sessionId);
        return (
          session && Object.create(AgentSession.prototype, Object.getOwnPropertyDescriptors({ ...session }))
        );
      },
    }),
  },
  'stores the item object that was passed': {
    store(store) {
      const given = new Map<string, unknown>();
      return {
        enqueue(sessionId, item) {
          given.set(`${sessionId}/${item.id}`, item.content);
          return store.enqueue(sessionId, item);
        },
        async claim(sessionId, options) {
          const claimed = await store.claim(sessionId, options);
          const inbox = claimed.inbox.map((item) => ({
            ...item,
            content: given.get(`${sessionId}/${item.id}`) as never,
          }));
          return { ...claimed, inbox };
        },
      };
    },
  },
  'has a next page after the last one': {
    store: (store) => ({
      list: async (query) => {
        const page = await store.list(query);
        const last = page.sessions.length === 0 ? '' : page.cursor;
        return { ...page, cursor: last };
      },
      due: async (query) => {
        const page = await store.due(query);
        return { ...page, cursor: page.sessions.length === 0 ? '' : page.cursor };
      },
    }),
  },
  'expires sessions without an expiry': {
    store: (store) => ({
      create: (session, options) =>
        store.create(session, { expiry: options?.expiry ?? { afterSeconds: 1e6 } }),
    }),
  },
  'accepts any value as an item': {
    store: (store) => ({
      enqueue: (sessionId, { id, content }) =>
        store.enqueue(sessionId, {
          id: typeof id === 'string' && id !== '' ? id.slice(0, 1_000).toWellFormed() : 'item',
          content,
        }),
    }),
  },
  'accepts any value as an expiry': {
    store: (store) => ({
      create: (session, options) =>
        store.create(session, {
          expiry: Number(options?.expiry && 'at' in options.expiry) ? options?.expiry : undefined,
        }),
    }),
  },
  'does not find the sessions of another process': {
    client(backend) {
      const own = new Set<string>();
      return {
        readRecord: async (id) => (own.has(id) ? backend.readRecord(id) : undefined),
        readSession: async (id, request) => (own.has(id) ? backend.readSession(id, request) : undefined),
        compareAndSet(id, ...change) {
          own.add(id);
          return backend.compareAndSet(id, ...change);
        },
      };
    },
  },
  'closes other stores': {
    inside: (store, entries) => ({
      async close() {
        entries.clear();
        await store.close();
      },
    }),
  },
  'works after it was closed': { store: () => ({ close: async () => undefined }) },
  'returns no sessions after it was closed': {
    store(store) {
      let isClosed = false;
      return {
        load: async (sessionId) => (isClosed ? undefined : store.load(sessionId)),
        async close() {
          isClosed = true;
          await store.close();
        },
      };
    },
  },
  'can be closed only once': {
    store(store) {
      let isClosed = false;
      return {
        async close() {
          if (isClosed) throw new Error('It is closed.');
          isClosed = true;
          await store.close();
        },
      };
    },
  },
  'accepts any limit': {
    store: (store) => ({
      list: (query) =>
        store.list({ ...query, limit: Math.min(100, Math.max(1, Math.trunc(query?.limit ?? 50) || 50)) }),
      due: (query) =>
        store.due({ ...query, limit: Math.min(100, Math.max(1, Math.trunc(query?.limit ?? 50) || 50)) }),
      prune: async (options) =>
        store.prune({ limit: Math.max(1, Math.trunc(Number(options?.limit)) || 1_000) }),
    }),
  },
  'accepts a cursor of another order': {
    store: (store) => ({
      list: (query) => {
        const [, ...place] = query?.cursor?.startsWith('[') ? (JSON.parse(query.cursor) as unknown[]) : [];
        const cursor =
          place.length > 0 ? JSON.stringify([query?.order ?? 'createdAt', ...place]) : query?.cursor;
        return store.list({ ...query, cursor });
      },
    }),
  },
};

/** Returns the passed base instead of the stored session if `isKnown` accepts it. */
function basing(isKnown: (found: AgentSession, base: AgentSession) => boolean): StoreParts {
  const answer = (found: AgentSession, base: AgentSession | undefined): AgentSession =>
    base && isKnown(found, base) ? base : found;
  return {
    store: (store) => ({
      async load(sessionId, options) {
        const found = await store.load(sessionId);
        return found && answer(found, options?.base);
      },
      async claim(sessionId, options) {
        const claimed = await store.claim(sessionId, { ...options, base: undefined });
        return { ...claimed, session: answer(claimed.session, options.base) };
      },
    }),
  };
}

async function ensure(store: SessionStore, sessionId: string): Promise<void> {
  if (sessionId === 'a' && !(await store.exists(sessionId))) {
    await store.create(AgentSession.create({ sessionId, definition: { name: 'tester' } }));
  }
}
