import {
  recordDueAt,
  type ItemRange,
  type RecordChange,
  type SessionRecord,
  type StoredItem,
} from '@holdfast/core/store';
import type { SessionStore } from '@holdfast/core';
import type { Entry, Ways } from '../map-backend.ts';
import type { StoreParts } from '../map-store.ts';

const keeping = (kept: Ways['kept']): StoreParts => ({ ways: { kept } });
const due = (dueOf: (record: SessionRecord) => number | undefined): StoreParts => ({
  ways: { recordDueAt: dueOf },
});

/** Reads the items with positions from `from` up to `to`, without `to`, in order. */
const reading = (
  read: (items: readonly StoredItem[], range: ItemRange) => readonly StoredItem[],
): StoreParts => ({
  ways: {
    read(inbox, range) {
      const there = [...inbox.values()].filter(
        ({ position }) => position >= range.from && position < range.to,
      );
      return read(
        there.toSorted((left, right) => left.position - right.position),
        range,
      );
    },
  },
});
const withItem = (
  inbox: Entry['inbox'],
  item: RecordChange['enqueue'],
): Map<number, NonNullable<RecordChange['enqueue']>> =>
  new Map([...inbox, ...(item ? [[item.position, item] as const] : [])]);

/** Defects in claims, the inbox and due times. */
export const claiming: Readonly<Record<string, StoreParts>> = {
  'forgets the failures of work': keeping((after) => ({ ...after, failure: undefined })),
  'does not count the failures of work': {
    store: (store) => ({
      recordFailure: async (id, failed) => {
        await store.recordFailure(id, undefined);
        return store.recordFailure(id, failed);
      },
    }),
  },
  'never clears the failures of work': {
    store: (store) => ({ recordFailure: async (id, failed) => failed && store.recordFailure(id, failed) }),
  },
  'lets every caller take a due session': {
    store: (store) => ({
      takeDue: async (due, seconds) => (await store.takeDue(due, seconds)) || due.sessionId === 'a',
    }),
  },
  'forgets that a due session was taken': keeping((after) => ({ ...after, takenUntil: undefined })),
  'keeps a taken session after an item': keeping((after, before) => ({
    ...after,
    takenUntil: after.takenUntil ?? before?.record.takenUntil,
  })),
  'ignores how long sessions have been due': {
    store: (store) => ({ due: (query) => store.due({ ...query, dueForSeconds: undefined }) }),
  },
  'ignores new items in a release with a base': {
    store: (store) => ({
      release: (claim, { base, ...options } = {}) => store.release(claim, base ? { base } : options),
    }),
  },
  'ignores new items in a renewal with a base': {
    store: (store) => ({
      renew: async (claim, options) => {
        const renewed = await store.renew(claim, options);
        return options.base ? { ...renewed, inbox: [], unreadable: [] } : renewed;
      },
    }),
  },
  'answers that a lost claim with a base was released': {
    store: (store) => ({
      release: async (claim, options) => (await store.release(claim, options)) || options?.base !== undefined,
    }),
  },
  'forgets the worker of a claim': keeping((after) => ({ ...after, lease: undefined })),
  'grants a claim to every worker': {
    ways: { answered: (record) => ({ ...record, lease: record.lease && { ...record.lease, until: 0 } }) },
  },
  'ignores epochs': {
    inside: (store, entries) => ({
      save: (session, options) => {
        const epoch = entries.get(session.sessionId)?.record.epoch;
        return store.save(session, options?.epoch === undefined ? options : { ...options, epoch });
      },
    }),
  },
  'accepts a save without an epoch during a claim': {
    inside: (store, entries) => ({
      save: (session, options) =>
        store.save(session, { epoch: entries.get(session.sessionId)?.record.epoch, ...options }),
    }),
  },
  'counts every death of a worker as an attempt': keeping((after, before) =>
    before?.record.lease && after.epoch > before.record.epoch
      ? { ...after, attempt: before.record.attempt + 1 }
      : after,
  ),
  'forgets that a worker is alone': keeping(({ lease, ...after }) => ({
    ...after,
    lease: lease && { workerId: lease.workerId, until: lease.until },
  })),
  'forgets that a worker stood still': keeping((after) => ({ ...after, isSuspect: undefined })),
  'forgets at a release that a worker stood still': {
    store: (store) => ({
      release: (claim, options) => store.release(claim, { ...options, isSuspect: undefined }),
    }),
  },
  'keeps a worker alone that works on other sessions': {
    store: (store) => ({ renew: (claim, options) => store.renew(claim, { ...options, isShared: false }) }),
  },
  'takes a worker that renews its claim for one with other sessions': {
    store: (store) => ({ renew: (claim, options) => store.renew(claim, { ...options, isShared: true }) }),
  },
  'grants suspect sessions to workers that refuse them': {
    store: (store) => ({
      claim: (id, options) =>
        store.claim(id, {
          ...options,
          ifSuspect: options.ifSuspect === 'refuse' ? 'accept' : options.ifSuspect,
        }),
    }),
  },
  'rounds leases to seconds': keeping(({ lease, ...after }) => ({
    ...after,
    lease: lease && { ...lease, until: Math.ceil(lease.until / 1_000) * 1_000 },
  })),
  'returns the previous epoch': {
    store: (store) => ({
      async claim(...args) {
        const { claim, ...rest } = await store.claim(...args);
        return { ...rest, claim: { ...claim, epoch: claim.epoch - 1 } };
      },
    }),
  },
  'does not count epochs': keeping((after) => ({ ...after, epoch: Math.min(after.epoch, 1) })),
  'never resets the attempts': keeping((after, found) => ({
    ...after,
    attempt: Math.max(after.attempt, found?.record.attempt ?? 0),
  })),
  'treats every save as a closed step': keeping((after, _found, { plan }) =>
    plan ? { ...after, attempt: after.lease ? 1 : 0 } : after,
  ),
  'does not renew': keeping((after, found) => {
    const before = found?.record.lease;
    const isSame = before !== undefined && before.workerId === after.lease?.workerId;
    return isSame ? { ...after, lease: before } : after;
  }),
  'does not release': keeping((after, found, { plan, enqueue }) => {
    const isRelease = !after.lease && !plan && !enqueue;
    return isRelease ? { ...after, lease: found?.record.lease } : after;
  }),
  'changes a session when it is claimed': keeping((after, found, { plan, enqueue }) => {
    const { info } = after;
    const isClaim = found !== undefined && !plan && !enqueue;
    return isClaim ? { ...after, info: { ...info, updatedAt: info.updatedAt + 1 } } : after;
  }),
  'releases for any worker': {
    inside: (store, entries) => ({
      release: (claim) => {
        const record = entries.get(claim.sessionId)?.record;
        return store.release({
          ...claim,
          epoch: record?.epoch ?? 0,
          workerId: record?.lease?.workerId ?? '',
        });
      },
    }),
  },
  'releases with any inbox': { store: (store) => ({ release: (claim) => store.release(claim) }) },
  'releases only with an empty inbox': {
    store: (store) => ({ release: (claim) => store.release(claim, { onlyIfIdle: true }) }),
  },
  'never releases with onlyIfIdle': {
    store: (store) => ({
      release: async (claim, options) => !options?.onlyIfIdle && store.release(claim),
    }),
  },
  'returns false for onlyIfIdle, and releases': {
    inside: (store, entries) => ({
      async release(claim, options) {
        const isIdle = !entries.get(claim.sessionId)?.inbox.size;
        return (await store.release(claim)) && (isIdle || !options?.onlyIfIdle);
      },
    }),
  },
  'does not remove acknowledged items': {
    ways: {
      kept: (after, found, { acknowledge }) =>
        acknowledge?.length ? { ...after, inbox: found?.record.inbox } : after,
      inbox: (before, { enqueue }) => withItem(before, enqueue),
    },
  },
  'removes the whole inbox when one item is acknowledged': keeping((after, _found, { acknowledge }) => {
    const { inbox } = after;
    return acknowledge?.length && inbox
      ? { ...after, inbox: { first: inbox.next, next: inbox.next } }
      : after;
  }),
  'removes the item before the acknowledged one': {
    ways: {
      inbox(before, { enqueue, acknowledge = [] }) {
        const inbox = withItem(before, enqueue);
        for (const { position } of acknowledge)
          inbox.delete(inbox.has(position - 1) ? position - 1 : position);
        return inbox;
      },
    },
  },
  'does not remember used items': keeping((after) => ({ ...after, usedIds: undefined })),
  'remembers only the last used item': keeping((after) => ({
    ...after,
    usedIds: after.usedIds?.slice(-1),
  })),
  'sorts the inbox by id': {
    ways: {
      read(inbox, { from, to, limit }) {
        const positions = [...inbox.keys()].toSorted((left, right) => left - right);
        const sorted = [...inbox.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1));
        const items = positions.map((position, index) => ({ ...sorted[index], position }) as StoredItem);
        return items.filter(({ position }) => position >= from && position < to).slice(0, limit);
      },
    },
  },
  'begins each page of an inbox with its second item': reading((items, { from, limit }) =>
    items.filter(({ position }) => position > from || from === 0).slice(0, limit),
  ),
  'ends a page of an inbox one item early': reading((items, { limit }) => items.slice(0, limit - 1)),
  'reads an inbox from its beginning': {
    ways: { read: (inbox, { limit }) => [...inbox.values()].slice(0, limit) },
  },
  'does not detect that an item is enqueued already': { ways: { isDuplicate: () => false } },
  'treats a used item as waiting': {
    client(backend) {
      const ids = new Set<string>();
      return {
        async compareAndSet(sessionId, before, after, change) {
          const { enqueue } = change;
          const name = enqueue && JSON.stringify([sessionId, before?.incarnation, enqueue.id]);
          if (name !== undefined && ids.has(name)) return 'duplicate';
          const result = await backend.compareAndSet(sessionId, before, after, change);
          if (name !== undefined && result === 'done') ids.add(name);
          return result;
        },
      };
    },
  },
  'accepts any number of items': { settings: { maxInboxItems: 1_000_000 } },
  'returns no inbox from a renewal': {
    store: (store) => ({ renew: async (...args) => ({ ...(await store.renew(...args)), inbox: [] }) }),
  },
  'stores the last of several items with one id': {
    inside: (store, entries) => ({
      async enqueue(sessionId, item) {
        const isKept = await store.enqueue(sessionId, item);
        const inbox = entries.get(sessionId)?.inbox as Map<number, StoredItem & { id: string }> | undefined;
        for (const found of isKept ? [] : (inbox?.values() ?? [])) {
          if (found.id !== item.id) continue;
          const json = JSON.stringify({ ...JSON.parse(found.json), content: item.content });
          inbox?.set(found.position, { ...found, json });
        }
        return isKept;
      },
    }),
  },
  'stores one inbox for all sessions': {
    client(backend) {
      const items = new Map<number, StoredItem>();
      return {
        compareAndSet: (id, before, after, change) => {
          if (change.enqueue) items.set(change.enqueue.position, change.enqueue);
          return backend.compareAndSet(id, before, after, change);
        },
        readInbox: async (_id, _incarnation, { from, to, limit }) =>
          [...items.values()].filter(({ position }) => position >= from && position < to).slice(0, limit),
      };
    },
  },
  'saves the session for every item': {
    store: (store: SessionStore) => ({
      async enqueue(sessionId, item) {
        const isKept = await store.enqueue(sessionId, item);
        const session = await store.load(sessionId);
        if (session) await store.save(session).catch(() => undefined);
        return isKept;
      },
    }),
  },
  'returns claimed sessions as due': due((record) => recordDueAt({ ...record, lease: undefined })),
  'returns sessions of any status as due': due((record) =>
    recordDueAt({ ...record, info: { ...record.info, status: 'active' } }),
  ),
  'does not return sessions with inbox items as due': due((record) =>
    recordDueAt({ ...record, inbox: undefined }),
  ),
  'returns only sessions with inbox items as due': due((record) =>
    recordDueAt({ ...record, wakeAt: undefined }),
  ),
  'sets the due time to that of the inbox, even for a later sleep or an earlier due time': due((record) =>
    recordDueAt({ ...record, wakeAt: record.inbox?.since === undefined ? record.wakeAt : undefined }),
  ),
  'sets the due time to the end of the claim, even for a later due time': due(
    (record) => record.lease?.until ?? recordDueAt(record),
  ),
};
