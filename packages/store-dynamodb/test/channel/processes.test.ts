import { fileURLToPath } from 'node:url';
import { stopWorkerOnView } from '@holdfast/conformance/test';
import { DynamoDbSessionChannel } from '@holdfast/store-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const WORK = fileURLToPath(new URL('../children/work.ts', import.meta.url));

test('the steps of a worker in another process are seen as it saves them, and a stop reaches it', async () => {
  const table = await database.newTable();
  const store = await database.newStore({ table });
  const channel = new DynamoDbSessionChannel({ client: database.client(), table });
  const unsaved: unknown[] = [];
  const { wasReached, exit } = await stopWorkerOnView(
    { store, channel },
    {
      program: WORK,
      args: [database.proxy.endpoint, table],
      onStarted: (worker) => onTestFinished(() => void worker.kill('SIGKILL')),
      isReached: (view) => view.session.state.messages.toArray().some(({ role }) => role === 'tool'),
      onView: (view) => view.isSaved || unsaved.push(view),
    },
  );
  expect([wasReached, exit, unsaved]).toEqual([true, [0, null], []]);
  await channel.close();
});
