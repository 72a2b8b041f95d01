import { sessionStoreCases } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { mapHarness } from '../map-store.ts';
import type { StoreParts } from '../map-store.ts';
import redCases from './red-cases.json' with { type: 'json' };

/** By what is wrong with a store: the cases that fail, and no others. Kept by hand: a new case adds its lines. */
export const expected: Readonly<Record<string, readonly string[]>> = redCases;

/** A few cases take twice as long as all others together: those of long conversations, deep values, many writers. */
const DEAR = /^costs:|5,000 messages|nesting 1,000 deep: in every|8 writers|every change after|a large inbox/;

/** One store in so many is given every case; the others no dear one but those that they fail. `EFFORT=2`: all, every case. */
const SAMPLE = Number(process.env['EFFORT'] ?? 1) > 1 ? 1 : 16;

/** The names of the cases that a store with these parts fails. */
async function failuresOf(parts: StoreParts, isAsked: (name: string) => boolean): Promise<string[]> {
  const failed: string[] = [];
  for (const { group, name, run } of sessionStoreCases) {
    if (!isAsked(`${group}: ${name}`)) continue;
    const { createStore, abilities } = mapHarness(parts); // of its own: what a failed case left behind goes on
    await run(createStore, abilities).catch(() => failed.push(`${group}: ${name}`));
  }
  return failed;
}

/** A test for each store with a defect: it fails the cases that are written down. */
export function testDefects(defects: Readonly<Record<string, StoreParts>>): void {
  const all = Object.keys(defects);
  test.for(Object.entries(defects))('a store that %s', { timeout: 60_000 }, async ([defect, parts]) => {
    const isWhole = all.indexOf(defect) % SAMPLE === 0;
    const isAsked = (name: string) =>
      isWhole || !DEAR.test(name) || expected[defect]?.includes(name) === true;
    expect(await failuresOf(parts, isAsked)).toEqual(expected[defect]);
  });
}
