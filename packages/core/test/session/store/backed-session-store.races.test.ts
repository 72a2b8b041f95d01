import { BackedSessionStore, type InboxItem, type ItemRange, type StoredItem } from '@holdfast/core/store';
import { AgentSession } from '@holdfast/core';
import { expect, test } from 'vitest';
import { WatchedBackend } from '../../support/watched-backend.ts';

/** Lets another caller act once, between the read of a record and that of its inbox. */
class Meanwhile extends WatchedBackend {
  act: (() => Promise<unknown>) | undefined;

  override async readInbox(...args: [string, string, ItemRange]): Promise<readonly StoredItem[]> {
    const { act } = this;
    this.act = undefined;
    await act?.();
    return super.readInbox(...args);
  }
}

async function sessionWith(...ids: string[]) {
  const backend = new Meanwhile();
  const store = new BackedSessionStore(backend);
  const create = () => store.create(AgentSession.create({ sessionId: 'a', definition: { name: 'tester' } }));
  const enqueue = (id: string): Promise<boolean> => store.enqueue('a', { id, content: id });
  const session = await create();
  for (const id of ids) await enqueue(id);
  const idsOf = async (): Promise<string[]> =>
    (await store.inspect('a')).inbox.inbox.map(({ id }: InboxItem) => id);
  return { backend, store, session, create, enqueue, idsOf };
}

test('the removal of an item spares the item of a session that was created again under the id', async () => {
  const { backend, store, create, enqueue, idsOf } = await sessionWith('m');
  const read = backend.readPosition.bind(backend);
  backend.readPosition = async (...args) => {
    const position = await read(...args);
    backend.readPosition = read;
    await store.delete('a');
    await create();
    await enqueue('other');
    return position;
  };
  expect(await store.removeItem('a', 'm')).toBe(false);
  expect(await idsOf()).toEqual(['other']);
});

test('an inspection does not take an item for unreadable that another caller removes meanwhile', async () => {
  const { backend, store } = await sessionWith('m', 'n');
  backend.act = () => store.removeItem('a', 'm');
  const { inbox, waitingItems } = await store.inspect('a');
  expect(inbox.unreadable).toEqual([]);
  expect(inbox.inbox.map(({ id }) => id)).toEqual(['n']);
  expect(waitingItems).toBe(1);
});

test('an inspection shows an item that is unreadable', async () => {
  const { backend, store } = await sessionWith('m', 'n');
  backend.damage.set(0, undefined);
  const { inbox } = await store.inspect('a');
  expect([inbox.unreadable.map(({ position }) => position), inbox.inbox.map(({ id }) => id)]).toEqual([
    [0],
    ['n'],
  ]);
});

test('an inspection of a session that is deleted meanwhile finds none', async () => {
  const { backend, store } = await sessionWith('m');
  backend.act = () => store.delete('a');
  await expect(store.inspect('a')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});
