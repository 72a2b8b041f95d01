import { cancel, InboxFullError, MemorySessionStore, sendMessage, type SessionRuntime } from '@holdfast/core';
import { BackedSessionStore, type StoreOptions } from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';
import { call, definition, settled, userTexts, world, type World } from '../../support/durable-world.ts';
import { WatchedBackend } from '../../support/watched-backend.ts';

const enqueueAll = async (runtime: SessionRuntime, sessionId: string, texts: readonly string[]) => {
  for (const content of texts)
    await runtime.enqueue(sessionId, { type: 'message', content }, { id: content });
};
const textsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `message ${index}`);

interface WatchedWorld extends World {
  readonly store: BackedSessionStore;
  readonly backend: WatchedBackend;
}

/** A world whose store is on a backend that can be damaged and counted. */
function watchedWorld(options: StoreOptions = {}, made = world()): WatchedWorld {
  const backend = new WatchedBackend();
  const store = new BackedSessionStore(backend, { clock: made.clock, ...options });
  return { ...made, backend, store, process: (script, own) => made.process(script, { store, ...own }) };
}

/** The same, with a payment that does this. */
const payingWorld = (act: () => unknown): WatchedWorld =>
  watchedWorld({}, world({ effect: 'readOnly', act }));

/** What a new owner finds in the inbox. */
async function inboxOf(store: BackedSessionStore, sessionId: string) {
  const { claim, inbox, unreadable } = await store.claim(sessionId, { workerId: 'reader', leaseSeconds: 1 });
  await store.release(claim);
  return { ids: inbox.map(({ id }) => id), unreadable: unreadable.map(({ position }) => position) };
}

