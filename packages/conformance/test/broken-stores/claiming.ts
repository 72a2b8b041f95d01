import { recordDueAt } from '@holdfast/core/store';
import type { SessionStore } from '@holdfast/core';
import type { ItemRange, RecordChange, SessionRecord, StoredItem } from '@holdfast/core/store';
import type { Entry, Ways } from '../map-backend.ts';
import type { StoreParts } from '../map-store.ts';

const keeping = (kept: Ways['kept']): StoreParts => ({ ways: { kept } });
const due = (dueOf: (record: SessionRecord) => number | undefined): StoreParts => ({
  ways: { recordDueAt: dueOf },
});

/** What is read of the items that are there from `from` on and before `to`, in order. */
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

/** Claims, the inbox, and when a session is due. */
export const claiming: Readonly<Record<string, StoreParts>> = {
  'forgets who works on a session': keeping((after) => ({ ...after, lease: undefined })),
  'lets everybody claim': {
    ways: { answered: (record) => ({ ...record, lease: record.lease && { ...record.lease, until: 0 } }) },
  },
  'ignores epochs': {
    store: (store, entries) => ({
      save: (session, options) => {
        const epoch = entries.get(session.sessionId)?.record.epoch;
        return store.save(session, options?.epoch === undefined ? options : { ...options, epoch });
      },
    }),
  },
  'saves without an epoch whoever works': {
    store: (store, entries) => ({
      save: (session, options) =>
        store.save(session, { epoch: entries.get(session.sessionId)?.record.epoch, ...options }),
    }),
  },
  'rounds leases to seconds': keeping(({ lease, ...after }) => ({
    ...after,
    lease: lease && { ...lease, until: Math.ceil(lease.until / 1_000) * 1_000 },
  })),
  'answers the epoch before': {
    store: (store) => ({
      async claim(...args) {
        const { claim, ...rest } = await store.claim(...args);
        return { ...rest, claim: { ...claim, epoch: claim.epoch - 1 } };
      },
    }),
  },
  'counts no epochs': keeping((after) => ({ ...after, epoch: Math.min(after.epoch, 1) })),
  'never ends the count of attempts': keeping((after, found) => ({
    ...after,
    attempt: Math.max(after.attempt, found?.record.attempt ?? 0),
  })),
  'takes every save for a finished step': keeping((after, _found, { plan }) =>
    plan ? { ...after, attempt: after.lease ? 1 : 0 } : after,
  ),
  'renews nothing': keeping((after, found) => {
    const before = found?.record.lease;
    const isSame = before !== undefined && before.workerId === after.lease?.workerId;
    return isSame ? { ...after, lease: before } : after;
  }),
  'releases nothing': keeping((after, found, { plan, enqueue }) => {
    const isRelease = !after.lease && !plan && !enqueue;
    return isRelease ? { ...after, lease: found?.record.lease } : after;
  }),
  'changes a session when it is claimed': keeping((after, found, { plan, enqueue }) => {
    const { info } = after;
    const isClaim = found !== undefined && !plan && !enqueue;
    return isClaim ? { ...after, info: { ...info, updatedAt: info.updatedAt + 1 } } : after;
  }),
  'releases for whoever asks': {
    store: (store, entries) => ({
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
  'releases whatever is in the inbox': { store: (store) => ({ release: (claim) => store.release(claim) }) },
  'releases only who is idle': {
    store: (store) => ({ release: (claim) => store.release(claim, { onlyIfIdle: true }) }),
  },
  'releases nothing that is to be idle': {
    store: (store) => ({
      release: async (claim, options) => !options?.onlyIfIdle && store.release(claim),
    }),
  },
  'says that it was not idle, and releases': {
    store: (store, entries) => ({
      async release(claim, options) {
        const isIdle = !entries.get(claim.sessionId)?.inbox.size;
        return (await store.release(claim)) && (isIdle || !options?.onlyIfIdle);
      },
    }),
  },
  'does not drop what was acknowledged': {
    ways: {
      kept: (after, found, { acknowledge }) =>
        acknowledge?.length ? { ...after, inbox: found?.record.inbox } : after,
      inbox: (before, { enqueue }) => withItem(before, enqueue),
    },
  },
  'drops the whole inbox when one item is acknowledged': keeping((after, _found, { acknowledge }) => {
    const { inbox } = after;
    return acknowledge?.length && inbox
      ? { ...after, inbox: { first: inbox.next, next: inbox.next } }
      : after;
  }),
  'drops the item before the one that is acknowledged': {
    ways: {
      inbox(before, { enqueue, acknowledge = [] }) {
        const inbox = withItem(before, enqueue);
        for (const { position } of acknowledge)
          inbox.delete(inbox.has(position - 1) ? position - 1 : position);
        return inbox;
      },
    },
  },
  'does not remember what was used': keeping((after) => ({ ...after, usedIds: undefined })),
  'remembers the last item that was used': keeping((after) => ({
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
  'does not notice that an item is there': { ways: { isDuplicate: () => false } },
  'takes an item that was used for one that is there': {
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
  'holds any number of items': { settings: { maxInboxItems: 1_000_000 } },
  'shows no inbox to whom renews': {
    store: (store) => ({ renew: async (...args) => ({ ...(await store.renew(...args)), inbox: [] }) }),
  },
  'keeps the last of several items of one id': {
    store: (store, entries) => ({
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
  'keeps one inbox for all sessions': {
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
  'makes a save of every item': {
    store: (store: SessionStore) => ({
      async enqueue(sessionId, item) {
        const isKept = await store.enqueue(sessionId, item);
        const session = await store.load(sessionId);
        if (session) await store.save(session).catch(() => undefined);
        return isKept;
      },
    }),
  },
  'is due whoever works': due((record) => recordDueAt({ ...record, lease: undefined })),
  'is due whatever the session is': due((record) =>
    recordDueAt({ ...record, info: { ...record.info, status: 'active' } }),
  ),
  'is not due because of its inbox': due((record) => recordDueAt({ ...record, inbox: undefined })),
  'is due only because of its inbox': due((record) => recordDueAt({ ...record, wakeAt: undefined })),
  'is due when the inbox is, however long it sleeps or is due': due((record) =>
    recordDueAt({ ...record, wakeAt: record.inbox?.since === undefined ? record.wakeAt : undefined }),
  ),
  'is due when the claim ends, whatever is due later': due(
    (record) => record.lease?.until ?? recordDueAt(record),
  ),
};
