import { engineCases, type EngineCase } from '@holdfast/conformance';
import { describe, expect, test } from 'vitest';
import { casesFor, nameOf, redAmong } from '../../run/red-cases.ts';
import { testRedCases } from '../../run/test-cases.ts';
import { brokenQueues } from './broken-queues.ts';
import redCases from './red-cases.json' with { type: 'json' };
import { queueHarness } from './sqlite-queue.ts';

/**
 * The cases with `reopen` or `processes` that each engine with a defect fails, by the name of the defect. It is
 * maintained by hand: add the lines of a new case.
 */
const expected: Readonly<Record<string, readonly string[]>> = redCases;

/** The most runs of a race in which a defect must show. */
const RACES = 10;

const shared = engineCases.filter(({ needs }) => needs === 'reopen' || needs === 'processes');
const asked = casesFor(shared, expected, { every: 8, dear: /^processes:/u });

/**
 * Returns true when an engine with a defect fails a case. Each run has a harness of its own. A case that must fail
 * waits for 500 turns only.
 */
function fails(defect: string, one: EngineCase, mustFail: boolean): Promise<boolean> {
  const { create, ...abilities } = queueHarness(brokenQueues[defect], defect);
  return one.run(create, { ...abilities, ...(mustFail && { waitSeconds: 0 }) }).then(
    () => false,
    () => true,
  );
}

/**
 * Returns the cases among `cases` that an engine with this defect fails. A race shows a defect in some of its runs, so a
 * case that must fail runs until it does.
 */
async function failuresOf(defect: string, cases: readonly EngineCase[]): Promise<readonly string[]> {
  const failures = cases.map(async (one) => {
    const name = nameOf(one);
    const mustFail = expected[defect]?.includes(name) === true;
    const runs = mustFail ? RACES : 1;
    for (let run = 0; run < runs; run++) if (await fails(defect, one, mustFail)) return [name];
    return [];
  });
  return (await Promise.all(failures)).flat();
}

describe('an engine on a file that', () => {
  test.concurrent.for(Object.keys(brokenQueues))('%s', async (defect) => {
    const cases = asked(defect);
    const red = redAmong(cases, expected[defect]);
    const failures = await failuresOf(defect, cases);
    // In a race between processes, an engine with a defect can also fail other cases.
    expect(failures.filter((name) => red.includes(name) || !name.startsWith('processes:'))).toEqual(red);
  });
});

testRedCases('engine', expected, Object.keys(brokenQueues), shared.map(nameOf));
