import type { CreateStore } from '@holdfast/conformance';
import { stepsOfWalk, walkWithBases } from '@holdfast/conformance/test';
import { expect, test } from 'vitest';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase();

test('a read with any base gives what a read without one gives', async () => {
  const table = await database.newTable();
  const create: CreateStore = async (clock) => {
    const store = await database.newStore({ table, clock, compactAfterSaves: 8 });
    return { store, close: () => store.close() };
  };
  const harness = { create, reopen: create, remember: () => database.remember(table) };
  await expect(walkWithBases(harness, { seed: 3, steps: stepsOfWalk(60) })).resolves.toBeUndefined();
});
