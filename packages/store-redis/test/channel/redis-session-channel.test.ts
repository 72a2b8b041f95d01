import { channelTests } from '@holdfast/conformance';
import { testCases } from '@holdfast/conformance/vitest';
import { describe } from 'vitest';
import { channelHarness } from '../support/channel-harness.ts';
import { testServer } from '../support/harness.ts';

const redis = testServer();

describe('on one server', () => {
  const harness = {
    ...channelHarness(() => redis.client),
    drop: async () => void (await redis.client.flushall()),
    disconnect: async () => {
      for (const type of ['normal', 'pubsub'] as const)
        await redis.client.call('CLIENT', 'KILL', 'TYPE', type);
    },
  };
  testCases(channelTests(harness));
});
