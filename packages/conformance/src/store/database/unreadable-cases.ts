import assert from 'node:assert/strict';
import type { SessionQuery, SessionStore, SessionDirectory } from '@holdfast/core';
import type { DuePage, DueQuery, SessionPage } from '@holdfast/core/store';
import { createEach } from '../case/list-pages.ts';
import { emptyState, START, storeCase, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

const ADA = { workerId: 'Ada', leaseSeconds: 60 };

/** How the text of a record can be damaged. */
const DAMAGES: Readonly<Record<string, (record: string) => string>> = {
  'has an unknown member, as a newer release may write it': changed((record) => ({ ...record, newer: 1 })),
  'is no JSON': (record) => record.slice(0, record.length / 2),
  'is another value': () => '[]',
  'has a value of another type': changed((record) => ({ ...record, epoch: 'many' })),
  'lacks a member': changed((record) => ({ ...record, progress: undefined })),
  'is that of another session': changed(({ info, ...record }) => ({
    ...record,
    info: { ...info, sessionId: 'other' },
  })),
};

type RecordJson = Readonly<Record<string, unknown>> & { readonly info: object };

/** Changes the value of a text of JSON. */
function changed(change: (record: RecordJson) => object): (record: string) => string {
  return (record) => JSON.stringify(change(JSON.parse(record)));
}

const noJson = (): string => 'no JSON';

/** Damages the stored records of sessions. */
async function corrupt(
  { abilities }: CaseContext,
  ids: readonly string[],
  change: (record: string) => string = noJson,
): Promise<void> {
  assert(abilities.corrupt, 'The harness lacks the ability "corrupt".');
  for (const id of ids) await abilities.corrupt(id, change);
}

/** Asserts that an error has a code and names the session. */
function assertNamed(error: unknown, sessionId: string): void {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  assert(code === 'STATE_FORMAT' || code === 'STATE_VERSION', `The code is ${String(code)}.`);
  assert(String(message).includes(`"${sessionId}"`), `The error does not name "${sessionId}".`);
}

async function assertRefused(act: Promise<unknown>, sessionId: string): Promise<void> {
  assertNamed(await act.then(() => undefined).catch((error: unknown) => error), sessionId);
}

/** The ids of the readable and of the unreadable sessions in a page. Each error must name its session. */
function idsIn({ sessions, unreadable }: SessionPage | DuePage): readonly [string[], string[]] {
  for (const { sessionId, error } of unreadable) assertNamed(error, sessionId);
  return [sessions.map(({ sessionId }) => sessionId), unreadable.map(({ sessionId }) => sessionId)];
}

const MAX_PAGES = 20;

/** Reads all pages. Returns the ids of readable and unreadable sessions, each in their order. */
async function allIds(
  read: (cursor: string | undefined) => Promise<SessionPage | DuePage>,
  limit: number,
): Promise<readonly [string[], string[]]> {
  const found: [string[], string[]] = [[], []];
  let cursor: string | undefined;
  for (let pages = 0; pages === 0 || cursor !== undefined; pages++) {
    assert(pages < MAX_PAGES, 'The pages never end.');
    const page = await read(cursor);
    const [readable, unreadable] = idsIn(page);
    assert(readable.length + unreadable.length <= limit, 'A page is longer than its limit.');
    found[0].push(...readable);
    found[1].push(...unreadable);
    ({ cursor } = page);
  }
  return found;
}

const listed = (store: SessionStore, query: SessionQuery & { readonly limit: number }) =>
  allIds((cursor) => store.list({ ...query, cursor }), query.limit);
const due = (store: SessionDirectory, query: DueQuery & { readonly limit: number }) =>
  allIds((cursor) => store.due({ ...query, cursor }), query.limit);

const damages = Object.entries(DAMAGES).map(([what, change]) =>
  storeCase(`a record that ${what} is listed as unreadable, and hides no other session`, async (context) => {
    const { store } = context;
    await createEach(context, [
      ['a', { owner: 'ann' }],
      ['b', { owner: 'ann' }],
      ['c', { owner: 'ann' }],
    ]);
    await corrupt(context, ['b'], change);
    for (const query of [{}, { owner: 'ann' }, { order: 'lastActiveAt' }, { agentName: 'tester' }] as const) {
      const page = await store.list(query);
      assert.deepEqual(idsIn(page), [['c', 'a'], ['b']], JSON.stringify(query));
    }
    await assertRefused(store.inspect('b'), 'b');
    await assertRefused(store.load('b'), 'b');
    assert((await store.load('a')) !== undefined);
  }),
);

const paging = [
  storeCase('a list continues behind pages of unreadable sessions', async (context) => {
    const { store } = context;
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    await createEach(
      context,
      ids.map((id) => [id, { owner: 'ann' }]),
    );
    await corrupt(context, ['b', 'c', 'd', 'g']);
    for (const limit of [1, 2, 3, 7])
      for (const query of [{ limit }, { limit, owner: 'ann' }, { limit, order: 'lastActiveAt' }] as const)
        assert.deepEqual(await listed(store, query), [
          ['f', 'e', 'a'],
          ['g', 'd', 'c', 'b'],
        ]);
  }),
  storeCase('unreadable sessions of one instant are listed in the order of their ids', async (context) => {
    const { store, created } = context;
    for (const id of ['d', 'a', 'c', 'b']) await created(id);
    await corrupt(context, ['b', 'c']);
    assert.deepEqual(await listed(store, { limit: 1 }), [
      ['a', 'd'],
      ['b', 'c'],
    ]);
  }),
  storeCase('the due sessions continue behind pages of unreadable ones', async (context) => {
    const { store, clock, created } = context;
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await created(id, { state: emptyState(clock.time).withExecutionStatus('inProgress', clock.time) });
      clock.time += 1_000;
    }
    await corrupt(context, ['a', 'b', 'c', 'e']);
    for (const limit of [1, 2, 6])
      assert.deepEqual(await due(store, { limit }), [
        ['d', 'f'],
        ['a', 'b', 'c', 'e'],
      ]);
    await assertRefused(store.takeDue({ sessionId: 'a', dueAt: START }, 60), 'a');
    assert.equal(await store.takeDue({ sessionId: 'd', dueAt: START + 3_000 }, 60), true);
  }),
  storeCase('an unreadable dead letter hides no other', async (context) => {
    const { store, clock, created } = context;
    const error = { name: 'Error', message: 'No such agent.', code: 'AGENT_NOT_FOUND' };
    for (const id of ['a', 'b', 'c']) {
      await created(id, { owner: 'ann' });
      await store.recordFailure(id, { error, delaysSeconds: [] });
      clock.time += 1_000;
    }
    await corrupt(context, ['b']);
    assert.deepEqual(await listed(store, { limit: 2, waitingFor: 'retry' }), [['c', 'a'], ['b']]);
  }),
];

