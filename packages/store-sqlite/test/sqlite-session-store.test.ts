import { MemorySessionStore } from '@holdfast/core';
import type { SessionStore } from '@holdfast/core';
import { afterEach, describe, test } from 'vitest';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import type { CreateStore } from '@holdfast/conformance';
import { sessionStoreCases } from '@holdfast/conformance';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile } = temporaryFolders();
const opened: SessionStore[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

async function kept(opening: Promise<SessionStore>): Promise<SessionStore> {
  const store = await opening;
  opened.push(store);
  return store;
}

const file: CreateStore = (clock) => kept(SqliteSessionStore.open({ path: newFile(), clock }));
const memory: CreateStore = (clock) => kept(SqliteSessionStore.open({ path: ':memory:', clock }));
const reference: CreateStore = (clock) => kept(Promise.resolve(new MemorySessionStore({ clock })));

describe.each([
  { name: 'SqliteSessionStore in a file', createStore: file },
  { name: 'SqliteSessionStore in memory', createStore: memory },
  { name: 'MemorySessionStore', createStore: reference },
])('$name', ({ createStore }) => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.each(sessionStoreCases)('$name', ({ run }) => run(createStore));
});
