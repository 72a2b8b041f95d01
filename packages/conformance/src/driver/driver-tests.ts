import { conformanceTest } from '../conformance-test.ts';
import type { ConformanceTest } from '../conformance-test.ts';
import { checkDriverHarness } from './driver-case.ts';
import type { DriverHarness } from './driver-case.ts';
import { driverCases } from './driver-cases.ts';

/**
 * Converts the cases to tests of one driver. With `node:test` (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of driverTests({ create })) test(name, { skip }, run);
 * ```
 * @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown member of the harness or an invalid value
 */
export function driverTests(harness: DriverHarness): readonly ConformanceTest[] {
  const { create, limitSeconds } = checkDriverHarness(harness);
  return driverCases.map((one) =>
    conformanceTest(one, { skip: false, limitSeconds }, (run) =>
      one.run(run.creating('create', 'driver', create)),
    ),
  );
}
