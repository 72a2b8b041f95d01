import { mustBe, type ArgumentCheck } from '@holdfast/core/store';

export const DEFAULT_BUSY_TIMEOUT_SECONDS = 5;
const MAX_BUSY_TIMEOUT_SECONDS = 2_000_000;

/** The checks of the options of `open`. */
export const FILE_CHECKS = {
  path: mustBe.required({
    expected: 'the path of a file, or ":memory:"',
    accepts: (value) => typeof value === 'string' && value !== '',
    type: 'string',
  }),
  busyTimeoutSeconds: mustBe.number(0, MAX_BUSY_TIMEOUT_SECONDS),
} as const;

/** The check of an open database. */
export function databaseCheck(name: string): ArgumentCheck {
  const expected = `an open DatabaseSync, or use ${name}.open({ path })`;
  return mustBe.required(mustBe.objectWith(expected, ['exec', 'prepare']));
}
