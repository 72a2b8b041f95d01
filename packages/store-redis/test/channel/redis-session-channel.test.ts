import { describe } from 'vitest';
import { channelHarness, testChannelConformance } from '../support/channel-harness.ts';
import { testServer } from '../support/harness.ts';

const redis = testServer();

describe('on one server', () => {
  testChannelConformance({
    ...channelHarness(() => redis.client),
    drop: async () => void (await redis.client.flushall()),
    disconnect: async () => {
      for (const type of ['normal', 'pubsub'] as const)
        await redis.client.call('CLIENT', 'KILL', 'TYPE', type);
    },
  });
});
