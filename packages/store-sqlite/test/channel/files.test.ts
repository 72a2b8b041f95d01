import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { ChannelEntry, ChannelNews } from '@holdfast/core/channel';
import { SqliteSessionChannel, SqliteSessionStore } from '@holdfast/store-sqlite';
import { expect, test } from 'vitest';
import { CHANNEL_LAYOUT } from '../../src/channel/channel-log.ts';
import { Pruning } from '../../src/channel/pruning.ts';
import { temporaryFolders } from '../temporary-folders.ts';

const { newFile, databaseFile } = temporaryFolders();

function entry(n: number): ChannelEntry {
  const change = {
    type: 'delta',
    stepId: 's',
    attempt: 1,
    delta: { type: 'text', id: '0', text: '' },
  } as const;
  return { incarnation: 'i', epoch: 1, series: 0, n, base: 1, change };
}

/** Subscribes to session "a". Resolves `last(n)` when the entry with this number arrives. */
async function subscribed(channel: SqliteSessionChannel) {
  const received: (number | 'gap')[] = [];
  const arrivals = new Map<number, () => void>();
  const listener = (news: ChannelNews): void => {
    for (const { n } of news.type === 'gap' ? [] : news.entries) {
      received.push(n);
      arrivals.get(n)?.();
    }
    if (news.type === 'gap') received.push('gap');
  };
  await channel.subscribe('a', listener, { signal: new AbortController().signal });
  const arrival = (n: number): Promise<void> => new Promise((resolve) => arrivals.set(n, resolve));
  return { received, arrival };
}

test('a reader that comes too late for a removed batch receives a gap', async () => {
  const path = newFile();
  const channel = await SqliteSessionChannel.open({ path, pollSeconds: 0.01 });
  const { received, arrival } = await subscribed(channel);
  const [first, last] = [arrival(0), arrival(3)];
  await channel.publish('a', [entry(0)]);
  await first;
  // No poll comes between these statements, because they do not wait.
  const published = [1, 2, 3].map((n) => channel.publish('a', [entry(n)], { trim: n === 3 }));
  const database = new DatabaseSync(path);
  database.exec(`DELETE FROM log WHERE content LIKE '%"n":2,%'`);
  database.close();
  await Promise.all(published);
  await last;
  expect(received).toEqual([0, 1, 'gap', 3]);
  await channel.close();
});

test('a worker receives a notification that was sent just before it listened', async () => {
  const path = newFile();
  const [worker, caller] = [
    await SqliteSessionChannel.open({ path }),
    await SqliteSessionChannel.open({ path }),
  ];
  await caller.notify('a', { type: 'look' });
  await caller.notify('a', { type: 'stop', executionId: 'e' });
  const notification = await new Promise((resolve) => worker.onNotification('a', resolve));
  expect(notification).toEqual({ type: 'stop', executionId: 'e' });
  await Promise.all([worker.close(), caller.close()]);
});

test('the channel refuses a file of sessions, and the store a file of the channel', async () => {
  const [channelPath, storePath] = [newFile(), newFile()];
  await (await SqliteSessionChannel.open({ path: channelPath })).close();
  await (await SqliteSessionStore.open({ path: storePath })).close();
  const refused = { code: 'STATE_FORMAT' };
  await expect(SqliteSessionChannel.open({ path: storePath })).rejects.toMatchObject(refused);
  await expect(SqliteSessionStore.open({ path: channelPath })).rejects.toMatchObject(refused);
  await expect(SqliteSessionChannel.open({ path: databaseFile('CREATE TABLE t (x)') })).rejects.toMatchObject(
    refused,
  );
});

test('a channel whose file was deleted is unavailable', async () => {
  const path = newFile();
  const channel = await SqliteSessionChannel.open({ path });
  rmSync(path);
  await expect(channel.publish('a', [entry(0)])).rejects.toMatchObject({ code: 'CHANNEL_UNAVAILABLE' });
  await expect(channel.notify('a', { type: 'look' })).rejects.toMatchObject({ code: 'CHANNEL_UNAVAILABLE' });
  await channel.close();
  await expect(SqliteSessionChannel.open({ path: '/dev/null/channel.db' })).rejects.toMatchObject({
    code: 'CHANNEL_UNAVAILABLE',
  });
});

test.each([{ path: '' }, { path: ':memory:' }, { path: 'a.db', pollSeconds: 2 }])(
  'the options %j are refused',
  async (options) => {
    await expect(SqliteSessionChannel.open(options)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  },
);

test('old rows are removed: trimmed batches and notifications soon, unchanged tails later', () => {
  const database = new DatabaseSync(':memory:');
  database.exec(CHANNEL_LAYOUT.sql);
  database.exec(`INSERT INTO tails VALUES ('a', 3, 3, 1, 4000), ('b', 4, 4, 1, 500000);
    INSERT INTO log (session_id, kind, previous_id, length, content, created_at) VALUES
      ('a', 'batch', 0, 1, '1', 1000), ('a', 'batch', 1, 1, '2', 3000), ('a', 'batch', 2, 1, '3', 4000),
      ('b', 'batch', 0, 1, '4', 500000), ('b', 'notification', 0, 0, '5', 1000)`);
  const pruning = new Pruning((sql, parameters) => database.prepare(sql).run(parameters));
  const left = (): unknown =>
    database
      .prepare('SELECT content FROM log')
      .all()
      .map(({ content }) => content);
  pruning.removeTrimmed('a', 3, 7_000);
  expect(left()).toEqual(['2', '3', '4', '5']);
  pruning.prune(7_000);
  expect(left()).toEqual(['2', '3', '4']);
  pruning.prune(605_000);
  expect(left()).toEqual(['4']);
  database.close();
});
