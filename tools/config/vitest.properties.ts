import { join, relative } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';

/** Every run of a property tries the same cases; `SEED=7` tries others. */
const SEED = Number(process.env['SEED'] ?? 20_261_121);
/** Goes straight to the case that a failure has named. */
const SEED_PATH = process.env['SEED_PATH'];
/** `EFFORT=20` tries twenty times as many cases, `EFFORT=0.1` a tenth. */
const EFFORT = Number(process.env['EFFORT'] ?? 1);

/** How a property is tried: so many cases. */
export function cases(number: number): { readonly numRuns: number } {
  return { numRuns: Math.ceil(number * EFFORT) };
}

fc.configureGlobal({
  seed: SEED,
  reporter: report,
  ...(SEED_PATH !== undefined && { path: SEED_PATH, endOnFailure: true }),
});

/** Fails a test with the seed, the smallest case that fails, and how to try it again. */
function report(details: fc.RunDetails<unknown>): void {
  if (!details.failed) return;
  const shown = { ...details, counterexample: readable(details.counterexample) } as typeof details;
  const message = [fc.defaultReportMessage(shown), replayOf(details)].join('\n\n');
  throw new Error(message, { cause: details.errorInstance });
}

function replayOf({ seed, counterexamplePath }: fc.RunDetails<unknown>): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const file = relative(join(import.meta.dirname, '../..'), testPath);
  const name = currentTestName.replaceAll(' > ', ' ').replaceAll(/[^\w ,:-]/gu, '.');
  return `Try it again: SEED=${seed} SEED_PATH=${counterexamplePath ?? ''} pnpm test ${file} -t "${name}"`;
}

/** The value with the JSON of our classes in their place: their members are private, or too many. */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function' && !(value instanceof Date))
    return value.toJSON();
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, readable(member)]));
}
