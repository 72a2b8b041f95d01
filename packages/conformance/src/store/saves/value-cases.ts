import assert from 'node:assert/strict';
import { userMessage, type AgentState } from '@holdfast/core';
import { HOSTILE_IDS, LONGEST_IDS } from '../case/hostile-ids.ts';
import { HOSTILE_VALUES, hostileDefinition, hostileState } from '../case/hostile-values.ts';
import { emptyState, START, storeCase, type UngroupedCase } from '../case/store-case.ts';

const values = Object.entries(HOSTILE_VALUES).map(([what, value]) =>
  storeCase(`${what}: in every part of a session`, async ({ store, session, created }) => {
    const definition = hostileDefinition(value);
    const whole = await store.create(
      session('whole', { state: hostileState(emptyState(), value), definition }),
    );
    const base = await created('grown', { definition });
    const grown = await store.save(base.withState(hostileState(base.state, value)), { base });
    for (const kept of [whole, grown]) {
      const loaded = await store.load(kept.sessionId);
      assert.deepEqual(loaded, kept);
      assert.equal(JSON.stringify(loaded), JSON.stringify(kept));
      assert.deepEqual(loaded?.state.metadata.get('value'), value);
    }
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  }),
);

const MESSAGE_ID = '10000000-0000-4000-8000-000000000001';
const BYTES = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');

const parts = [
  storeCase('a text of a megabyte', async ({ store, session }) => {
    const text = 'é'.repeat(500_000);
    const message = userMessage(text, { id: MESSAGE_ID, createdAt: START });
    const state = emptyState().withMessages([message], START).withMetadata('text', text, START);
    const created = await store.create(session('a', { state }));
    assert.deepEqual(await store.load('a'), created);
  }),
  storeCase('files as bytes, text and URLs', async ({ store, session }) => {
    const files = [
      { type: 'data', data: BYTES },
      { type: 'data', data: '' },
      { type: 'data', data: BYTES.repeat(500) },
      { type: 'text', text: 'a\0b' },
      { type: 'url', url: 'https://example.com/?q=%00' },
      { type: 'reference', reference: { tester: 'file-1', __proto__: 'x' } },
    ] as const;
    const parts = files.map(
      (data) => ({ type: 'file', mediaType: 'image/png', filename: '../a', data }) as const,
    );
    const message = userMessage(parts, { id: MESSAGE_ID, createdAt: START });
    const created = await store.create(session('a', { state: emptyState().withMessages([message], START) }));
    const loaded = await store.load('a');
    assert.deepEqual(loaded, created);
    assert.deepEqual(loaded?.state.messages.at(0)?.content, message.content);
  }),
];

const names = [
  storeCase('metadata under any name', async ({ store, session }) => {
    const names = ['__proto__', 'constructor', 'toString', '', '\0', '\ud800', '🦊', '$.a[0]'];
    let state: AgentState = emptyState();
    for (const name of names) state = state.withMetadata(name, `value of ${name}`, START);
    const created = await store.create(session('a', { state }));
    const loaded = await store.load('a');
    assert.deepEqual(loaded, created);
    for (const name of names) assert.equal(loaded?.state.metadata.get(name), `value of ${name}`);
  }),
  storeCase('an agent with any name', async ({ store, created }) => {
    const agentNames = ['\ud800', '\ufffd', 'a\0b', 'a\0c', 'a', 'quote"', 'back\\slash', '🦊', "'; --"];
    for (const [index, name] of agentNames.entries())
      await created(`session ${index}`, { definition: { name } });
    for (const [index, name] of agentNames.entries()) {
      const { sessions } = await store.list({ agentName: name });
      assert.deepEqual(
        sessions.map((info) => [info.sessionId, info.agentName]),
        [[`session ${index}`, name]],
      );
    }
  }),
];

