import { readFileSync } from 'node:fs';
import { newSession, testClock } from '@holdfast/conformance';
import { expect, test } from 'vitest';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase();

test('the policy in the README allows exactly the operations of the store', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, text = ''] = /```jsonc\n([^]*?)```/.exec(readme) ?? [];
  const { Statement } = JSON.parse(text) as { Statement: readonly { readonly Action: readonly string[] }[] };

  const clock = testClock();
  const store = await database.newStore({ clock, expiry: { afterSeconds: 60 } });
  const begin = database.proxy.operations.length;
  const base = await store.create(newSession('a'));
  clock.time += 1_000;
  await store.save(base, { base });
  await store.enqueue('a', { id: 'i', content: 1 });
  const { claim } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 1 });
  await store.renew(claim, { leaseSeconds: 1 });
  await store.release(claim);
  await store.list({ order: 'lastActiveAt' });
  await store.due();
  clock.time += 59_000;
  await store.prune();
  await store.delete('a');

  const done = new Set(database.proxy.operations.slice(begin).map((operation) => `dynamodb:${operation}`));
  expect([...done].toSorted()).toEqual(Statement.flatMap(({ Action }) => Action));
});
