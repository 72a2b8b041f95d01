import { fileURLToPath } from 'node:url';
import { stopWorkerOnView } from '@holdfast/conformance/test';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';
import { expect, onTestFinished, test } from 'vitest';
import { testServer } from '../support/harness.ts';

const redis = testServer();
const WORK = fileURLToPath(new URL('../children/work.ts', import.meta.url));

test('the words of a worker in another process are seen as it writes them, and a stop reaches it', async () => {
  const url = `redis://127.0.0.1:${redis.port}`;
  const store = await RedisSessionStore.open({ url });
  const channel = await RedisSessionChannel.open({ url });
  const { wasReached, exit } = await stopWorkerOnView(
    { store, channel },
    {
      program: WORK,
      args: [url],
      onStarted: (worker) => onTestFinished(() => void worker.kill('SIGKILL')),
      isReached: ({ partial }) => partial?.parts[0]?.text === 'One two',
    },
  );
  expect([wasReached, exit]).toEqual([true, [0, null]]);
  await channel.close();
  await store.close();
});
