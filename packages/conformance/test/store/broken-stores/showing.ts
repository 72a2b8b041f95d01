import type { SessionRecord } from '@holdfast/core/store';
import type { StoreParts } from '../map-store.ts';
import type { Ways } from '../map-backend.ts';

const store = (methods: NonNullable<StoreParts['store']>): StoreParts => ({ store: methods });
const ways = (replaced: Partial<Ways>): StoreParts => ({ ways: replaced });

/** Stores a record whose facts are changed. */
const keptInfo = (change: (info: SessionRecord['info']) => Partial<SessionRecord['info']>): StoreParts =>
  ways({ kept: (after) => ({ ...after, info: { ...after.info, ...change(after.info) } }) });

const NO_TOTALS = { executions: 0, steps: 0, seconds: 0, tokens: 0, cost: 0 };

/** Defects in what a store shows about sessions: owners, executions, revisions, claims, inboxes and workers. */
export const showing: Readonly<Record<string, StoreParts>> = {
  'loses the owner': keptInfo(() => ({ owner: undefined })),
  'loses titles and labels': keptInfo(() => ({ title: undefined, labels: undefined })),
  'counts no totals': keptInfo(() => ({ totals: NO_TOTALS })),
  'shows an execution that never was': store((sound) => ({
    executions: async (id, query) => {
      const page = await sound.executions(id, query);
      const unknown = {
        executionId: 'e',
        status: 'failed',
        startedAt: 0,
        steps: 0,
        seconds: 0,
        usage: {},
      } as const;
      return page.executions.length > 0 ? page : { ...page, executions: [unknown] };
    },
  })),
  'keeps only the last of several ended executions': ways({
    archives: (before, { archives = [] }) => {
      const result = new Map(before);
      for (const { archive, put } of archives) {
        const entries = new Map(result.get(archive));
        for (const { position, json } of put.slice(-1)) entries.set(position, json);
        result.set(archive, entries);
      }
      return result;
    },
  }),
  'keeps no archives': ways({ archives: (before) => before }),
  'drops the last entry of an archive that is read': ways({
    readEntries: (entries, { from, to, limit }) =>
      [...entries]
        .map(([position, json]) => ({ position, json }))
        .filter(({ position }) => position >= from && position < to - 1)
        .toSorted((left, right) => left.position - right.position)
        .slice(0, limit),
  }),
  'hides the last revision': store(() => ({
    revisions: async () => ({ revisions: [], unreadable: [], cursor: undefined }),
  })),
  'claims a session to inspect it': store((sound) => ({
    inspect: async (id, options) => {
      const inspected = await sound.inspect(id, options);
      if (!inspected.claim) await sound.claim(id, { workerId: 'inspector', leaseSeconds: 1 });
      return sound.inspect(id, options);
    },
  })),
  'hides an expired claim': store((sound) => ({
    inspect: async (id, options) => {
      const inspected = await sound.inspect(id, options);
      return { ...inspected, claim: undefined };
    },
  })),
  'shows no inbox': store((sound) => ({
    inspect: async (id, options) => ({
      ...(await sound.inspect(id, options)),
      inbox: { inbox: [], unreadable: [] },
    }),
  })),
  'shows no due time': store((sound) => ({
    inspect: async (id, options) => ({ ...(await sound.inspect(id, options)), dueAt: undefined }),
  })),
  'measures the number of messages': store((sound) => ({
    inspect: async (id, options) => {
      const inspected = await sound.inspect(id, options);
      const lists = inspected.sizes.lists.map((list) => ({ ...list, bytes: list.length }));
      return { ...inspected, sizes: { ...inspected.sizes, lists } };
    },
  })),
  'rejects an inspection of a missing session with another error': store((sound) => ({
    inspect: (id, options) =>
      sound.inspect(id, options).catch(() => {
        throw new Error('There is none.');
      }),
  })),
  'removes no items': store(() => ({ removeItem: async () => false })),
  'removes items that a worker has read': ways({
    kept: (after) => ({ ...after, lease: after.lease && { ...after.lease, readTo: undefined } }),
  }),
  'remembers a removed item as a used one': store((sound) => ({
    removeItem: async (id, itemId, options) => {
      const isRemoved = await sound.removeItem(id, itemId, options);
      if (!isRemoved) return false;
      await sound.enqueue(id, { id: itemId, content: null });
      const { session, claim, inbox } = await sound.claim(id, { workerId: 'remover', leaseSeconds: 1 });
      const acknowledge = inbox.filter((item) => item.id === itemId);
      await sound.save(session, { base: session, epoch: claim.epoch, acknowledge });
      await sound.release(claim);
      return true;
    },
  })),
  'shows no workers': store(() => ({ workers: async () => [] })),
  'shows workers whose time is over': ways({ isAlive: () => true }),
  'shows a worker that has ended': store((sound) => ({
    announce: (worker, seconds) => sound.announce(worker, Math.max(seconds, 1)),
  })),
  'takes names of workers in any case for the same': store((sound) => ({
    announce: (worker, seconds) =>
      sound.announce({ ...worker, workerName: worker.workerName.toLowerCase() }, seconds),
  })),
};
