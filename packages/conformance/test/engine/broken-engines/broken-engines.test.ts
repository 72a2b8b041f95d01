import { engineCases, type EngineCase } from '@holdfast/conformance';
import { describe, expect, test } from 'vitest';
import { casesFor, nameOf, redAmong } from '../../run/red-cases.ts';
import { testRedCases } from '../../run/test-cases.ts';
import { brokenEngine, type Defect } from './engine-parts.ts';
import { defects } from './defects.ts';
import redCases from './red-cases.json' with { type: 'json' };

const expected: Readonly<Record<string, readonly string[]>> = redCases;

/** The cases of one engine in one process. */
const cases = engineCases.filter(({ needs }) => needs === undefined || needs === 'clock');
const asked = casesFor(cases, expected, {
  every: 8,
  dear: /^sessions: (?:a decision|a sweep|a stop)|until their final response|1,000 sessions/u,
});

/** Returns the names of the cases that an engine with this defect fails. */
async function failuresOf(defect: Defect, among: readonly EngineCase[]): Promise<string[]> {
  const failed: string[] = [];
  for (const one of among)
    await one.run(brokenEngine(defect), { clock: true }).catch(() => failed.push(nameOf(one)));
  return failed;
}

describe('an engine that', () => {
  test.for(Object.entries(defects))('%s', async ([name, defect]) => {
    const among = asked(name);
    expect(await failuresOf(defect, among)).toEqual(redAmong(among, expected[name]));
  });
});

test('an engine without a defect fails no case', async () => {
  expect(await failuresOf(() => ({}), cases)).toEqual([]);
});

testRedCases('engine', expected, Object.keys(defects), cases.map(nameOf));
