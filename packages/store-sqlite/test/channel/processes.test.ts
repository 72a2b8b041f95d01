import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopWorkerOnView } from '@holdfast/conformance/test';
import { SqliteSessionChannel, SqliteSessionStore } from '@holdfast/store-sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolders } from '../temporary-folders.ts';

const { newFolder } = temporaryFolders();
const WORK = fileURLToPath(new URL('../children/work.ts', import.meta.url));

test('the words of a worker in another process are seen as it writes them, and a stop reaches it', async () => {
  const folder = newFolder();
  const store = await SqliteSessionStore.open({ path: join(folder, 'sessions.db') });
  const channel = await SqliteSessionChannel.open({ path: join(folder, 'channel.db') });
  const { wasReached, exit } = await stopWorkerOnView(
    { store, channel },
    {
      program: WORK,
      args: [folder],
      onStarted: (worker) => onTestFinished(() => void worker.kill('SIGKILL')),
      isReached: ({ partial }) => partial?.parts[0]?.text === 'One two',
    },
  );
  expect([wasReached, exit]).toEqual([true, [0, null]]);
  await channel.close();
  await store.close();
});
