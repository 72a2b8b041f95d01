import { checkArgument, mustBe } from '@holdfast/core/driver';
import type { ConformanceTest } from '../conformance-test.ts';
import type { CreateDriver } from './driver-case.ts';
import { driverCases } from './driver-cases.ts';

/**
 * Converts the cases to tests of one driver. With `node:test` (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of driverTests(createDriver)) test(name, { skip }, run);
 * ```
 * @throws TypeError `ARGUMENT_INVALID` when `createDriver` is not a function
 */
export function driverTests(createDriver: CreateDriver): readonly ConformanceTest[] {
  checkArgument('createDriver', createDriver, mustBe.function);
  return driverCases.map(({ name, run }) => ({ name, skip: false, run: () => run(createDriver) }));
}
