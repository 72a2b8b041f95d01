import { sessionStoreCases } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { mapHarness } from '../map-store.ts';
import type { StoreParts } from '../map-store.ts';
import redCases from './red-cases.json' with { type: 'json' };

/** By what is wrong with a store: the cases that fail, and no others. Kept by hand: a new case adds its lines. */
export const expected: Readonly<Record<string, readonly string[]>> = redCases;

/** The names of the cases that a store with these parts fails. */
async function failuresOf(parts: StoreParts): Promise<string[]> {
  const failed: string[] = [];
  for (const { group, name, run } of sessionStoreCases) {
    const { createStore, abilities } = mapHarness(parts); // of its own: what a failed case left behind goes on
    await run(createStore, abilities).catch(() => failed.push(`${group}: ${name}`));
  }
  return failed;
}

/** A test for each store with a defect: it fails the cases that are written down. */
export function testDefects(defects: Readonly<Record<string, StoreParts>>): void {
  test.for(Object.entries(defects))('a store that %s', { timeout: 60_000 }, async ([defect, parts]) => {
    expect(await failuresOf(parts)).toEqual(expected[defect]);
  });
}