const owners = [
  storeCase('an unreadable session exists for its owner only', async (context) => {
    const { store, created } = context;
    await created('a', { owner: 'ann', parentId: 'p' });
    await created('b', { owner: 'bob', parentId: 'p' });
    await created('c', { parentId: 'p' });
    await corrupt(context, ['a', 'b', 'c']);
    const [bob, ann] = [{ owner: 'bob' }, { owner: 'ann' }];
    assert.deepEqual(idsIn(await store.list(bob)), [[], ['b']]);
    const ofParent = await store.list({ ...bob, parentId: 'p' });
    assert.deepEqual(
      idsIn(ofParent)[1].filter((id) => id !== 'b'),
      [],
      'a list by two filters',
    );
    assert.deepEqual(idsIn(await store.list()), [[], ['a', 'b', 'c']]);
    for (const id of ['a', 'c']) {
      assert.equal(await store.load(id, bob), undefined);
      assert.equal(await store.exists(id, bob), false);
      await assert.rejects(store.inspect(id, bob), { code: 'SESSION_NOT_FOUND' });
      await assert.rejects(store.claim(id, { ...ADA, ...bob }), { code: 'SESSION_NOT_FOUND' });
      assert.equal(await store.delete(id, bob), false);
    }
    await assertRefused(store.load('a', ann), 'a');
    assert.equal(await store.delete('a', ann), true);
    assert.deepEqual(idsIn(await store.list()), [[], ['b', 'c']]);
  }),
  storeCase(
    'a record with another owner than its index entry is not listed for that owner',
    async (context) => {
      const { store, created } = context;
      for (const id of ['a', 'b']) await created(id, { owner: 'ann' });
      await corrupt(
        context,
        ['a'],
        changed(({ info, ...record }) => ({ ...record, info: { ...info, owner: 'bob' } })),
      );
      assert.deepEqual(idsIn(await store.list({ owner: 'ann' }))[0], ['b']);
      assert.deepEqual(idsIn(await store.list({ owner: 'bob' }))[0], []);
    },
  ),
];

const uses = [
  storeCase('each call for an unreadable session names it, and changes nothing', async (context) => {
    const { store, created } = context;
    const base = await created('a');
    await created('b');
    const { claim } = await store.claim('b', ADA);
    await corrupt(context, ['a', 'b']);
    await assertRefused(store.exists('a'), 'a');
    await assertRefused(store.claim('a', ADA), 'a');
    await assertRefused(store.save(base), 'a');
    await assertRefused(store.enqueue('a', { id: 'i', content: 1 }), 'a');
    await assertRefused(store.removeItem('a', 'i'), 'a');
    await assertRefused(store.executions('a'), 'a');
    await assertRefused(store.revisions('a'), 'a');
    await assertRefused(store.recordFailure('a', undefined), 'a');
    await assertRefused(store.renew(claim, ADA), 'b');
    await assertRefused(store.delete('a', { revision: base.revision }), 'a');
    assert.deepEqual(idsIn(await store.list()), [[], ['a', 'b']]);
  }),
  storeCase('an unreadable session can be deleted, and its id used again', async (context) => {
    const { store, created } = context;
    await created('a', { owner: 'ann' });
    await store.enqueue('a', { id: 'i', content: 1 });
    await corrupt(context, ['a']);
    assert.equal(await store.delete('a'), true);
    assert.equal(await store.delete('a'), false);
    assert.deepEqual(await store.list(), { sessions: [], unreadable: [], cursor: undefined });
    assert.deepEqual(await store.due(), { sessions: [], unreadable: [], cursor: undefined });
    await created('a', { owner: 'ann' });
    assert.deepEqual(idsIn(await store.list({ owner: 'ann' })), [['a'], []]);
    assert.deepEqual((await store.claim('a', ADA)).inbox, []);
  }),
  storeCase('prune continues behind an unreadable session', async (context) => {
    const { store, clock, session } = context;
    for (const id of ['a', 'b', 'c']) {
      await store.create(session(id), { expiry: { at: clock.time + 1_000 } });
      clock.time += 10;
    }
    await corrupt(context, ['a', 'b']);
    clock.time += 1_000;
    await store.prune();
    assert.equal(await store.exists('c'), false);
    assert.deepEqual(idsIn(await store.list())[0], []);
    await store.create(session('c'));
    assert.deepEqual(idsIn(await store.list())[0], ['c']);
  }),
];

/** Sessions whose records are damaged, or were written by a newer release. */
export const unreadableCases: readonly UngroupedCase[] = [...damages, ...paging, ...owners, ...uses].map(
  (one) => ({ ...one, needs: ['corrupt'] }),
);
