import { engineCases, type EngineCase } from '@holdfast/conformance';
import { describe, expect, test } from 'vitest';
import { brokenQueues } from './broken-queues.ts';
import redCases from './red-cases.json' with { type: 'json' };
import { queueHarness } from './sqlite-queue.ts';

/**
 * The cases with `reopen` or `processes` that each engine with a defect fails, by the name of the defect. It is
 * maintained by hand: add the lines of a new case.
 */
const expected: Readonly<Record<string, readonly string[]>> = redCases;

/**
 * Each eighth engine runs all cases with `reopen`. The other engines run those that they must fail. With `EFFORT=2`
 * every engine runs every case.
 */
const SAMPLE = Number(process.env['EFFORT'] ?? 1) > 1 ? 1 : 8;

/** The most runs of a race in which a defect must show. */
const RACES = 10;

const nameOf = ({ group, name }: EngineCase): string => `${group}: ${name}`;
const shared = engineCases.filter(({ needs }) => needs === 'reopen' || needs === 'processes');
const processes = new Set(shared.filter(({ needs }) => needs === 'processes').map(nameOf));

/** Returns the engine that fails a case and the fewest others. A case with processes runs only on this engine. */
function plainestDefect(name: string): string | undefined {
  const failing = Object.entries(expected).filter(([, red]) => red.includes(name));
  return failing.toSorted(([, left], [, right]) => left.length - right.length)[0]?.[0];
}

function isAsked(one: EngineCase, defect: string): boolean {
  const [name, all] = [nameOf(one), Object.keys(brokenQueues)];
  if (SAMPLE > 1 && processes.has(name)) return plainestDefect(name) === defect;
  return all.indexOf(defect) % SAMPLE === 0 || expected[defect]?.includes(name) === true;
}

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
  test.concurrent.for(Object.keys(brokenQueues))('%s', { timeout: 120_000 }, async (defect) => {
    const asked = shared.filter((one) => isAsked(one, defect));
    const names = asked.map(nameOf);
    const red = (expected[defect] ?? []).filter((name) => names.includes(name));
    const failures = await failuresOf(defect, asked);
    // In a race between processes, an engine with a defect can also fail other cases.
    expect(failures.filter((name) => red.includes(name) || !processes.has(name))).toEqual(red);
  });
});

test('every engine with a defect fails a case', () => {
  expect(Object.keys(expected)).toEqual(Object.keys(brokenQueues));
  expect(Object.values(expected).filter((names) => names.length === 0)).toEqual([]);
});

test('every case of several engines is failed by an engine with a defect', () => {
  const failed = new Set(Object.values(expected).flat());
  const names = shared.map(nameOf);
  expect(names.filter((name) => !failed.has(name))).toEqual([]);
  expect([...failed].filter((name) => !names.includes(name))).toEqual([]);
});