const ids = [
  storeCase('session ids with special characters never collide', async ({ store, created }) => {
    for (const id of HOSTILE_IDS) {
      assert.equal(await store.exists(id), false, JSON.stringify(id));
      await created(id, { parentId: id, forkedFrom: id });
    }
    for (const id of HOSTILE_IDS) {
      const loaded = await store.load(id);
      assert.equal(loaded?.sessionId, id);
      assert.equal((await store.save(loaded)).version, 2);
      const { session: claimed, claim } = await store.claim(id, { workerId: id, leaseSeconds: 60 });
      assert.equal(claimed.sessionId, id);
      assert.equal(await store.enqueue(id, { id, content: id }), true);
      assert.deepEqual(
        (await store.renew(claim, { leaseSeconds: 60 })).inbox.map((item) => [item.id, item.content]),
        [[id, id]],
      );
      assert.equal(await store.release(claim), true);
      const { sessions } = await store.list({ parentId: id });
      assert.deepEqual(
        sessions.map((info) => [info.sessionId, info.parentId]),
        [[id, id]],
      );
    }
    const { sessions } = await store.list({ limit: 100 });
    assert.deepEqual(new Set(sessions.map((info) => info.sessionId)), new Set(HOSTILE_IDS));
    const due = await store.due({ limit: 100 });
    assert.deepEqual(new Set(due.sessions.map(({ sessionId }) => sessionId)), new Set(HOSTILE_IDS));
    for (const id of HOSTILE_IDS) assert.equal(await store.delete(id), true);
    assert.deepEqual((await store.list()).sessions, []);
  }),
  storeCase('two ids of 3,000 bytes that differ at the end', async ({ store, created }) => {
    const [first, second] = LONGEST_IDS;
    for (const id of LONGEST_IDS) {
      const base = await created(id, { parentId: id });
      for (const item of LONGEST_IDS)
        assert.equal(await store.enqueue(id, { id: item, content: item }), true);
      assert.equal(await store.enqueue(id, { id: second, content: null }), false);
      const { claim, inbox } = await store.claim(id, { workerId: first, leaseSeconds: 60 });
      const others = store.claim(id, { workerId: second, leaseSeconds: 60 });
      await assert.rejects(others, { code: 'SESSION_BUSY', workerId: first });
      const options = { base, epoch: claim.epoch, acknowledge: inbox.slice(0, 1) };
      const saved = await store.save(base, { ...options, operationId: first });
      const repeated = await store.save(base, { ...options, operationId: first });
      assert.deepEqual(repeated.toJSON(), saved.toJSON());
      const stale = { code: 'SESSION_CONFLICT', kind: 'stale' };
      await assert.rejects(store.save(base, { ...options, operationId: second }), stale);
      const { inbox: rest } = await store.renew(claim, { leaseSeconds: 60 });
      assert.deepEqual(
        rest.map((item) => [item.id, item.content]),
        [[second, second]],
      );
    }
    for (const id of LONGEST_IDS) {
      const { sessions } = await store.list({ parentId: id });
      assert.deepEqual(
        sessions.map(({ sessionId }) => sessionId),
        [id],
      );
      assert.equal(await store.delete(id), true);
    }
  }),
  storeCase('an invalid id behaves like a missing session', async ({ store, created }) => {
    await created('\ufffd', { parentId: '\ufffd' });
    for (const id of ['', '\ud800', 'x'.repeat(1_001)]) {
      assert.equal(await store.load(id), undefined);
      assert.equal(await store.exists(id), false);
      assert.equal(await store.delete(id), false);
      const absent = { code: 'SESSION_NOT_FOUND' };
      await assert.rejects(store.claim(id, { workerId: 'A', leaseSeconds: 60 }), absent);
      await assert.rejects(store.enqueue(id, { id: 'i', content: null }), absent);
      assert.deepEqual(await store.list({ parentId: id }), {
        sessions: [],
        unreadable: [],
        cursor: undefined,
      });
    }
    assert.equal(await store.exists('\ufffd'), true);
  }),
];

const copies = [
  storeCase(
    'changes to a passed session do not change the stored session',
    async ({ store, created, session }) => {
      const facts = { list: [1, 2] };
      const state = emptyState().withMetadata('facts', facts, START);
      const first = await store.create(session('a', { state }));
      facts.list.push(3);
      assert.deepEqual((await store.load('a'))?.state.metadata.get('facts'), { list: [1, 2] });
      await created('b');
      assert.deepEqual(await store.load('a'), first);
    },
  ),
  storeCase('a loaded session is immutable', async ({ store, session }) => {
    const state = emptyState().withMetadata('facts', { list: [1, 2] }, START);
    const first = await store.create(session('a', { state }));
    const loaded = await store.load('a');
    assert(loaded);
    assert.equal(Object.isFrozen(loaded), true);
    const { list } = loaded.state.metadata.get<{ list: number[] }>('facts') ?? {};
    assert.throws(() => list?.push(3), TypeError);
    assert.throws(() => Object.assign(loaded, { version: 9 }), TypeError);
    assert.deepEqual(await store.load('a'), first);
  }),
];

/** Round trips of values, names and ids. */
export const valueCases: readonly UngroupedCase[] = [...values, ...parts, ...names, ...ids, ...copies];
