import {
  compareDueSessions,
  compareListedSessions,
  matchesDueQuery,
  matchesSessionQuery,
  type ReadRequest,
  type ResolvedSessionQuery,
} from '@holdfast/core/store';
import type { ListedSession, SessionStore } from '@holdfast/core';
import type { StoreParts } from '../map-store.ts';

const fitting = (fits: (info: ListedSession, query: ResolvedSessionQuery) => boolean): StoreParts => ({
  ways: { matchesSessionQuery: fits },
});
const without = (name: keyof ResolvedSessionQuery): StoreParts =>
  fitting((info, query) => matchesSessionQuery(info, { ...query, [name]: undefined }));

const WHOLE: ReadRequest = { extent: () => 'content' };
const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER };

const utf8 = (text: string): string => Buffer.from(text).toString();

/** Defects in loading, lists, pages and expiry. */
export const finding: Readonly<Record<string, StoreParts>> = {
  'loads expired sessions': {
    ways: { answered: (record) => ({ ...record, expiresAt: undefined }) },
  },
  'lists expired sessions': { ways: { isListed: () => true } },
  'returns expired sessions as due': { ways: { isAwaited: () => true } },
  'expires a session a millisecond too late': {
    ways: { answered: ({ expiresAt, ...record }) => ({ ...record, expiresAt: expiresAt && expiresAt + 1 }) },
  },
  'measures the expiry from saves only': {
    ways: {
      kept: (after, found, { plan }) =>
        !plan && found ? { ...after, expiresAt: found.record.expiresAt } : after,
    },
  },
  'does not remove an expiry': {
    ways: { kept: (after, found) => ({ ...after, expiresAt: after.expiresAt ?? found?.record.expiresAt }) },
  },
  'prunes all expired sessions, ignoring the limit': { ways: { pruned: () => Number.POSITIVE_INFINITY } },
  'does not prune': { ways: { pruned: () => 0 } },
  'skips sessions with the same instant at the end of a page': fitting(
    (info, query) => matchesSessionQuery(info, query) && (!query.after || info[query.order] < query.after.at),
  ),
  'returns the first page again': without('after'),
  'skips sessions with the same due time at the end of a page': {
    ways: {
      matchesDueQuery: (one, query) =>
        matchesDueQuery(one, query) && (!query.after || one.dueAt > query.after.at),
    },
  },
  'returns sessions that are due later': {
    ways: { matchesDueQuery: (one, query) => matchesDueQuery(one, { ...query, at: Number.MAX_VALUE }) },
  },
  'does not return sessions that are due now': {
    ways: { matchesDueQuery: (one, query) => matchesDueQuery(one, query) && one.dueAt < query.at },
  },
  'sorts due sessions by id': {
    ways: {
      compareDueSessions: (left, right) => compareDueSessions({ ...left, dueAt: 0 }, { ...right, dueAt: 0 }),
    },
  },
  'lists the oldest first': {
    ways: { compareListedSessions: (order) => (left, right) => compareListedSessions(order)(right, left) },
  },
  'lists by creation only': { ways: { compareListedSessions: () => compareListedSessions('createdAt') } },
  'lists by the last save instead of the last activity': {
    ways: {
      compareListedSessions: (order) =>
        order === 'createdAt'
          ? compareListedSessions(order)
          : (left, right) => right.updatedAt - left.updatedAt || compareListedSessions(order)(left, right),
    },
  },
  'treats each save as activity': {
    ways: {
      kept: (after, _found, { plan }) => (plan ? { ...after, lastActiveAt: after.info.updatedAt } : after),
    },
  },
  'treats only the creation as activity': {
    ways: {
      kept: (after, found) => ({ ...after, lastActiveAt: found?.record.lastActiveAt ?? after.lastActiveAt }),
    },
  },
  'does not treat the end of work as activity': {
    ways: {
      kept: (after, found, { plan }) =>
        found?.record.lease && !after.lease && !plan
          ? { ...after, lastActiveAt: found.record.lastActiveAt }
          : after,
    },
  },
  'sorts sessions with the same instant by UTF-16': {
    ways: {
      compareListedSessions: (order) => (left, right) =>
        right[order] - left[order] || (left.sessionId < right.sessionId ? -1 : 1),
    },
  },
  'returns a page without looking for a next one': {
    client: (backend) => ({
      list: async (query, now) => (await backend.list(query, now)).slice(0, query.limit),
      due: async (query, now) => (await backend.due(query, now)).slice(0, query.limit),
    }),
  },
  'does not filter by status': without('status'),
  'does not filter by agent': without('agentName'),
  'does not filter by parent': without('parentId'),
  'does not filter by the status of the execution': without('executionStatus'),
  'does not filter by waitingFor': without('waitingFor'),
  'compares agents in UTF-8': fitting((info, query) =>
    matchesSessionQuery(info, {
      ...query,
      agentName: utf8(query.agentName ?? '') === utf8(info.agentName) ? undefined : query.agentName,
    }),
  ),
  'returns sessions that match any of the filters': fitting((info, query) => {
    const { status, agentName, parentId, executionStatus, waitingFor, ...rest } = query;
    const conditions = Object.entries({ status, agentName, parentId, executionStatus, waitingFor });
    const given = conditions.filter(([, value]) => value !== undefined);
    return (
      matchesSessionQuery(info, rest) &&
      (given.length === 0 || given.some(([name, value]) => info[name as 'status'] === value))
    );
  }),
  'lists sessions as they were created': {
    ways: {
      kept: (after, found) => ({
        ...after,
        info: { ...(found?.record.info ?? after.info), version: after.info.version },
      }),
    },
  },
  'reads each session to list it': {
    client: (backend) => ({
      async list(query, now) {
        const infos = await backend.list(query, now);
        await Promise.all(infos.map(({ sessionId }) => backend.readSession(sessionId, WHOLE)));
        return infos;
      },
    }),
  },
  'reads a session to refuse a claim': {
    client: (backend) => ({
      async readRecord(sessionId) {
        const record = await backend.readRecord(sessionId);
        if (record?.lease) await backend.readSession(sessionId, WHOLE);
        return record;
      },
      async readSession(sessionId, request) {
        const found = await backend.readSession(sessionId, request);
        if (found?.record.lease) await backend.readSession(sessionId, WHOLE);
        return found;
      },
    }),
  },
  'reads a session that the caller passed as base': {
    store: (store) => ({
      load: (sessionId) => store.load(sessionId),
      claim: (sessionId, options) => store.claim(sessionId, { ...options, base: undefined }),
    }),
  },
  'reads the whole inbox for each enqueue': {
    client: (backend) => ({
      async compareAndSet(sessionId, before, after, change) {
        if (before && change.enqueue) await backend.readInbox(sessionId, before.incarnation, ALL);
        return backend.compareAndSet(sessionId, before, after, change);
      },
    }),
  },
  'reads the whole inbox for each used item': {
    client: (backend) => ({
      async compareAndSet(sessionId, before, after, change) {
        if (before && change.acknowledge?.length) await backend.readInbox(sessionId, before.incarnation, ALL);
        return backend.compareAndSet(sessionId, before, after, change);
      },
    }),
  },
  'writes the whole session in each save': {
    store: (store: SessionStore) => ({
      save: (session, options) => store.save(session, { ...options, base: undefined }),
    }),
  },
};
