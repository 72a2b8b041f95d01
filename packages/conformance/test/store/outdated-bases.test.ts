import { MemorySessionStore } from '@holdfast/core';
import type { SessionStoreHarness } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { mapHarness } from './map-store.ts';
import { stepsOfWalk, walkWithBases } from './outdated-bases.ts';

const memory: Pick<SessionStoreHarness, 'create'> = {
  create: async (clock) => {
    const store = new MemorySessionStore({ clock });
    return { store, close: () => store.close() };
  },
};

test.each([
  { what: 'in memory', harness: memory },
  { what: 'on a storage that can be set back', harness: mapHarness() },
])('a read with any base gives what a read without one gives, $what', async ({ harness }) => {
  const walk = walkWithBases(harness, { seed: 1, steps: stepsOfWalk(400) });
  await expect(walk).resolves.toBeUndefined();
});
