import assert from 'node:assert/strict';
import { stateAfterSteps } from '../case/execution-states.ts';
import { createEach, idsOf, pagesOf } from '../case/list-pages.ts';
import { START, storeCase, type UngroupedCase } from '../case/store-case.ts';

const order = [
  storeCase('an empty store lists no sessions', async ({ store }) => {
    assert.deepEqual(await store.list(), { sessions: [], unreadable: [], cursor: undefined });
    assert.deepEqual(await store.list({ order: 'lastActiveAt', status: 'active' }), {
      sessions: [],
      unreadable: [],
      cursor: undefined,
    });
  }),
  storeCase('a list returns the facts about a session', async ({ store, clock, created }) => {
    const base = await created('a', { parentId: 'p', definition: { name: 'writer' } });
    clock.time += 8_000;
    const saved = await store.save(base.withState(stateAfterSteps(base.state)).withStatus('completed'));
    const { sessions } = await store.list();
    assert.deepEqual(sessions, [{ ...saved.info, lastActiveAt: START + 8_000 }]);
    assert.deepEqual(sessions[0], {
      sessionId: 'a',
      parentId: 'p',
      owner: undefined,
      title: undefined,
      labels: undefined,
      agentName: 'writer',
      status: 'completed',
      version: 2,
      createdAt: START,
      updatedAt: START + 8_000,
      executionStatus: 'completed',
      waitingFor: undefined,
      totals: { executions: 1, steps: 3, seconds: 6.5, tokens: 360, cost: 0.03 },
      lastActiveAt: START + 8_000,
    });
  }),
  storeCase('lists are sorted by creation or last activity, newest first', async (context) => {
    const { store } = context;
    await createEach(context, [['a'], ['b'], ['c']]);
    const first = await store.load('a');
    assert(first);
    await store.save(first);
    assert.deepEqual(await idsOf(store), ['c', 'b', 'a']);
    assert.deepEqual(await idsOf(store, { order: 'createdAt' }), ['c', 'b', 'a']);
    assert.deepEqual(await idsOf(store, { order: 'lastActiveAt' }), ['a', 'c', 'b']);
  }),
  storeCase('the start and the end of work move a session to the front', async (context) => {
    const { store, clock } = context;
    const [byActivity, lease] = [{ order: 'lastActiveAt' }, { workerId: 'Ada', leaseSeconds: 60 }] as const;
    await createEach(context, [['a'], ['b'], ['c']]);
    const { session, claim } = await store.claim('a', lease);
    assert.deepEqual(await idsOf(store, byActivity), ['a', 'c', 'b']);
    clock.time += 1_000;
    await store.save((await store.load('b')) ?? session);
    const saved = await store.save(session, { base: session, epoch: claim.epoch });
    assert.deepEqual(await idsOf(store, byActivity), ['b', 'a', 'c']);
    clock.time += 1_000;
    await store.renew(claim, lease);
    await store.enqueue('a', { id: 'i', content: 1 });
    await store.save(saved, { base: saved, epoch: claim.epoch });
    assert.deepEqual(await idsOf(store, byActivity), ['b', 'a', 'c']);
    await store.release(claim);
    assert.deepEqual(await idsOf(store, byActivity), ['a', 'b', 'c']);
    const { sessions } = await store.list(byActivity);
    assert.equal(sessions[0]?.lastActiveAt, clock.time);
  }),
  storeCase('creation is the session’s own time, not the time of the write', async ({ store, created }) => {
    await created('late', { at: START + 1_000 });
    await created('early', { at: START - 1_000 });
    assert.deepEqual(await idsOf(store), ['late', 'early']);
  }),
  storeCase('sessions of the same instant are sorted by id', async ({ store, created }) => {
    for (const id of ['b', 'a\0', 'B', 'a', 'é', '10', '9']) await created(id);
    const sorted = ['10', '9', 'B', 'a', 'a\0', 'b', 'é'];
    assert.deepEqual(await idsOf(store), sorted);
    assert.deepEqual(await idsOf(store, { order: 'lastActiveAt' }), sorted);
    assert.deepEqual((await pagesOf(store, { limit: 2 })).flat(), sorted);
  }),
  storeCase('ids are sorted by code points', async ({ store, created }) => {
    for (const id of ['\u{1f98a}', '\uffee', '\ue000', 'z\u{1f98a}', 'z\uffee']) await created(id);
    const sorted = ['z\uffee', 'z\u{1f98a}', '\ue000', '\uffee', '\u{1f98a}'];
    assert.deepEqual(await idsOf(store), sorted);
    assert.deepEqual((await pagesOf(store, { limit: 1 })).flat(), sorted);
  }),
];

