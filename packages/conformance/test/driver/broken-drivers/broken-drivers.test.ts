import { driverCases, type CreateDriver, type DriverAbilities, type DriverCase } from '@holdfast/conformance';
import { afterAll, describe, expect, test } from 'vitest';
import { casesFor, isThorough, nameOf } from '../../run/red-cases.ts';
import { testRedCases } from '../../run/test-cases.ts';
import { fetchAbilities, fetchHarness } from '../fetch-harness.ts';
import { fetchDefects } from '../openai/fetch-defects.ts';
import { OpenAiServer } from '../openai/openai-server.ts';
import { createDriver as createScripted, scriptedAbilities } from '../scripted-provider.ts';
import type { Defect } from './driver-parts.ts';
import redCases from './red-cases.json' with { type: 'json' };
import { wrappedDefects } from './wrapped-defects.ts';

/**
 * The cases that each driver with a defect fails, by the name of the defect. It is maintained by hand: add the lines of
 * a new case.
 */
const expected: Readonly<Record<string, readonly string[]>> = redCases;

const server = await OpenAiServer.start();
afterAll(() => server.stop());

interface Subject {
  readonly create: CreateDriver;
  readonly abilities: DriverAbilities;
}

const onFetch: Subject = { create: fetchHarness(server), abilities: fetchAbilities };
const scripted: Subject = { create: createScripted, abilities: scriptedAbilities };
/** The needs of cases that a scripted driver cannot run. */
const OF_CONNECTIONS = new Set(['streaming', 'noise', 'disconnects', 'secrets', 'cut', 'end', 'error']);
/** `EFFORT=2` runs every case over HTTP. Otherwise a case that needs no connection runs without one. */
function subjectOf({ needs }: DriverCase): Subject {
  return isThorough || needs.some((need) => OF_CONNECTIONS.has(need)) ? onFetch : scripted;
}

/** The time that a case waits for an event that never comes. */
const SHORT_PAUSE_SECONDS = 3;

/** Defects with which cases wait for an event that never comes. */
const waiting: ReadonlySet<string> = new Set([
  'trims deltas',
  'sends no deltas',
  'sends deltas at the end',
  'waits for the pause of the provider',
  'leaves the connection of an aborted call open',
  'repeats an aborted call',
  'parses each chunk by itself',
  'never streams',
  'leaves its connection open',
]);

const asked = casesFor(driverCases, expected, { every: 8 });

/** Returns the names of the cases that fail. */
async function failuresOf(
  cases: readonly DriverCase[],
  subject: (each: DriverCase) => Subject,
  isShort: (each: DriverCase) => boolean = () => false,
): Promise<string[]> {
  const results = cases.map(async (each) => {
    const { create, abilities } = subject(each);
    const run = each.run(create, {
      ...abilities,
      ...(isShort(each) && { pauseSeconds: SHORT_PAUSE_SECONDS }),
    });
    return run.then(
      () => [],
      () => [nameOf(each)],
    );
  });
  return (await Promise.all(results)).flat();
}

const withDefect =
  (defect: Defect) =>
  (each: DriverCase): Subject => {
    const { create, abilities } = subjectOf(each);
    const { secrets = [] } = abilities;
    const broken: CreateDriver = async (script) => {
      const sound = await create(script);
      return { ...sound, driver: defect(sound.driver, { secrets }) };
    };
    return { create: broken, abilities };
  };

const subjects: readonly (readonly [name: string, (each: DriverCase) => Subject])[] = [
  ...Object.entries(wrappedDefects).map(([name, defect]) => [name, withDefect(defect)] as const),
  ...fetchDefects.map(
    (name) => [name, () => ({ ...onFetch, create: fetchHarness(server, [name]) })] as const,
  ),
];

// Concurrent, because the cases of some defects wait.
describe.concurrent('a driver that', () => {
  test.for(subjects)('%s', async ([name, subject], { expect }) => {
    const isShort = (each: DriverCase): boolean =>
      waiting.has(name) && expected[name]?.includes(nameOf(each)) === true;
    expect(await failuresOf(asked(name), subject, isShort)).toEqual(expected[name]);
  });
});

test('a driver without a defect fails no case', async () => {
  expect(await failuresOf(driverCases, () => onFetch)).toEqual([]);
  expect(
    await failuresOf(
      driverCases,
      withDefect((sound) => sound),
    ),
  ).toEqual([]);
});

testRedCases('driver', expected, [...Object.keys(wrappedDefects), ...fetchDefects], driverCases.map(nameOf));
