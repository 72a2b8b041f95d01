import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createAgentLoop, SessionRuntime } from '@holdfast/core';
import { SessionWatcher } from '@holdfast/core/channel';
import { scriptedDriver } from '@holdfast/core/testing';
import { DynamoDbSessionChannel } from '@holdfast/store-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const WORK = fileURLToPath(new URL('../children/work.ts', import.meta.url));

test('the steps of a worker in another process are seen as it saves them, and a stop reaches it', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  const channel = new DynamoDbSessionChannel({ client: database.client(), table });
  const agents = { writer: createAgentLoop({ driver: scriptedDriver() }) };
  const runtime = new SessionRuntime({ store, channel, agents });
  const { sessionId } = await runtime.create({ definition: { name: 'writer' } });

  const { endpoint } = database.proxy;
  const args = ['--conditions=@holdfast/source', '--no-warnings', WORK, endpoint, table, sessionId];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let isStopped = false;
  for await (const { session, isSaved } of new SessionWatcher({ store, channel }).watch(sessionId)) {
    expect(isSaved).toBe(true);
    if (session.state.messages.toArray().some(({ role }) => role === 'tool') && !isStopped) {
      isStopped = true;
      await runtime.enqueue(sessionId, { type: 'stop' });
    }
    if (session.state.status === 'stopped') break;
  }
  expect(isStopped).toBe(true);
  await expect(exited).resolves.toEqual([0, null]);
  await channel.close();
});
