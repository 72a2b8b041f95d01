import { sessionStoreCases, type SessionStoreCase } from '@holdfast/conformance';
import { describe, expect, test } from 'vitest';
import { casesFor, nameOf, redAmong, type RedCases } from '../../run/red-cases.ts';
import { DEAR_CASES } from '../case-parts.ts';
import { mapHarness, type StoreParts } from '../map-store.ts';
import { GROUPS } from './defects.ts';
import redCases from './red-cases.json' with { type: 'json' };

/** The cases that each store with a defect fails. */
export const expected: RedCases = redCases;

const asked = casesFor(sessionStoreCases, expected, { every: 48, dear: DEAR_CASES });

/** Creates a test for each store with a defect of these groups. The store fails the listed cases, and no other that it runs. */
export function testDefects(...groups: readonly (keyof typeof GROUPS)[]): void {
  describe.each(groups)('%s', (group) => {
    test.for(Object.entries(GROUPS[group]))('a store that %s', async ([defect, parts]) => {
      const cases = asked(defect);
      expect(await failuresOf(parts, cases)).toEqual(redAmong(cases, expected[defect]));
    });
  });
}

/** Returns the names of the cases that a store with these parts fails. */
async function failuresOf(parts: StoreParts, cases: readonly SessionStoreCase[]): Promise<string[]> {
  const failed: string[] = [];
  for (const one of cases) {
    const { create, ...abilities } = mapHarness(parts); // a new store for each case, because a failed case may still be running
    await one.run(create, abilities).catch(() => failed.push(nameOf(one)));
  }
  return failed;
}
