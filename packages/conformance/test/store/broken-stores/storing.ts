import { StoreUnavailableError } from '@holdfast/core';
import {
  isUnreadableEntry,
  matchesSessionQuery,
  type ResolvedSessionQuery,
  type SavePlan,
  type SessionBackend,
  type SessionRecord,
} from '@holdfast/core/store';
import { elementsOf, rowsOf, type Entries, type Entry } from '../map-backend.ts';
import type { StoreParts } from '../map-store.ts';

type CompareAndSet = SessionBackend['compareAndSet'];
type Write = Parameters<CompareAndSet>;

const writing = (
  compareAndSet: (backend: SessionBackend, ...args: Write) => ReturnType<CompareAndSet>,
): StoreParts => ({
  client: (backend) => ({ compareAndSet: (...args) => compareAndSet(backend, ...args) }),
});

const bytesOf = (text: string | undefined): number => Buffer.byteLength(text ?? '');

const ALL: ResolvedSessionQuery = {
  order: 'createdAt',
  limit: 1_000_000,
  after: undefined,
};

const remaining = (remains: (before: Entry, after: Entry | undefined) => number): StoreParts => ({
  ways: { remains: (before, after) => (before ? remains(before, after) : 0) },
});

const isSame = (before: Entry, after: Entry | undefined): boolean =>
  before.record.incarnation === after?.record.incarnation;