describe('an inbox of more than a page', () => {
  test('is used completely, in order, under one claim', async () => {
    const { process, store } = watchedWorld();
    const runtime = process(['One.', 'Two.', 'Three.', 'Four.']);
    const { sessionId } = await runtime.create({ definition });
    await enqueueAll(runtime, sessionId, textsOf(230));
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect(userTexts(await runtime.get(sessionId))).toEqual(textsOf(230));
    expect(await inboxOf(store, sessionId)).toEqual({ ids: [], unreadable: [] });
    expect((await store.due()).sessions).toEqual([]);
  });

  test('a stop behind 150 messages stops the run at the next heartbeat', async () => {
    const { clock, process, store } = watchedWorld();
    const asked = deferred();
    const runtime = process([
      (_request, { signal }) => {
        asked.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
    ]);
    const { sessionId } = await runtime.create({ definition });
    await enqueueAll(runtime, sessionId, textsOf(150));
    await runtime.enqueue(sessionId, { type: 'stop', reason: 'Enough.' });
    const running = runtime.advance(sessionId);
    await asked.promise;
    clock.advance(10_000);
    expect(await running).toMatchObject({ outcome: { type: 'finished' } });
    const session = await runtime.get(sessionId);
    expect([session.state.status, session.state.stopSignal?.message]).toEqual(['stopped', 'Enough.']);
    expect(userTexts(session)).toEqual(textsOf(100));
    expect(await inboxOf(store, sessionId)).toEqual({ ids: textsOf(150).slice(100), unreadable: [] });
    await process(['Fifty.']).advance(sessionId);
    expect(userTexts(await runtime.get(sessionId))).toEqual(textsOf(150));
  });

  test('a stop that is enqueued behind 150 messages during a run stops the run too', async () => {
    const { clock, process } = watchedWorld();
    const asked = deferred();
    const runtime = process([
      (_request, { signal }) => {
        asked.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
      'Never.',
    ]);
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('Go.'));
    await asked.promise;
    await enqueueAll(runtime, sessionId, textsOf(150));
    await runtime.enqueue(sessionId, { type: 'stop', reason: 'Enough.' });
    clock.advance(10_000);
    expect((await running).state.status).toBe('stopped');
  });
});

describe('a full inbox', () => {
  const options = { maxInboxItems: 3 };

  test('refuses a further item until an item was used', async () => {
    const { process, events } = watchedWorld(options);
    const runtime = process(['One.']);
    const { sessionId } = await runtime.create({ definition });
    await enqueueAll(runtime, sessionId, ['1', '2', '3']);
    const refused = runtime.enqueue(sessionId, { type: 'message', content: '4' });
    await expect(refused).rejects.toBeInstanceOf(InboxFullError);
    await expect(refused).rejects.toMatchObject({
      code: 'INBOX_FULL',
      sessionId,
      message: `The inbox of session "${sessionId}" is full: it holds 3 items. Wait until a worker has used some.`,
    });
    await runtime.advance(sessionId);
    expect(await runtime.enqueue(sessionId, { type: 'message', content: '4' })).toBe(true);
    expect(userTexts(await runtime.get(sessionId))).toEqual(['1', '2', '3']);
    expect(events.filter(({ type }) => type.startsWith('inbox-item'))).toEqual([]);
  });

  test('refuses the message of an action on a busy session', async () => {
    const { process, store } = watchedWorld(options);
    const runtime = process([]);
    const { sessionId } = await runtime.create({ definition });
    await enqueueAll(runtime, sessionId, ['1', '2', '3']);
    await store.claim(sessionId, { workerId: 'another', leaseSeconds: 60 });
    const refused = runtime.execute(sessionId, sendMessage('4'), { whenBusy: 'enqueue' });
    await expect(refused).rejects.toMatchObject({ code: 'INBOX_FULL', sessionId });
    await expect(runtime.execute(sessionId, sendMessage('4'), { whenBusy: 'refuse' })).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    });
  });

  test('takes a stop, decisions, answers and retries, each once', async () => {
    const { process, store } = watchedWorld(options);
    const runtime = process(['One.']);
    const { sessionId } = await runtime.create({ definition });
    await enqueueAll(runtime, sessionId, ['1', '2', '3']);
    const toolExecutionId = '00000000-0000-4000-8000-000000000001';
    const contents = [
      { type: 'stop' },
      { type: 'stop', executionId: 'e' },
      { type: 'decision', decision: 'approved', toolExecutionId },
      { type: 'decision', decision: 'denied', toolExecutionId },
      { type: 'answer', toolExecutionId, value: 1 },
      { type: 'retry' },
      { type: 'child-ended', sessionId: 'child' },
    ] as const;
    for (const isNew of [true, false])
      for (const content of contents) expect(await runtime.enqueue(sessionId, content)).toBe(isNew);
    expect((await store.inspect(sessionId)).waitingItems).toBe(3 + contents.length);
    await expect(runtime.enqueue(sessionId, { type: 'message', content: '4' })).rejects.toMatchObject({
      code: 'INBOX_FULL',
    });
  });

  test.each(['idle', 'busy'])('lets its session be cancelled: %s', async (what) => {
    const { process, store } = watchedWorld(options);
    const runtime = process(['One.', 'Two.', 'Three.', 'Four.']);
    const { sessionId } = await runtime.create({ definition });
    await enqueueAll(runtime, sessionId, ['1', '2', '3']);
    const worker = { workerId: 'another', leaseSeconds: 60 };
    const { claim } = await store.claim(sessionId, worker);
    if (what === 'idle') await store.release(claim);
    await runtime.execute(sessionId, cancel());
    if (what === 'busy') await store.release(claim);
    await runtime.advance(sessionId);
    expect((await runtime.get(sessionId)).state.status).toBe('stopped');
  });

  test('holds 10,000 items by default', async () => {
    const store = new MemorySessionStore();
    const { sessionId } = await world().process([], { store }).create({ definition });
    for (let count = 0; count < 10_000; count++) {
      await store.enqueue(sessionId, { id: `i${count}`, content: null });
    }
    await expect(store.enqueue(sessionId, { id: 'more', content: null })).rejects.toMatchObject({
      code: 'INBOX_FULL',
      data: { maxItems: 10_000 },
    });
  });

  test.each([0, -1, 1.5, Number.NaN])('maxInboxItems %d is refused', (maxInboxItems) => {
    expect(() => new MemorySessionStore({ maxInboxItems })).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });
});

