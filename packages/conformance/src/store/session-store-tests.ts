import type { CaseRun } from '../run/case-run.ts';
import { conformanceTest, type ConformanceTest } from '../run/conformance-test.ts';
import { sessionStoreCases } from './session-store-cases.ts';
import {
  checkStoreHarness,
  type SessionStoreHarness,
  type StoreAbilities,
  type StoreNeed,
} from './case/store-case.ts';

/**
 * Converts the cases to tests of one store. Cases that need a missing ability become skipped tests. With `node:test`
 * (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of sessionStoreTests({ create })) test(name, { skip }, run);
 * ```
 * @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown member of the harness or an invalid value
 */
export function sessionStoreTests(harness: SessionStoreHarness): readonly ConformanceTest[] {
  const { limitSeconds } = checkStoreHarness(harness);
  return sessionStoreCases.map((one) => {
    const missing = (one.needs ?? []).filter((need) => !canDo(harness, need));
    const needs = missing.join(', ');
    return conformanceTest({ ...one, needs }, { skip: missing.length > 0, limitSeconds }, (run) => {
      const { create, ...abilities } = storeHarnessOf(harness, run);
      return one.run(create, abilities);
    });
  });
}

/** The harness for one run, which watches and closes its stores. */
export function storeHarnessOf(harness: SessionStoreHarness, run: CaseRun): SessionStoreHarness {
  const { create, reopen } = harness;
  return {
    ...harness,
    create: run.creating('create', 'store', create),
    ...(reopen && { reopen: run.creating('reopen', 'store', reopen) }),
  };
}

function canDo(abilities: StoreAbilities, need: StoreNeed): boolean {
  if (need === 'loseReply' || need === 'cut' || need === 'throttle') {
    return abilities.faults?.kinds.includes(need) ?? false;
  }
  return abilities[need] !== undefined;
}
