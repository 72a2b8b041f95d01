import { HoldfastError, type AgentSession, type SessionStore } from '@holdfast/core';
import type { SessionBackend, SessionRecord, CompareAndSetResult } from '@holdfast/core/store';
import type { StoreParts } from '../map-store.ts';

type CompareAndSet = SessionBackend['compareAndSet'];

const writingWith = (
  compareAndSet: (
    backend: SessionBackend,
    ...args: Parameters<CompareAndSet>
  ) => Promise<CompareAndSetResult>,
): StoreParts => ({
  client: (backend) => ({ compareAndSet: (...args) => compareAndSet(backend, ...args) }),
});

const saving = (
  save: (store: SessionStore, ...args: Parameters<SessionStore['save']>) => Promise<AgentSession>,
): StoreParts => ({
  store: (store) => ({ save: (...args) => save(store, ...args) }),
});

const codeOf = (error: unknown): unknown => (error instanceof HoldfastError ? error.code : undefined);

/** Defects in concurrent and repeated writes. */
export const racing: Readonly<Record<string, StoreParts>> = {
  'compares incarnations, but not writes': {
    ways: { isThere: (found, before) => found?.incarnation === before?.incarnation },
  },
  'compares writes, but not incarnations': {
    ways: { isThere: (found, before) => found?.writes === before?.writes },
  },
  'compares writes and incarnations, but not tokens': {
    ways: {
      isThere: (found, before) =>
        found?.incarnation === before?.incarnation && found?.writes === before?.writes,
    },
  },
  'creates over an existing session': {
    ways: {
      isThere: (found, before) =>
        before === undefined || (found?.incarnation === before.incarnation && found.writes === before.writes),
    },
  },
  'compares before it writes, in two requests': {
    ways: { isThere: () => true },
    client: (backend) => ({
      async compareAndSet(id, before, ...change) {
        const found = await backend.readRecord(id);
        const isThere = found?.incarnation === before?.incarnation && found?.writes === before?.writes;
        return isThere ? backend.compareAndSet(id, before, ...change) : 'outdated';
      },
    }),
  },
  'removes acknowledged items before it compares': {
    client: (backend) => ({
      async compareAndSet(id, before, after, change) {
        if (!change.acknowledge?.length) return backend.compareAndSet(id, before, after, change);
        const found = await backend.readRecord(id);
        const between = found && { ...found, writes: found.writes + 1 };
        await backend.compareAndSet(id, found, between, { acknowledge: change.acknowledge });
        if (before?.writes !== found?.writes) return 'outdated';
        return backend.compareAndSet(id, between, after && { ...after, writes: after.writes + 1 }, {
          plan: change.plan,
        });
      },
    }),
  },
  'writes an item before its record, in two requests': writingWith(
    async (backend, id, before, after, change) => {
      if (!change.enqueue || !after) return backend.compareAndSet(id, before, after, change);
      const result = await backend.compareAndSet(id, before, after, {});
      if (result !== 'done') return result;
      return backend.compareAndSet(id, after, { ...after, writes: after.writes + 1 }, change);
    },
  ),
  'writes the content before its record, in two requests': writingWith(
    async (backend, id, before, after, change) => {
      if (!before || !after || !change.plan) return backend.compareAndSet(id, before, after, change);
      const between = { ...before, info: after.info, writes: before.writes + 1 };
      const result = await backend.compareAndSet(id, before, between, { plan: change.plan });
      if (result !== 'done') return result;
      return backend.compareAndSet(
        id,
        between,
        { ...after, writes: between.writes + 1 },
        { acknowledge: change.acknowledge },
      );
    },
  ),
  'reports a write whose reply did not arrive as not done': writingWith(async (backend, ...args) => {
    try {
      return await backend.compareAndSet(...args);
    } catch (error) {
      throw Object.assign(error as Error, { isAmbiguous: false });
    }
  }),
  'throws the errors of its client': writingWith(async (backend, ...args) => {
    try {
      return await backend.compareAndSet(...args);
    } catch (cause) {
      throw new Error('ECONNRESET', { cause });
    }
  }),
  'treats a failed request as done': writingWith(async (backend, ...args) => {
    try {
      return await backend.compareAndSet(...args);
    } catch {
      return 'done';
    }
  }),
  'caches the last record that it read': {
    client(backend) {
      const seen = new Map<string, SessionRecord | undefined>();
      return {
        async readRecord(id) {
          if (!seen.has(id)) seen.set(id, await backend.readRecord(id));
          return seen.get(id);
        },
        async compareAndSet(id, ...args) {
          const result = await backend.compareAndSet(id, ...args);
          if (result === 'done') seen.delete(id);
          return result;
        },
      };
    },
  },
  'ignores versions': saving(async (store, session, options) => {
    const found = await store.load(session.sessionId);
    const isOlder = found && found.version > session.version;
    const isMine = found?.revision.incarnation === session.revision.incarnation;
    if (!isOlder || !isMine || options?.operationId !== undefined) return store.save(session, options);
    return store.save(session.withRevision(found.revision, 0), options);
  }),
  'ignores incarnations': saving(async (store, session, options) => {
    const found = await store.load(session.sessionId);
    const { version } = session;
    if (!found || version === 0) return store.save(session, options);
    return store.save(session.withRevision({ ...found.revision, version }, 0), options);
  }),
  'counts a repeated save twice': saving(async (store, session, options) => {
    const found = await store.load(session.sessionId);
    const isRepeated = options?.operationId !== undefined && found?.version === session.version + 1;
    return isRepeated
      ? store.save(session.withRevision(found.revision, 0), { ...options, base: undefined })
      : store.save(session, options);
  }),
  'forgets operation ids': { ways: { kept: (after) => ({ ...after, operation: undefined }) } },
  'forgets an operation id after any other write': {
    ways: {
      kept: (after, _found, { plan }) => (plan ? after : { ...after, operation: undefined }),
    },
  },
  'accepts an operation id with other content': saving(async (store, session, options) => {
    try {
      return await store.save(session, options);
    } catch (error) {
      const found = codeOf(error) === 'OPERATION_REUSED' ? await store.load(session.sessionId) : undefined;
      if (found) return found;
      throw error;
    }
  }),
  'uses the saved session as its own base': saving((store, session, options) =>
    store.save(session, { ...options, base: options?.base && session }),
  ),
};