describe('an unreadable item', () => {
  const NEWER = JSON.stringify({ version: 2, id: 'message 1', enqueuedAt: 0, content: { type: 'picture' } });

  test.each([
    { what: 'null', json: 'null' },
    { what: '{}', json: '{}' },
    { what: 'a number', json: '7' },
    { what: 'no JSON', json: '{' },
    { what: 'gone', json: undefined },
    { what: 'of a newer version', json: NEWER, code: 'STATE_VERSION' },
  ])('$what: the rest is used, the item stays, and the session is idle', async (damaged) => {
    const { json, code = 'STATE_FORMAT' } = damaged;
    const { backend, events, process, store } = watchedWorld();
    const runtime = process(['One.', 'Two.']);
    const { sessionId } = await runtime.create({ definition });
    await enqueueAll(runtime, sessionId, textsOf(3));
    backend.damage.set(1, json);
    backend.look();
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect(backend.look().filter((name) => name === 'readInbox').length).toBeLessThan(4);
    const session = await runtime.get(sessionId);
    expect([session.state.finalResponse, ...userTexts(session)]).toEqual(['One.', 'message 0', 'message 2']);
    expect(events.filter(({ type }) => type === 'inbox-item-unreadable')).toMatchObject([
      { session: { sessionId }, position: 1, error: { code, path: expect.stringContaining('inbox item 1') } },
    ]);
    expect(await inboxOf(store, sessionId)).toEqual({ ids: [], unreadable: [1] });

    events.length = 0;
    await runtime.execute(sessionId, sendMessage('Again.')); // the next piece of work says so once more
    expect(events.filter(({ type }) => type === 'inbox-item-unreadable')).toHaveLength(1);

    backend.damage.clear(); // as a newer release, or somebody who mends it
    await process(['Three.']).advance(sessionId);
    expect(userTexts(await runtime.get(sessionId))).toEqual([
      'message 0',
      'message 2',
      'Again.',
      'message 1',
    ]);
    expect(await inboxOf(store, sessionId)).toEqual({ ids: [], unreadable: [] });
  });

  test('a whole page of unreadable items does not hide the items behind it', async () => {
    const { backend, events, process, store } = watchedWorld();
    const runtime = process(['One.']);
    const { sessionId } = await runtime.create({ definition });
    await enqueueAll(runtime, sessionId, textsOf(252));
    for (let position = 0; position < 250; position++) backend.damage.set(position, 'null');
    await runtime.advance(sessionId);
    expect(userTexts(await runtime.get(sessionId))).toEqual(['message 250', 'message 251']);
    expect(events.filter(({ type }) => type === 'inbox-item-unreadable')).toHaveLength(250);
    expect((await inboxOf(store, sessionId)).unreadable).toEqual(
      Array.from({ length: 100 }, (_, position) => position),
    );
  });

  test('is reported once although each heartbeat reads it', async () => {
    const [gate, reached] = [deferred<string>(), deferred()];
    const { backend, clock, events, process, store } = payingWorld(() => {
      reached.resolve();
      return gate.promise;
    });
    const runtime = process([call(1), 'Paid.']);
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Pay.' });
    await runtime.enqueue(sessionId, { type: 'message', content: 'damaged' });
    backend.damage.set(1, '{}');
    const running = runtime.advance(sessionId);
    await reached.promise;
    for (let beats = 0; beats < 3; beats++) {
      clock.advance(10_000);
      await settled();
    }
    gate.resolve('paid');
    await running;
    expect(events.filter(({ type }) => type === 'inbox-item-unreadable')).toHaveLength(1);
    expect(await inboxOf(store, sessionId)).toEqual({ ids: [], unreadable: [1] });
  });

  test('is reported once although two renewals overlap', async () => {
    const made = watchedWorld();
    const renewals: (() => void)[] = [];
    const [asked, answered] = [deferred(), deferred<string>()];
    const runtime = made.process([() => (asked.resolve(), answered.promise)]);
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('Go.'));
    await asked.promise;
    await runtime.enqueue(sessionId, { type: 'message', content: 'damaged' });
    made.backend.damage.set(0, '{}');
    const { store } = made;
    const renew = store.renew.bind(store);
    store.renew = async (...args) => {
      const renewed = await renew(...args);
      await new Promise<void>((resolve) => renewals.push(resolve));
      return renewed;
    };
    made.clock.advance(10_000); // the heartbeat's
    await settled();
    answered.resolve('One.');
    await settled(); // the one before the end
    expect(renewals).toHaveLength(2);
    for (const answer of renewals) answer();
    await running;
    expect(made.events.filter(({ type }) => type === 'inbox-item-unreadable')).toHaveLength(1);
  });
});

describe('lastActiveAt', () => {
  test('changes when work begins or ends, and not when a run saves its steps', async () => {
    const active: number[] = [];
    const { clock, process, store } = payingWorld(async () => {
      clock.advance(1_000);
      active.push((await store.list()).sessions[0]?.lastActiveAt ?? 0);
      return 'paid';
    });
    const runtime = process([call(1), call(2), 'Paid.']);
    const lastActiveAt = async () =>
      (await runtime.list({ order: 'lastActiveAt' })).sessions[0]?.lastActiveAt;
    const { sessionId } = await runtime.create({ definition });
    const created = clock.now();
    expect(await lastActiveAt()).toBe(created);
    clock.advance(1_000);
    await runtime.enqueue(sessionId, { type: 'message', content: 'Pay.' });
    expect(await lastActiveAt()).toBe(created);
    const begun = clock.now();
    await runtime.advance(sessionId);
    expect(active).toEqual([begun, begun]);
    expect(await lastActiveAt()).toBe(begun + 2_000);
  });

  test('lists the session with the latest work first', async () => {
    const { clock, process } = watchedWorld();
    const runtime = process(['One.', 'Two.']);
    for (const sessionId of ['a', 'b', 'c']) {
      await runtime.create({ definition, sessionId });
      clock.advance(1);
    }
    await runtime.execute('a', sendMessage('1'));
    const ids = async () =>
      (await runtime.list({ order: 'lastActiveAt' })).sessions.map(({ sessionId }) => sessionId);
    expect(await ids()).toEqual(['a', 'c', 'b']);
    clock.advance(1);
    await runtime.execute('b', sendMessage('2'));
    expect(await ids()).toEqual(['b', 'a', 'c']);
  });
});
