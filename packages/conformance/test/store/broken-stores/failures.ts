import { sessionStoreCases } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { mapHarness, type StoreParts } from '../map-store.ts';
import redCases from './red-cases.json' with { type: 'json' };

/**
 * The cases that each store with a defect fails, by the name of the defect. It is maintained by hand: add the lines of
 * a new case.
 */
export const expected: Readonly<Record<string, readonly string[]>> = redCases;

/**
 * Every sixteenth store runs all cases. The other stores run the cases that they must fail. With `EFFORT=2` every store runs
 * every case.
 */
const SAMPLE = Number(process.env['EFFORT'] ?? 1) > 1 ? 1 : 16;

/** Returns the names of the cases that a store with these parts fails. */
async function failuresOf(parts: StoreParts, isAsked: (name: string) => boolean): Promise<string[]> {
  const failed: string[] = [];
  for (const { group, name, run } of sessionStoreCases) {
    if (!isAsked(`${group}: ${name}`)) continue;
    const { create, ...abilities } = mapHarness(parts); // a new store for each case, because a failed case may still be running
    await run(create, abilities).catch(() => failed.push(`${group}: ${name}`));
  }
  return failed;
}

/** Creates a test for each store with a defect. The store must fail the listed cases, and no other case that it runs. */
export function testDefects(defects: Readonly<Record<string, StoreParts>>): void {
  const all = Object.keys(defects);
  test.for(Object.entries(defects))('a store that %s', { timeout: 60_000 }, async ([defect, parts]) => {
    const isWhole = all.indexOf(defect) % SAMPLE === 0;
    const isAsked = (name: string) => isWhole || expected[defect]?.includes(name) === true;
    expect(await failuresOf(parts, isAsked)).toEqual(expected[defect]);
  });
}
