import { driverTests, type ConformanceTest, type CreateDriver } from '@holdfast/conformance';
import { OpenAiServer, redDriverCases, wrappedDefects } from '@holdfast/conformance/test';
import { afterAll, describe, test } from 'vitest';
import { deepSeekAbilities, deepSeekHarness, openAiAbilities, openAiHarness } from './conformance-harness.ts';

/** Puts each defect around this driver, and checks that the cases find it. */

const server = await OpenAiServer.start();
afterAll(() => server.stop());

type Defect = (typeof wrappedDefects)[string];

const providers = [
  [openAiHarness(server), openAiAbilities],
  [deepSeekHarness(server), deepSeekAbilities],
] as const;

/** Defects that no provider of these tests can show: see the abilities that they lack. */
const HIDDEN: readonly string[] = ['drops images in results', 'tells errors as results'];

const red: Readonly<Record<string, readonly string[]>> = redDriverCases;

/** Returns the tests that a defect fails in the reference, with the first provider that has the abilities for one of them. */
function testsFor(name: string, defect: Defect): readonly ConformanceTest[] {
  for (const [create, abilities] of providers) {
    const { secrets = [] } = abilities;
    const broken: CreateDriver = async (script) => {
      const sound = await create(script);
      return { ...sound, driver: defect(sound.driver, { secrets }) };
    };
    const tests = driverTests({ create: broken, ...abilities, pauseSeconds: 2 });
    const shown = tests.filter((each) => !each.skip && red[name]?.includes(each.name));
    if (shown.length > 0) return shown;
  }
  return [];
}

/** Runs the tests that show a defect. Returns the results. */
function resultsOf(name: string, defect: Defect): Promise<readonly ('passed' | 'failed')[]> {
  const results = testsFor(name, defect).map(async ({ run }) => {
    return run().then(
      () => 'passed' as const,
      () => 'failed' as const,
    );
  });
  return Promise.all(results);
}

// Concurrent, because the cases of some defects wait.
describe.concurrent('aiSdkDriver with a defect', () => {
  test.for(Object.entries(wrappedDefects))('%s', async ([name, defect], { expect }) => {
    const isFound = (await resultsOf(name, defect)).includes('failed');
    // Some cases pass here: this driver retries a call by itself, and returns what arrived before an abort.
    expect(isFound).toBe(!HIDDEN.includes(name));
  });
});
