import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createAgentLoop, SessionRuntime } from '@holdfast/core';
import { SessionWatcher } from '@holdfast/core/channel';
import { scriptedDriver } from '@holdfast/core/testing';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';
import { expect, onTestFinished, test } from 'vitest';
import { testServer } from '../support/harness.ts';

const redis = testServer();
const WORK = fileURLToPath(new URL('../children/work.ts', import.meta.url));

test('the words of a worker in another process are seen as it writes them, and a stop reaches it', async () => {
  const url = `redis://127.0.0.1:${redis.port}`;
  const store = await RedisSessionStore.open({ url });
  const channel = await RedisSessionChannel.open({ url });
  const agents = { writer: createAgentLoop({ driver: scriptedDriver() }) };
  const runtime = new SessionRuntime({ store, channel, agents });
  const { sessionId } = await runtime.create({ definition: { name: 'writer' } });

  const args = ['--conditions=@holdfast/source', '--no-warnings', WORK, url, sessionId];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let isStopped = false;
  for await (const { session, partial, isSaved } of new SessionWatcher({ store, channel }).watch(sessionId)) {
    if (partial?.parts[0]?.text === 'One two' && !isStopped) {
      isStopped = true;
      await runtime.enqueue(sessionId, { type: 'stop' });
    }
    if (isSaved && session.state.status === 'stopped') break;
  }
  expect(isStopped).toBe(true);
  await expect(exited).resolves.toEqual([0, null]);
  await channel.close();
  await store.close();
});
