import { engineTests } from '@holdfast/conformance';
import type { CreateEngine } from '@holdfast/conformance';
import { InProcessEngine } from '@holdfast/core';
import { describe, expect, test } from 'vitest';

const createEngine: CreateEngine = async (clock) => ({
  engine: new InProcessEngine({ clock, onError: () => undefined }),
  close: async () => undefined,
});

describe('InProcessEngine', () => {
  const tests = engineTests(createEngine, { clock: true });

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(tests)('$name', ({ run }) => run());

  test('no case is skipped, and no two have one name', () => {
    expect(tests.filter(({ skip }) => skip)).toEqual([]);
    expect(new Set(tests.map(({ name }) => name)).size).toBe(tests.length);
  });
});

describe('InProcessEngine by the clock of the machine', () => {
  // What is waited for is a few milliseconds, and only ever longer than it takes.
  const tests = engineTests(createEngine, { turnMilliseconds: 1 });
  const timed = tests.filter(({ name, skip }) => skip || /^(?:moments|outcomes|stops)/.test(name));

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(timed)('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });

  test('what needs a clock is skipped by name', () => {
    const skipped = tests.filter(({ skip }) => skip).map(({ name }) => name);
    expect(skipped).toEqual(['moments: a moment may be further away than a timer reaches (needs clock)']);
  });
});
