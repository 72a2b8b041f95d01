import { engineTests } from '@holdfast/conformance';
import type { CreateEngine } from '@holdfast/conformance';
import { InProcessEngine } from '@holdfast/core';
import { describe, expect, test } from 'vitest';

const create: CreateEngine = async (clock) => ({
  engine: new InProcessEngine({ clock }),
  close: async () => undefined,
});

describe('InProcessEngine', () => {
  const tests = engineTests({ create, clock: true });

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(tests)('$name', ({ run }) => run());

  test('no case is skipped, and names are unique', () => {
    expect(tests.filter(({ skip }) => skip)).toEqual([]);
    expect(new Set(tests.map(({ name }) => name)).size).toBe(tests.length);
  });
});

describe('InProcessEngine with the clock of the machine', () => {
  // The waits are a few milliseconds long. A slow machine only makes them longer.
  const tests = engineTests({ create, turnMilliseconds: 1 });
  const timed = tests.filter(({ name, skip }) => skip || /^(?:moments|outcomes|stops)/.test(name));

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(timed)('$name', ({ skip, run }, context) => {
    context.skip(skip);
    return run();
  });

  test('cases that need a clock are skipped, with the ability in their name', () => {
    const skipped = tests.filter(({ skip }) => skip).map(({ name }) => name);
    expect(skipped).toEqual([
      'moments: an instant can be further away than the longest timer (needs clock)',
      'lanes: a throttled lane starts no session, and other lanes continue (needs clock)',
    ]);
  });
});
