import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withFact, newSession } from '@holdfast/conformance';
import { SqliteSessionChannel, SqliteSessionStore, SqliteSpendingLedger } from '@holdfast/store-sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolders } from './temporary-folders.ts';

const { newFolder } = temporaryFolders();

/** Each kind of file, opened and written to. */
const KINDS = {
  store: async (path: string) => {
    const store = await SqliteSessionStore.open({ path });
    onTestFinished(() => store.close());
    await store.create(newSession('a'));
  },
  channel: async (path: string) => {
    const channel = await SqliteSessionChannel.open({ path });
    onTestFinished(() => channel.close());
    await channel.notify('a', { type: 'look' });
  },
  ledger: async (path: string) => {
    const ledger = await SqliteSpendingLedger.open({ path });
    onTestFinished(() => ledger.close());
    await ledger.read('ann');
  },
};

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** The modes of the files in a folder, by name. */
const modesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));

describe.skipIf(process.platform === 'win32').each(Object.entries(KINDS))('the file of a %s', (_, open) => {
  test('belongs to the user of the process alone, with its log and the folders that it made', async () => {
    const folder = newFolder();
    const path = join(folder, 'new', 'data', 'file.db');
    await open(path);
    expect(modesIn(dirname(path))).toEqual({ 'file.db': '600', 'file.db-shm': '600', 'file.db-wal': '600' });
    expect([dirname(path), join(folder, 'new')].map(modeOf)).toEqual(['700', '700']);
  });

  test('keeps the mode that somebody gave it and its folder', async () => {
    const folder = join(newFolder(), 'shared');
    mkdirSync(folder);
    const path = join(folder, 'file.db');
    writeFileSync(path, '');
    for (const [one, mode] of [
      [folder, 0o750],
      [path, 0o640],
    ] as const)
      chmodSync(one, mode);
    await open(path);
    expect(modesIn(folder)).toEqual({ 'file.db': '640', 'file.db-shm': '640', 'file.db-wal': '640' });
    expect(modeOf(folder)).toBe('750');
  });
});

test('a closed file has nothing of a deleted session, and nothing that a save replaced', async () => {
  const path = join(newFolder(), 'sessions.db');
  const store = await SqliteSessionStore.open({ path });
  const marker = (what: string): string => `${what}-`.repeat(300);
  const kept = await store.create(withFact(newSession('kept'), 'fact', marker('replaced')));
  await store.save(withFact(kept, 'fact', 'short'), { base: kept });
  await store.create(withFact(newSession('a'), 'fact', marker('deleted')));
  await store.enqueue('a', { id: 'i', content: marker('enqueued') });
  await store.delete('a');
  await store.close();
  const text = readFileSync(path, 'latin1');
  expect(readdirSync(dirname(path))).toEqual(['sessions.db']);
  for (const what of ['replaced', 'deleted', 'enqueued']) expect(text).not.toContain(`${what}-${what}`);
});
