import type { SessionRecord } from '@holdfast/core/store';
import type { StoreParts } from '../map-store.ts';

/** Stores a record whose items beyond the limit are changed. */
const keptReserve = (
  change: (after: SessionRecord, before: SessionRecord | undefined) => SessionRecord['reserved'],
): StoreParts => ({
  ways: { kept: (after, found) => ({ ...after, reserved: change(after, found?.record) }) },
});

/** Defects in full inboxes. */
export const filling: Readonly<Record<string, StoreParts>> = {
  'does not find an item in a full inbox': { ways: { positionOf: () => undefined } },
  'has no reserve': {
    store: (store) => ({
      enqueue: (id, item, options) => store.enqueue(id, item, { ...options, reserve: undefined }),
    }),
  },
  'forgets what is in the reserve': keptReserve(() => undefined),
  'never frees a place of the reserve': keptReserve((after, before) => {
    const kept = before?.reserved ?? [];
    const added = after.reserved?.filter(({ name }) => kept.every((one) => one.name !== name)) ?? [];
    return kept.length + added.length > 0 ? [...kept, ...added] : undefined;
  }),
  'gives every item of the reserve the same name': {
    store: (store) => ({
      enqueue: (id, item, options) =>
        store.enqueue(id, item, { ...options, reserve: options?.reserve && 'stop' }),
    }),
  },
  'stores one item of a reserve only, even with room': {
    store: (store) => {
      const names = new Set<string>();
      return {
        enqueue: async (id, item, options) => {
          const name = options?.reserve;
          if (name !== undefined && names.has(name)) return false;
          if (name !== undefined) names.add(name);
          return store.enqueue(id, item, options);
        },
      };
    },
  },
};
