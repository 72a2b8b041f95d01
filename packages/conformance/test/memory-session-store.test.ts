import { MemorySessionStore } from '@holdfast/core';
import { sessionStoreTests } from '@holdfast/conformance';
import { describe, test } from 'vitest';

describe('MemorySessionStore', () => {
  const tests = sessionStoreTests(async (clock, settings) => new MemorySessionStore({ clock, ...settings }));

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(tests)('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });
});
