import type { EngineCase } from '@holdfast/conformance';
import { engineCases } from '@holdfast/conformance';
import { RedisCluster } from 'test-servers';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { bullmqHarness } from './support/bullmq-harness.ts';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await RedisCluster.start();
}, 60_000);
afterAll(() => cluster.stop());

/** Cases that use each script and each queue. */
const GROUPS = ['lanes', 'moments', 'outcomes', 'sharing', 'processes'];

describe('on a Cluster', { timeout: 120_000 }, () => {
  const cases = engineCases.filter(({ group, needs }) => GROUPS.includes(group) && needs !== 'clock');

  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.concurrent.for(cases)('$group: $name', async ({ run }: EngineCase) => {
    const { create, ...abilities } = bullmqHarness({ cluster: cluster.nodes });
    await run(create, abilities);
  });
});
