import { engineTests, type EngineHarness } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { testCasesApart } from '../../run/test-cases.ts';
import { FAILED_BY_DESIGN } from './by-design.ts';
import { SHORT_LEASE_SECONDS } from './scripted-sessions.ts';

/** Cases wait long for an event on a busy machine. Only a case that fails waits so long. */
const WAIT_SECONDS = 100;
/** A lease that outlasts the pauses of a busy machine. */
const LONG_LEASE_SECONDS = 60;

const WAITS_FOR_LEASES = /^(?:reopening|sharing|processes):/u;

/** Creates the tests of a `PollingEngine` whose store several processes open. */
export function testPollingEngine(newHarness: (leaseSeconds: number) => EngineHarness): void {
  const isIncluded = (name: string): boolean => !Object.hasOwn(FAILED_BY_DESIGN, name);
  testCasesApart(
    () => ({ ...newHarness(SHORT_LEASE_SECONDS), waitSeconds: WAIT_SECONDS }),
    (name) => isIncluded(name) && WAITS_FOR_LEASES.test(name),
  );
  testCasesApart(
    () => ({ ...newHarness(LONG_LEASE_SECONDS), waitSeconds: WAIT_SECONDS }),
    (name) => isIncluded(name) && !WAITS_FOR_LEASES.test(name),
  );

  test('the cases with processes are not skipped', () => {
    const tests = engineTests(newHarness(SHORT_LEASE_SECONDS));
    expect(tests.filter(({ name, skip }) => !skip && name.startsWith('processes:'))).toHaveLength(10);
  });
}
