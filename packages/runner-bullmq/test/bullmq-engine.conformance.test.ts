import { engineCases, type EngineCase } from '@holdfast/conformance';
import { RedisServer } from 'test-servers';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { bullmqHarness, type HarnessOptions } from './support/bullmq-harness.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** Runs a case with a harness of its own, because cases run at the same time. */
function runAlone({ run }: EngineCase, options?: HarnessOptions): Promise<void> {
  const { create, ...abilities } = bullmqHarness({ url: `redis://127.0.0.1:${server.port}` }, options);
  return run(create, abilities);
}

describe('BullmqEngine', { timeout: 120_000 }, () => {
  const cases = engineCases.filter(({ needs }) => needs !== 'clock');

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.concurrent.for(cases)('$group: $name', (one) => runAlone(one));
});

describe('BullmqEngine with a limit for each group', { timeout: 120_000 }, () => {
  const routed = engineCases.filter(({ name }) => name.startsWith('sessions with'));

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.concurrent.for(routed)('$group: $name', (one) => runAlone(one, { groupConcurrency: 1 }));
});
