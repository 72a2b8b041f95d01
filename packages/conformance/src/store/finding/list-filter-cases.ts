import assert from 'node:assert/strict';
import type { SessionQuery } from '@holdfast/core';
import { stateAfterSteps, stateInStep, stateWaiting, WAITINGS } from '../case/execution-states.ts';
import { createEach, idsOf, pagesOf } from '../case/list-pages.ts';
import { emptyState, START, storeCase, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

/** Eight sessions with different values in each field that a list can filter by. */
async function createVaried(context: CaseContext): Promise<void> {
  const { store } = context;
  await createEach(context, [
    ['plain'],
    ['writer', { definition: { name: 'writer' } }],
    ['child', { parentId: 'plain' }],
    ['child of writer', { parentId: 'writer', definition: { name: 'writer' } }],
    ['running', { state: stateInStep(emptyState()) }],
    ['done', { state: stateAfterSteps(emptyState()), parentId: 'plain' }],
    ['asking', { state: stateWaiting(emptyState(), WAITINGS.approval) }],
    ['sleeping', { state: stateWaiting(emptyState(), WAITINGS.until), definition: { name: 'writer' } }],
  ]);
  for (const id of ['writer', 'done']) {
    const session = await store.load(id);
    assert(session);
    await store.save(session.withStatus('suspended'));
    context.clock.time += 1_000;
  }
}

const FILTERED: readonly (readonly [query: SessionQuery, ids: readonly string[]])[] = [
  [{ status: 'active' }, ['sleeping', 'asking', 'running', 'child of writer', 'child', 'plain']],
  [{ status: 'suspended' }, ['done', 'writer']],
  [{ status: 'deleted' }, []],
  [{ agentName: 'writer' }, ['sleeping', 'child of writer', 'writer']],
  [{ agentName: 'nobody' }, []],
  [{ agentName: '' }, []],
  [{ parentId: 'plain' }, ['done', 'child']],
  [{ parentId: 'child' }, []],
  [{ executionStatus: 'inProgress' }, ['running']],
  [{ executionStatus: 'completed' }, ['done']],
  [{ executionStatus: 'suspended' }, ['sleeping', 'asking']],
  [{ executionStatus: 'failed' }, []],
  [{ waitingFor: 'approval' }, ['asking']],
  [{ waitingFor: 'until' }, ['sleeping']],
  [{ waitingFor: 'input' }, []],
  [
    { waitingFor: 'until', agentName: 'writer', executionStatus: 'suspended', status: 'active' },
    ['sleeping'],
  ],
  [{ waitingFor: 'approval', agentName: 'writer' }, []],
  [{ waitingFor: 'approval', executionStatus: 'inProgress' }, []],
  [{ status: 'suspended', agentName: 'writer' }, ['writer']],
  [{ status: 'suspended', parentId: 'plain', executionStatus: 'completed', agentName: 'tester' }, ['done']],
  [{ status: 'active', parentId: 'plain', executionStatus: 'completed' }, []],
];

const filters = FILTERED.map(([query, ids]) =>
  storeCase(`a list with the filter ${JSON.stringify(query)}`, async (context) => {
    const { store } = context;
    await createVaried(context);
    assert.deepEqual(await idsOf(store, query), ids);
    assert.deepEqual((await pagesOf(store, { ...query, limit: 1 })).flat(), ids);
    const byChange = await pagesOf(store, { ...query, limit: 1, order: 'lastActiveAt' });
    assert.deepEqual(
      byChange.flat(),
      (await idsOf(store, { order: 'lastActiveAt' })).filter((id) => ids.includes(id)),
    );
  }),
);

const changes = [
  storeCase('a list finds a session by the current values of its filters', async ({ store, created }) => {
    const base = await created('a');
    assert.deepEqual(await idsOf(store, { executionStatus: 'inProgress' }), []);
    const running = await store.save(base.withState(stateInStep(base.state)));
    assert.deepEqual(await idsOf(store, { executionStatus: 'inProgress' }), ['a']);
    const done = await store.save(running.withState(base.state).withStatus('completed'));
    assert.deepEqual(await idsOf(store, { executionStatus: 'inProgress' }), []);
    assert.deepEqual(await idsOf(store, { status: 'completed' }), ['a']);
    await store.delete('a', { revision: done.revision });
    assert.deepEqual(await idsOf(store, { status: 'completed' }), []);
  }),
  storeCase('a list finds a session by what it currently waits for', async ({ store, created }) => {
    let session = await created('a');
    for (const [kind, waiting] of Object.entries(WAITINGS)) {
      const running = session.state.withExecutionStatus('inProgress', START);
      session = await store.save(session.withState(stateWaiting(running, waiting)), { base: session });
      for (const waitingFor of ['approval', 'answer', 'until', 'child', 'input'] as const)
        assert.deepEqual(await idsOf(store, { waitingFor }), waitingFor === kind ? ['a'] : [], waitingFor);
    }
    await store.save(session.withState(session.state.withExecutionStatus('inProgress', START)));
    assert.deepEqual(await idsOf(store, { waitingFor: 'input' }), []);
  }),
  storeCase('a session that waits for several things is listed by the first', async ({ store, created }) => {
    await created('a', { state: stateWaiting(emptyState(), [...WAITINGS.child, ...WAITINGS.until]) });
    assert.deepEqual(await idsOf(store, { waitingFor: 'child' }), ['a']);
    assert.deepEqual(await idsOf(store, { waitingFor: 'until' }), []);
  }),
];

/** Lists: filters. */
export const listFilterCases: readonly UngroupedCase[] = [...filters, ...changes];
