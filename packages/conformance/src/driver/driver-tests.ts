import { conformanceTest, type ConformanceTest } from '../run/conformance-test.ts';
import { checkDriverHarness, hasAbility, type DriverHarness } from './driver-case.ts';
import { driverCases } from './driver-cases.ts';

/**
 * Converts the cases to tests of one driver. Cases that need a missing ability become skipped tests. With `node:test`
 * (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of driverTests({ create, streaming: true })) test(name, { skip }, run);
 * ```
 * @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown member of the harness or an invalid value
 */
export function driverTests(harness: DriverHarness): readonly ConformanceTest[] {
  const { create, limitSeconds, ...abilities } = checkDriverHarness(harness);
  return driverCases.map((one) => {
    const missing = one.needs.filter((need) => !hasAbility(abilities, need));
    const options = { skip: missing.length > 0, limitSeconds };
    return conformanceTest({ ...one, needs: missing.join(', ') }, options, (run) =>
      one.run(run.creating('create', 'driver', create), abilities),
    );
  });
}
