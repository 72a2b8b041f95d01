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

const CODE_POINTS = 0x11_0000;
const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * The unit of a text of any code points: `fc.string({ unit: codePoint })`. The unit `binary` of fast-check builds a map of
 * all 1.1 million code points when an arbitrary is created, which takes a second.
 */
export const codePoint: fc.Arbitrary<string> = fc
  .nat({ max: CODE_POINTS - SURROGATES - 1 })
  .map(characterAt, indexOfCharacter);

function characterAt(index: number): string {
  return String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES);
}

/** @throws TypeError for what is not one code point, as fast-check asks. */
function indexOfCharacter(value: unknown): number {
  const code = typeof value === 'string' ? value.codePointAt(0) : undefined;
  const index = code === undefined || code < FIRST_SURROGATE ? code : code - SURROGATES;
  if (index === undefined || characterAt(index) !== value) throw new TypeError('Not one code point.');
  return index;
}

const pathSegment = fc.string({ unit: codePoint, maxLength: 8 }).map(encodeURIComponent);

/** URLs of the web. `fc.webUrl()` builds the same map of code points. */
export const webUrl: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('http', 'https'), fc.webAuthority(), fc.array(pathSegment, { maxLength: 4 }))
  .map(([scheme, authority, path]) => `${scheme}://${[authority, ...path].join('/')}`);

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