const SEVEN = ['1', '2', '3', '4', '5', '6', '7'];

const paging = [
  storeCase('pages contain each session once', async (context) => {
    const { store } = context;
    await createEach(
      context,
      SEVEN.map((id) => [id]),
    );
    assert.deepEqual(await pagesOf(store, { limit: 3 }), [['7', '6', '5'], ['4', '3', '2'], ['1']]);
    assert.deepEqual(
      await pagesOf(store, { limit: 1 }),
      SEVEN.toReversed().map((id) => [id]),
    );
    assert.deepEqual(await pagesOf(store, { limit: 7 }), [SEVEN.toReversed()]);
    assert.deepEqual(await pagesOf(store, { limit: 2, order: 'lastActiveAt' }), [
      ['7', '6'],
      ['5', '4'],
      ['3', '2'],
      ['1'],
    ]);
  }),
  storeCase(
    'pages contain each session once when many have the same instant',
    async ({ store, clock, created }) => {
      for (const id of ['b1', 'b2', 'b3', 'b4']) await created(id);
      clock.time += 1_000;
      for (const id of ['a1', 'a2', 'a3']) await created(id);
      const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'b4'];
      for (const limit of [1, 2, 3, 4]) {
        for (const by of ['createdAt', 'lastActiveAt'] as const) {
          const pages = await pagesOf(store, { limit, order: by });
          assert.deepEqual(pages.flat(), all);
          assert.equal(pages.length, Math.ceil(7 / limit));
        }
      }
    },
  ),
  storeCase(
    'sessions that are deleted between pages neither hide nor repeat other sessions',
    async (context) => {
      const { store } = context;
      await createEach(
        context,
        SEVEN.map((id) => [id]),
      );
      const pages = await pagesOf(store, { limit: 2 }, (page) =>
        Promise.all(page.map((id) => store.delete(id))),
      );
      assert.deepEqual(pages, [['7', '6'], ['5', '4'], ['3', '2'], ['1']]);
    },
  ),
  storeCase(
    'sessions that are created or saved between pages do not disturb the order by creation',
    async (context) => {
      const { store } = context;
      await createEach(
        context,
        SEVEN.map((id) => [id]),
      );
      let news = 0;
      const pages = await pagesOf(store, { limit: 3 }, async () => {
        await createEach(context, [[`new ${++news}`]]);
        const oldest = await store.load('1');
        if (oldest) await store.save(oldest);
      });
      assert.deepEqual(pages, [['7', '6', '5'], ['4', '3', '2'], ['1']]);
    },
  ),
  storeCase('a page has 50 sessions by default', async ({ store, created }) => {
    for (let index = 0; index < 101; index++) await created(`session ${String(index).padStart(3, '0')}`);
    assert.deepEqual(
      (await pagesOf(store, {})).map((page) => page.length),
      [50, 50, 1],
    );
    assert.deepEqual(
      (await pagesOf(store, { limit: 100 })).map((page) => page.length),
      [100, 1],
    );
  }),
];

/** Lists: order and pages. */
export const listCases: readonly UngroupedCase[] = [...order, ...paging];
