import { MemorySessionStore } from '@holdfast/core';
import { sessionStoreTests, type CreateStore } from '@holdfast/conformance';
import { describe } from 'vitest';
import { testCases } from '../run/test-cases.ts';

describe('MemorySessionStore', () => {
  const create: CreateStore = async (clock, settings) => {
    const store = new MemorySessionStore({ clock, ...settings });
    return { store, close: () => store.close() };
  };
  const tests = sessionStoreTests({ create });

  testCases(tests);
});
