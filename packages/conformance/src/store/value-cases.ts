import assert from 'node:assert/strict';
import type { AgentState, JsonValue } from '@holdfast/core';
import { userMessage } from '@holdfast/core';
import { stateAfterSteps, stateInStep } from './execution-states.ts';
import { emptyState, START, storeCase } from './store-case.ts';
import type { SessionStoreCase } from './store-case.ts';

function nested(depth: number): JsonValue {
  let value: JsonValue = 'bottom';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { inner: value };
  return value;
}

const HOSTILE_VALUES: Readonly<Record<string, JsonValue>> = {
  'falsy values': [0, false, '', null, [], {}],
  'a member named __proto__': JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}'),
  'lone surrogates': ['\ud800', 'a\udfffb', { '\ud83e': '\udd8a\ud83e' }],
  NUL: ['\0', 'a\0b', { 'k\0': '\0v' }],
  emoji: ['🦊', '👩‍👩‍👧', { '🔑': '🗝' }],
  'control characters and quotes': ['\u0001\b\f\n\r\t"\\\u2028\u2029\u007f', "'; DROP TABLE sessions; --"],
  'a byte order mark': ['\ufeff', '\ufeffa'],
  'integers of 64 bits': ['9223372036854775807', '-9223372036854775808', Number.MAX_SAFE_INTEGER],
  numbers: [1e308, 5e-324, -1.5, 0.1],
  'nesting 1,000 deep': nested(1_000),
  'a text of a megabyte': 'é'.repeat(500_000),
};

const values = Object.entries(HOSTILE_VALUES).map(([what, value]) =>
  storeCase(`${what}: in metadata and messages`, async ({ store, session }) => {
    const message = userMessage(typeof value === 'string' ? value : JSON.stringify(value).slice(0, 100), {
      id: '10000000-0000-4000-8000-000000000001',
      metadata: { value },
      providerOptions: { tester: { value } },
    });
    const state = emptyState().withMetadata('value', value, START).withMessages([message], START);
    const created = await store.create(session('a', { state }));
    const loaded = await store.load('a');
    assert.deepEqual(loaded, created);
    assert.equal(JSON.stringify(loaded), JSON.stringify(created));
    assert.deepEqual(loaded?.state.metadata.get('value'), value);
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  }),
);

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
  storeCase('an agent of any name', async ({ store, created }) => {
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

const HOSTILE_IDS = [
  '{}:*?\n/',
  '../../etc/passwd',
  'file:x?mode=memory',
  "'; DROP TABLE sessions; --",
  '%_',
  ' ',
  ' a',
  'a',
  'A',
  'a\0',
  'a\0b',
  'a\0c',
  '\0',
  '\ufeffa',
  '\ufffd',
  '\u00e9',
  'e\u0301',
  '🦊',
  '\u{10ffff}',
  '__proto__',
  'constructor',
  'x'.repeat(1_000),
  `${'x'.repeat(999)}y`,
  '🦊'.repeat(500),
];

const ids = [
  storeCase('hostile session ids are kept apart', async ({ store, created }) => {
    for (const id of HOSTILE_IDS) {
      assert.equal(await store.exists(id), false, JSON.stringify(id));
      await created(id, { parentId: id, forkedFrom: id });
    }
    for (const id of HOSTILE_IDS) {
      const loaded = await store.load(id);
      assert.equal(loaded?.sessionId, id);
      assert.equal((await store.save(loaded)).version, 2);
      const { sessions } = await store.list({ parentId: id });
      assert.deepEqual(
        sessions.map((info) => [info.sessionId, info.parentId]),
        [[id, id]],
      );
    }
    const { sessions } = await store.list({ limit: 100 });
    assert.deepEqual(new Set(sessions.map((info) => info.sessionId)), new Set(HOSTILE_IDS));
    for (const id of HOSTILE_IDS) assert.equal(await store.delete(id), true);
    assert.deepEqual((await store.list()).sessions, []);
  }),
  storeCase('a text that cannot be an id is the id of nothing', async ({ store, created }) => {
    await created('\ufffd', { parentId: '\ufffd' });
    for (const id of ['', '\ud800', 'x'.repeat(1_001)]) {
      assert.equal(await store.load(id), undefined);
      assert.equal(await store.exists(id), false);
      assert.equal(await store.delete(id), false);
      assert.deepEqual(await store.list({ parentId: id }), { sessions: [], cursor: undefined });
    }
    assert.equal(await store.exists('\ufffd'), true);
  }),
];

const copies = [
  storeCase('what is stored does not change with what was passed in', async ({ store, created, session }) => {
    const facts = { list: [1, 2] };
    const state = emptyState().withMetadata('facts', facts, START);
    const first = await store.create(session('a', { state }));
    facts.list.push(3);
    assert.deepEqual((await store.load('a'))?.state.metadata.get('facts'), { list: [1, 2] });
    await created('b');
    assert.deepEqual(await store.load('a'), first);
  }),
  storeCase('what was loaded cannot be changed', async ({ store, session }) => {
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

const round = [
  storeCase('a session in the middle of a step round-trips', async ({ store, created }) => {
    const base = await created('a');
    const saved = await store.save(base.withState(stateInStep(base.state)), { base });
    const loaded = await store.load('a');
    assert.deepEqual(loaded, saved);
    assert.equal(loaded?.info.executionStatus, 'inProgress');
    assert.equal(loaded?.state.currentStep?.toolExecutions[0]?.isRunning, true);
  }),
  storeCase('a session whose execution has steps round-trips, three times', async ({ store, created }) => {
    const base = await created('a');
    let session = await store.save(base.withState(stateAfterSteps(base.state)), { base });
    for (let times = 0; times < 3; times++) {
      const loaded = await store.load('a');
      assert.deepEqual(loaded, session);
      assert.equal(loaded?.state.finalResponse, 'It is 21 °C.');
      assert.equal(loaded?.state.steps.length, 3);
      session = await store.save(loaded, { base: loaded });
    }
  }),
  storeCase('a session between executions round-trips', async ({ store, created }) => {
    const base = await created('a');
    const saved = await store.save(
      base.withState(stateAfterSteps(base.state).forNextExecution(START + 9_000)),
    );
    const loaded = await store.load('a');
    assert.deepEqual(loaded, saved);
    assert.equal(loaded?.info.executionStatus, undefined);
    assert.equal(loaded?.state.executionCount, 1);
  }),
];

/** What goes in comes out: values, ids, whole states. */
export const valueCases: readonly SessionStoreCase[] = [...values, ...names, ...ids, ...copies, ...round];
