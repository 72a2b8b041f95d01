import { MemorySessionStore } from '@holdfast/core';
import { sessionStoreTests, type CreateStore } from '@holdfast/conformance';
import { describe, test } from 'vitest';

describe('MemorySessionStore', () => {
  const create: CreateStore = async (clock, settings) => {
    const store = new MemorySessionStore({ clock, ...settings });
    return { store, close: () => store.close() };
  };
  const tests = sessionStoreTests({ create });

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(tests)('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });
});
