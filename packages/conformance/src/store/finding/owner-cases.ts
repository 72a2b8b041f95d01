import assert from 'node:assert/strict';
import { hasErrorCode, type SessionStore } from '@holdfast/core';
import { stateAfterSteps } from '../case/execution-states.ts';
import { HOSTILE_IDS } from '../case/hostile-ids.ts';
import { createEach, idsOf, pagesOf } from '../case/list-pages.ts';
import { emptyState, START, storeCase, withFact, type UngroupedCase } from '../case/store-case.ts';

const LEASE = { workerId: 'worker', leaseSeconds: 60 };
const LONG_OWNERS = [`${'o'.repeat(999)}a`, `${'o'.repeat(999)}b`, '\uffff'.repeat(1_000), '🦉'.repeat(500)];

const lists = [
  storeCase('a list of an owner has the sessions of this owner only', async (context) => {
    const { store } = context;
    const owners = [...HOSTILE_IDS, ...LONG_OWNERS];
    await createEach(context, [
      ['without an owner'],
      ...owners.map((owner, index) => [`s${index}`, { owner }] as [string, { owner: string }]),
    ]);
    for (const [index, owner] of owners.entries()) {
      assert.deepEqual(
        await idsOf(store, { owner }),
        owners.flatMap((each, at) => (each === owner ? [`s${at}`] : [])),
      );
      assert.equal((await store.load(`s${index}`))?.owner, owner);
    }
    assert.deepEqual(await idsOf(store, { owner: 'nobody' }), []);
    assert.equal((await idsOf(store, { limit: 100 })).length, owners.length + 1);
  }),
  storeCase('a list of an owner has pages, orders and further filters', async (context) => {
    const { store, clock } = context;
    const owned = Array.from({ length: 7 }, (_, index) => `a${index}`);
    await createEach(
      context,
      owned.flatMap((id) => [
        [id, { owner: 'Ada' }],
        [`b${id}`, { owner: 'Bo' }],
      ]),
    );
    const session = await store.load('a3');
    assert(session);
    clock.time += 1_000;
    await store.save(session.withState(stateAfterSteps(session.state)), { base: session });
    assert.deepEqual((await pagesOf(store, { owner: 'Ada', limit: 2 })).flat(), owned.toReversed());
    const byActivity = (await pagesOf(store, { owner: 'Ada', limit: 2, order: 'lastActiveAt' })).flat();
    assert.deepEqual(byActivity, ['a3', ...owned.toReversed().filter((id) => id !== 'a3')]);
    assert.deepEqual(await idsOf(store, { owner: 'Ada', executionStatus: 'completed' }), ['a3']);
    assert.deepEqual(await idsOf(store, { owner: 'Bo', executionStatus: 'completed' }), []);
  }),
  storeCase(
    'a list of an owner follows creations, saves and deletions',
    async ({ store, created, clock }) => {
      const base = await created('a', { owner: 'Ada' });
      await created('b', { owner: 'Ada' });
      clock.time += 1_000;
      await store.save(withFact(base, 'n', 1), { base });
      assert.deepEqual(await idsOf(store, { owner: 'Ada', order: 'lastActiveAt' }), ['a', 'b']);
      await store.delete('a');
      assert.deepEqual(await idsOf(store, { owner: 'Ada' }), ['b']);
      await created('a', { owner: 'Bo' });
      assert.deepEqual(await idsOf(store, { owner: 'Ada' }), ['b']);
      assert.deepEqual(await idsOf(store, { owner: 'Bo' }), ['a']);
    },
  ),
];

/** Every call for an owner, which finds the session of another owner no more than one that does not exist. */
const CALLS: Readonly<Record<string, (store: SessionStore, id: string, owner: string) => Promise<unknown>>> =
  {
    load: (store, id, owner) => store.load(id, { owner }),
    exists: (store, id, owner) => store.exists(id, { owner }),
    delete: (store, id, owner) => store.delete(id, { owner }),
    claim: (store, id, owner) => store.claim(id, { ...LEASE, owner }),
    enqueue: (store, id, owner) => store.enqueue(id, { id: 'i', content: 1 }, { owner }),
    removeItem: (store, id, owner) => store.removeItem(id, 'waiting', { owner }),
    inspect: (store, id, owner) => store.inspect(id, { owner }),
    executions: (store, id, owner) => store.executions(id, { owner }),
    revisions: (store, id, owner) => store.revisions(id, { owner }),
    loadRevision: (store, id, owner) => store.loadRevision(id, 1, { owner }),
  };

const outcomeOf = async (act: Promise<unknown>): Promise<unknown> =>
  act.then(
    (value) => ({ value }),
    (error: unknown) => ({ isMissing: hasErrorCode(error, 'SESSION_NOT_FOUND') }),
  );

const guards = Object.entries(CALLS).map(([name, call]) =>
  storeCase(`${name} for an owner finds no session of another owner`, async ({ store, created }) => {
    await created('a', { owner: 'Ada' });
    await created('n');
    await store.enqueue('a', { id: 'waiting', content: 1 });
    const missing = await outcomeOf(call(store, 'none', 'Bo'));
    assert.deepEqual(await outcomeOf(call(store, 'a', 'Bo')), missing);
    assert.deepEqual(await outcomeOf(call(store, 'a', 'ada')), missing);
    assert.deepEqual(await outcomeOf(call(store, 'n', 'Bo')), missing);
    const { inbox } = await store.inspect('a');
    assert.deepEqual(
      inbox.inbox.map(({ id }) => id),
      ['waiting'],
    );
    assert.notDeepEqual(await outcomeOf(call(store, 'a', 'Ada')), missing);
  }),
);

const facts = [
  storeCase('owner, title, labels, budget and totals are stored', async ({ store, session, clock }) => {
    const labels = { '\0': 'ü', __proto__x: '🦊', channel: 'mail' };
    const init = { owner: 'Ada', title: 'Weather', labels, budget: { maxSteps: 100, maxCost: 2 } };
    const base = await store.create(session('a', init));
    assert.deepEqual(await store.load('a'), base);
    clock.time += 1_000;
    const saved = await store.save(
      base
        .withState(stateAfterSteps(base.state))
        .withDescription({ title: undefined, labels: { channel: 'chat' } }),
      { base },
    );
    assert.deepEqual(await store.load('a'), saved);
    const [listed] = (await store.list({ owner: 'Ada' })).sessions;
    const { owner, title, labels: shown, totals } = listed ?? saved.info;
    assert.deepEqual([owner, title, shown], ['Ada', undefined, { channel: 'chat' }]);
    assert.deepEqual(totals, { executions: 1, steps: 3, seconds: 6.5, tokens: 360, cost: 0.03 });
    assert.deepEqual(saved.budget?.toJSON(), { maxSteps: 100, maxCost: 2 });
  }),
  storeCase('totals count all executions, also after the history was cleared', async ({ store, created }) => {
    let session = await created('a');
    for (let count = 1; count <= 3; count++) {
      const state = stateAfterSteps(session.state.forNextExecution(START));
      session = await store.save(session.withState(state), { base: session });
      assert.equal(session.totals.executions, count);
    }
    const cleared = await store.save(session.withState(emptyState()));
    const expected = { executions: 3, steps: 9, seconds: 19.5, tokens: 1_080, cost: 0.09 };
    assert.deepEqual(cleared.totals, expected);
    assert.deepEqual((await store.load('a'))?.totals, expected);
    assert.deepEqual((await store.list()).sessions[0]?.totals, expected);
  }),
];

/** The owner of a session, and the facts that people see. */
export const ownerCases: readonly UngroupedCase[] = [...lists, ...guards, ...facts];