/** Defects in what a store writes together, in what it scans, in sizes, and in what it leaves behind. */
export const storing: Readonly<Record<string, StoreParts>> = {
  'writes messages and steps after the record, in a second request': writing(
    async (backend, id, before, after, change) => {
      const { plan } = change;
      if (!before || !after || !plan || plan.isWhole || plan.lists.length === 0) {
        return backend.compareAndSet(id, before, after, change);
      }
      const first: SavePlan = { ...plan, lists: [] };
      const result = await backend.compareAndSet(id, before, after, { ...change, plan: first });
      if (result !== 'done') return result;
      return backend.compareAndSet(id, after, after, { plan: { ...plan, values: new Map() } });
    },
  ),
  'removes used items after the save, in a second request': writing(
    async (backend, id, before, after, { acknowledge, ...change }) => {
      if (!acknowledge?.length) return backend.compareAndSet(id, before, after, change);
      const result = await backend.compareAndSet(id, before, after, change);
      if (result !== 'done') return result;
      return backend.compareAndSet(id, after, after, { acknowledge });
    },
  ),
  'reports every failed write as ambiguous': writing(async (backend, ...args) => {
    try {
      return await backend.compareAndSet(...args);
    } catch (cause) {
      throw new StoreUnavailableError('The request failed.', { isAmbiguous: true, cause });
    }
  }),
  'reports a failed read as ambiguous': {
    client: (backend) => ({
      readSession: (id, request) => withDoubt(backend.readSession(id, request)),
      list: (query, now) => withDoubt(backend.list(query, now)),
    }),
  },
  'reads all due sessions to return a page': {
    client: (backend) => ({
      async due(query, now) {
        const all = await backend.due({ ...query, limit: ALL.limit }, now);
        return all.slice(0, query.limit + 1);
      },
    }),
  },
  'reads all sessions to return a page': {
    client: (backend) => ({
      async list(query, now) {
        const all = await backend.list({ ...query, limit: ALL.limit }, now);
        return all.slice(0, query.limit + 1);
      },
    }),
  },
  'filters a list after it has read all sessions': {
    client: (backend) => ({
      async list(query, now) {
        const { owner, status, agentName, parentId, executionStatus, waitingFor, ...rest } = query;
        const filters = [owner, status, agentName, parentId, executionStatus, waitingFor];
        if (filters.every((filter) => filter === undefined)) return backend.list(query, now);
        const all = await backend.list({ ...rest, limit: ALL.limit }, now);
        const readable = all.flatMap((entry) => (isUnreadableEntry(entry) ? [] : [entry]));
        if (readable.length < all.length) return backend.list(query, now);
        return readable.filter((session) => matchesSessionQuery(session, query)).slice(0, query.limit + 1);
      },
    }),
  },
  'looks for a session in a list of all sessions before each write': writing(
    async (backend, id, before, after, change) => {
      if (before) await backend.list(ALL, before.lastActiveAt);
      return backend.compareAndSet(id, before, after, change);
    },
  ),
  'accepts values over its largest size': { ways: { bytesOf: () => 0 } },
  'measures values in UTF-16 units': { ways: { bytesOf: (json) => json.length } },
  'refuses values of nearly the largest size': { ways: { bytesOf: (json) => bytesOf(json) + 1_000 } },
  'removes used items before it measures the values': writing(async (backend, id, before, after, change) => {
    const { acknowledge = [], plan } = change;
    const texts = [...(plan?.values.values() ?? []), ...(plan?.lists ?? []).flatMap(({ append }) => append)];
    const isLarge = acknowledge.length > 0 && texts.some((text) => bytesOf(text) > 1_000_000);
    if (!before || !isLarge) return backend.compareAndSet(id, before, after, change);
    await backend.compareAndSet(id, before, before, { acknowledge });
    return backend.compareAndSet(id, before, after, { plan });
  }),
  'leaves the rows of a deleted session': remaining((before, after) =>
    after || isExpiredBy(before.record) ? 0 : rowsOf(before) - 1,
  ),
  'leaves the rows of a pruned session': remaining((before, after) =>
    !after && isExpiredBy(before.record) ? rowsOf(before) - 1 : 0,
  ),
  'leaves the rows of a session that is created again': remaining((before, after) =>
    after && !isSame(before, after) ? rowsOf(before) - 1 : 0,
  ),
  'leaves the rows of dropped messages': remaining((before, after) =>
    after && isSame(before, after) ? Math.max(0, elementsOf(before) - elementsOf(after)) : 0,
  ),
  'leaves the rows of used items': remaining((before, after) =>
    after && isSame(before, after) ? Math.max(0, before.inbox.size - after.inbox.size) : 0,
  ),
  'leaves the rows of a failed write': {
    inside: (store, entries) => ({
      create: (session, options) => leavingRow(entries, store.create(session, options)),
      save: (session, options) => leavingRow(entries, store.save(session, options)),
    }),
  },
  'refuses session ids of more than 2,048 bytes': writing(async (backend, id, ...args) => {
    if (bytesOf(id) > 2_048) throw new Error('The key is too long.');
    return backend.compareAndSet(id, ...args);
  }),
  'refuses item ids of more than 2,048 bytes': writing(async (backend, id, before, after, change) => {
    if (bytesOf(change.enqueue?.id) > 2_048) throw new Error('The key is too long.');
    return backend.compareAndSet(id, before, after, change);
  }),
  'cuts operation ids after 2,000 bytes': {
    store: (store) => ({
      save: (session, options) => store.save(session, { ...options, operationId: cut(options?.operationId) }),
    }),
  },
  'cuts the ids of workers after 2,000 bytes': {
    store: (store) => ({
      claim: (id, options) =>
        store.claim(id, { ...options, workerId: cut(options.workerId) ?? options.workerId }),
    }),
  },
};

/** Expiring sessions of the cases have expired when a case removes them. */
function isExpiredBy({ expiresAt }: SessionRecord): boolean {
  return expiresAt !== undefined;
}

async function leavingRow<T>(entries: Entries, reply: Promise<T>): Promise<T> {
  return reply.catch((error: unknown) => {
    if (error instanceof StoreUnavailableError) entries.remains += 1;
    throw error;
  });
}

async function withDoubt<T>(reply: Promise<T>): Promise<T> {
  return reply.catch((cause: unknown) => {
    throw new StoreUnavailableError('The request failed.', { isAmbiguous: true, cause });
  });
}

function cut(text: string | undefined): string | undefined {
  return typeof text === 'string' && bytesOf(text) > 2_000 ? text.slice(0, 666) : text;
}
