import { testCasesApart } from '@holdfast/conformance/vitest';
import { RedisServer } from 'test-servers';
import { afterAll, beforeAll, describe } from 'vitest';
import { bullmqHarness } from './support/bullmq-harness.ts';

let server: RedisServer | undefined;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server?.stop());

const connection = () => ({ url: `redis://127.0.0.1:${server?.port}` });

describe('BullmqEngine', () => {
  testCasesApart(() => bullmqHarness(connection()));
});

describe('BullmqEngine with a limit for each group', () => {
  const newHarness = () => bullmqHarness(connection(), { groupConcurrency: 1 });
  testCasesApart(newHarness, (name) => /^[\w-]+: sessions with/u.test(name));
});
