import {
  compareDueSessions,
  compareListedSessions,
  matchesDueQuery,
  matchesSessionQuery,
} from '@holdfast/core/store';
import type { ListedSession, SessionStore } from '@holdfast/core';
import type { ResolvedSessionQuery } from '@holdfast/core/store';
import type { StoreParts } from '../map-store.ts';

const fitting = (fits: (info: ListedSession, query: ResolvedSessionQuery) => boolean): StoreParts => ({
  ways: { matchesSessionQuery: fits },
});
const without = (name: keyof ResolvedSessionQuery): StoreParts =>
  fitting((info, query) => matchesSessionQuery(info, { ...query, [name]: undefined }));

const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER };

const utf8 = (text: string): string => Buffer.from(text).toString();

/** Loading, lists, pages and expiry. */
export const finding: Readonly<Record<string, StoreParts>> = {
  'shows what has expired to those who load': {
    ways: { answered: (record) => ({ ...record, expiresAt: undefined }) },
  },
  'lists what has expired': { ways: { isListed: () => true } },
  'is due although it has expired': { ways: { isAwaited: () => true } },
  'forgets a session a moment too late': {
    ways: { answered: ({ expiresAt, ...record }) => ({ ...record, expiresAt: expiresAt && expiresAt + 1 }) },
  },
  'counts only from saves': {
    ways: {
      kept: (after, found, { plan }) =>
        !plan && found ? { ...after, expiresAt: found.record.expiresAt } : after,
    },
  },
  'keeps what should not expire any more': {
    ways: { kept: (after, found) => ({ ...after, expiresAt: after.expiresAt ?? found?.record.expiresAt }) },
  },
  'prunes all that has expired, whatever the limit': { ways: { pruned: () => Number.POSITIVE_INFINITY } },
  'prunes nothing': { ways: { pruned: () => 0 } },
  'skips sessions of one moment at the end of a page': fitting(
    (info, query) => matchesSessionQuery(info, query) && (!query.after || info[query.order] < query.after.at),
  ),
  'begins every page anew': without('after'),
  'skips what is due at one moment at the end of a page': {
    ways: {
      matchesDueQuery: (one, query) =>
        matchesDueQuery(one, query) && (!query.after || one.dueAt > query.after.at),
    },
  },
  'shows what is due later': {
    ways: { matchesDueQuery: (one, query) => matchesDueQuery(one, { ...query, at: Number.MAX_VALUE }) },
  },
  'does not show what is due just now': {
    ways: { matchesDueQuery: (one, query) => matchesDueQuery(one, query) && one.dueAt < query.at },
  },
  'shows what is due in the order of ids': {
    ways: {
      compareDueSessions: (left, right) => compareDueSessions({ ...left, dueAt: 0 }, { ...right, dueAt: 0 }),
    },
  },
  'lists the oldest first': {
    ways: { compareListedSessions: (order) => (left, right) => compareListedSessions(order)(right, left) },
  },
  'lists by creation only': { ways: { compareListedSessions: () => compareListedSessions('createdAt') } },
  'lists by the last save in place of the last activity': {
    ways: {
      compareListedSessions: (order) =>
        order === 'createdAt'
          ? compareListedSessions(order)
          : (left, right) => right.updatedAt - left.updatedAt || compareListedSessions(order)(left, right),
    },
  },
  'takes each save for activity': {
    ways: {
      kept: (after, _found, { plan }) => (plan ? { ...after, lastActiveAt: after.info.updatedAt } : after),
    },
  },
  'takes nothing but creation for activity': {
    ways: {
      kept: (after, found) => ({ ...after, lastActiveAt: found?.record.lastActiveAt ?? after.lastActiveAt }),
    },
  },
  'does not take the end of work for activity': {
    ways: {
      kept: (after, found, { plan }) =>
        found?.record.lease && !after.lease && !plan
          ? { ...after, lastActiveAt: found.record.lastActiveAt }
          : after,
    },
  },
  'lists sessions of one moment in the order of UTF-16': {
    ways: {
      compareListedSessions: (order) => (left, right) =>
        right[order] - left[order] || (left.sessionId < right.sessionId ? -1 : 1),
    },
  },
  'answers the page and not one more': {
    client: (backend) => ({
      list: async (query, now) => (await backend.list(query, now)).slice(0, query.limit),
      due: async (query, now) => (await backend.due(query, now)).slice(0, query.limit),
    }),
  },
  'does not filter by status': without('status'),
  'does not filter by agent': without('agentName'),
  'does not filter by parent': without('parentId'),
  'does not filter by the status of the execution': without('executionStatus'),
  'does not filter by what is waited for': without('waitingFor'),
  'compares agents in UTF-8': fitting((info, query) =>
    matchesSessionQuery(info, {
      ...query,
      agentName: utf8(query.agentName ?? '') === utf8(info.agentName) ? undefined : query.agentName,
    }),
  ),
  'filters by any of the conditions': fitting((info, query) => {
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
        await Promise.all(infos.map(({ sessionId }) => backend.readSession(sessionId)));
        return infos;
      },
    }),
  },
  'reads a session to refuse a claim': {
    client: (backend) => ({
      async readRecord(sessionId) {
        const record = await backend.readRecord(sessionId);
        if (record?.lease) await backend.readSession(sessionId);
        return record;
      },
    }),
  },
  'reads a session that is known': {
    store: (store) => ({
      load: (sessionId) => store.load(sessionId),
      claim: (sessionId, options) => store.claim(sessionId, { ...options, base: undefined }),
    }),
  },
  'reads the whole inbox for each item that comes in': {
    client: (backend) => ({
      async compareAndSet(sessionId, before, after, change) {
        if (before && change.enqueue) await backend.readInbox(sessionId, before.incarnation, ALL);
        return backend.compareAndSet(sessionId, before, after, change);
      },
    }),
  },
  'reads the whole inbox for each item that is used': {
    client: (backend) => ({
      async compareAndSet(sessionId, before, after, change) {
        if (before && change.acknowledge?.length) await backend.readInbox(sessionId, before.incarnation, ALL);
        return backend.compareAndSet(sessionId, before, after, change);
      },
    }),
  },
  'writes all of a session with each save': {
    store: (store: SessionStore) => ({
      save: (session, options) => store.save(session, { ...options, base: undefined }),
    }),
  },
};
