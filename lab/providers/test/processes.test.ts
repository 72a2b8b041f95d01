import { afterAll, beforeAll, expect, test } from 'vitest';
import { IS_LONG } from '../src/effort.ts';
import { providers } from '../src/providers/index.ts';
import { compare } from '../src/runs/comparison.ts';
import { MODES } from '../src/runs/outcome.ts';
import { judge } from '../src/runs/unnoted.ts';
import { StepProcesses } from '../src/runs/step-processes.ts';
import { scenarios } from '../src/scenarios/index.ts';
import { isSupported } from '../src/scenarios/scenario.ts';
import { ProviderServer } from '../src/server.ts';

/** Each step of a conversation runs in another process. The long form does so for every row of the matrix. */

let server: ProviderServer;
let processes: StepProcesses;
beforeAll(async () => {
  server = await ProviderServer.start();
  processes = new StepProcesses({ isShared: !IS_LONG });
});
afterAll(() => Promise.all([server.stop(), processes.stop()]));

/** The conversation with the most provider data that a provider supports. */
const RICHEST = ['reasoning across steps', 'parallel calls'];

const rows = providers.flatMap((provider) => {
  const supported = scenarios.filter((scenario) => isSupported(scenario, provider.features));
  const [richest] = RICHEST.flatMap((name) => supported.filter((scenario) => scenario.name === name));
  return (IS_LONG ? supported : supported.filter((scenario) => scenario === richest)).flatMap((scenario) =>
    (IS_LONG ? MODES : MODES.slice(1)).map(
      (mode) => [provider.name, scenario.name, mode, provider, scenario] as const,
    ),
  );
});

test.each(rows)('%s: %s, %s, in a new process for each step', async (_, __, mode, provider, scenario) => {
  const takeStep = processes.takeStep(provider, scenario, mode, server.url);
  const comparison = await compare(server, provider, scenario, mode, takeStep);
  expect(judge(comparison, provider, scenario, mode)).toEqual({ unnoted: [], missing: [] });
});
