import { afterAll, describe, expect, test } from 'vitest';
import { differences, notedFor } from '../src/differences.ts';
import { providers } from '../src/providers/index.ts';
import { compare } from '../src/runs/comparison.ts';
import { MODES } from '../src/runs/outcome.ts';
import { judge } from '../src/runs/unnoted.ts';
import { scenarios } from '../src/scenarios/index.ts';
import { isSupported } from '../src/scenarios/scenario.ts';
import { ProviderServer } from '../src/server.ts';
import { expectedFacts } from './expected-facts.ts';

/** Each provider, scenario and mode: the driver sends the requests of the AI SDK and reports its steps. */

const server = await ProviderServer.start();
afterAll(() => server.stop());

describe.each(providers)('$name', (provider) => {
  describe.each(MODES)('%s', (mode) => {
    test.each(scenarios.filter((scenario) => isSupported(scenario, provider.features)))(
      '$name',
      async (scenario) => {
        const comparison = await compare(server, provider, scenario, mode);
        expect(comparison.sdk.steps).toMatchObject(expectedFacts(scenario, provider.features));
        expect(judge(comparison, provider, scenario, mode)).toEqual({ unnoted: [], missing: [] });
      },
    );
  });
});

test('each noted difference belongs to a row of the matrix', () => {
  const rows = providers.flatMap(({ name, features }) =>
    scenarios
      .filter((scenario) => isSupported(scenario, features))
      .flatMap((scenario) => MODES.flatMap((mode) => notedFor(name, scenario.name, mode))),
  );
  expect(differences.filter((noted) => !rows.includes(noted))).toEqual([]);
});
