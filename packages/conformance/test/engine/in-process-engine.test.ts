import { engineTests, type CreateEngine } from '@holdfast/conformance';
import { InProcessEngine } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { testCases } from '../run/test-cases.ts';

const create: CreateEngine = async (clock) => ({
  engine: new InProcessEngine({ clock }),
  close: async () => undefined,
});

describe('InProcessEngine', () => {
  const all = engineTests({ create, clock: true });
  const tests = all.filter(({ skip }) => !skip);

  testCases(tests);

  test('only cases of a shared storage are skipped, and names are unique', () => {
    const skipped = all.filter(({ skip }) => skip).map(({ name }) => name);
    expect(skipped.filter((name) => !/^(?:reopening|sharing|processes):/.test(name))).toEqual([]);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });
});

describe('InProcessEngine with a limit for each group', () => {
  const limited = engineTests({
    create: async (clock) => ({
      engine: new InProcessEngine({ clock, groupConcurrency: 1 }),
      close: async () => undefined,
    }),
    clock: true,
  });

  testCases(limited.filter(({ name }) => name.startsWith('lanes: sessions with')));
});

describe('InProcessEngine with the clock of the machine', () => {
  // The waits are a few milliseconds long. A slow machine only makes them longer.
  const tests = engineTests({ create, turnMilliseconds: 1 });
  const timed = tests.filter(({ name, skip }) => skip || /^(?:moments|outcomes|stops)/.test(name));

  testCases(timed);

  test('cases that need a clock are skipped, with the ability in their name', () => {
    const skipped = tests.filter(({ skip }) => skip).map(({ name }) => name);
    expect(skipped.filter((name) => name.endsWith('(needs clock)'))).toEqual([
      'moments: an instant can be further away than the longest timer (needs clock)',
      'lanes: a throttled lane starts no session, and other lanes continue (needs clock)',
      'lanes: after a yield, the session is in the lane that the advance returned (needs clock)',
      'lanes: a session that was lost until an instant is not advanced before (needs clock)',
      'lanes: a session that a wake-up without a lane reaches obeys the pause of its lane (needs clock)',
      'suspects: a suspect session whose isolated advance throws is reported, and isolated again later (needs clock)',
    ]);
  });
});
