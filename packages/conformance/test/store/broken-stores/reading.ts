import { isUnreadableEntry, readSessionRecord, type UnreadableEntry } from '@holdfast/core/store';
import type { StoreParts } from '../map-store.ts';
import type { Ways } from '../map-backend.ts';

const ways = (replaced: Partial<Ways>): StoreParts => ({ ways: replaced });

function thrown({ error }: UnreadableEntry): never {
  throw error;
}

/** The entries before the first unreadable one. */
function untilUnreadable<T extends object>(entries: readonly T[]): readonly T[] {
  const end = entries.findIndex(isUnreadableEntry);
  return end < 0 ? entries : entries.slice(0, end);
}

/** Defects in how a store treats sessions whose records are unreadable. */
export const reading: Readonly<Record<string, StoreParts>> = {
  'fails a list with an unreadable session': ways({ unreadable: thrown }),
  'omits unreadable sessions': ways({ unreadable: () => undefined }),
  'lists an unreadable session as the index knows it': ways({ unreadable: (_entry, indexed) => indexed }),
  'ends a list before an unreadable session': {
    client: (backend) => ({
      list: async (query, now) => untilUnreadable(await backend.list(query, now)),
      due: async (query, now) => untilUnreadable(await backend.due(query, now)),
    }),
  },
  'lists unreadable sessions as the oldest': ways({ unreadable: (entry) => ({ ...entry, at: 0 }) }),
  'reports an unreadable record without its session': ways({
    parsed: ({ record, damaged }) => readSessionRecord(JSON.parse(damaged ?? JSON.stringify(record))),
  }),
  'shows unreadable sessions to other owners': ways({ isOwner: () => true }),
  'hides unreadable sessions from their owner': ways({ isOwner: () => false }),
  'lists unreadable sessions of other owners': {
    client: (backend) => ({
      list: async (query, now) => {
        const all = await backend.list({ ...query, owner: undefined }, now);
        const own = await backend.list(query, now);
        return all.filter(
          (one) => isUnreadableEntry(one) || own.some(({ sessionId }) => sessionId === one.sessionId),
        );
      },
    }),
  },
  'does not delete an unreadable session': ways({ discards: false }),
  'fails to prune beside an unreadable session': {
    inside: (store, entries) => ({
      prune: async (options) => {
        if ([...entries.values()].some(({ damaged }) => damaged !== undefined)) throw new Error('unreadable');
        return store.prune(options);
      },
    }),
  },
  'takes an unreadable session': {
    store: (store) => ({
      takeDue: (session, seconds) => store.takeDue(session, seconds).catch(() => true),
    }),
  },
};
