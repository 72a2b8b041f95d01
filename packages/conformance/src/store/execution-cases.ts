import assert from 'node:assert/strict';
import type { AgentState, ExecutionStatus, Waiting } from '@holdfast/core';
import { stateAfterSteps, stateAmongTools, stateInStep, stateWaiting, WAITINGS } from './execution-states.ts';
import { START, storeCase } from './store-case.ts';
import type { UngroupedCase } from './store-case.ts';

type Example = readonly [
  what: string,
  make: (state: AgentState) => AgentState,
  status: ExecutionStatus | undefined,
  waitingFor?: Waiting['type'],
];

const EXAMPLES: readonly Example[] = [
  ['no execution', (state) => state, undefined],
  ['pending', (state) => state.withExecutionStatus('pending', START), 'pending'],
  ['in progress, before a step', (state) => state.withExecutionStatus('inProgress', START), 'inProgress'],
  ['in progress, in a step', stateInStep, 'inProgress'],
  ['in progress, among tools of all kinds', stateAmongTools, 'inProgress'],
  ...Object.entries(WAITINGS).map(([kind, waiting]): Example => [
    `suspended for ${kind}`,
    (state) => stateWaiting(state, waiting),
    'suspended',
    waiting[0].type,
  ]),
  [
    'suspended for everything at once',
    (state) => stateWaiting(stateAmongTools(state), Object.values(WAITINGS).flat()),
    'suspended',
    'approval',
  ],
  ['completed', stateAfterSteps, 'completed'],
  [
    'stopped',
    (state) =>
      stateInStep(state)
        .withStopSignal({ reason: 'userRequested', message: 'Enough.', source: 'Ada' }, START)
        .withExecutionStatus('stopped', START),
    'stopped',
  ],
  [
    'failed',
    (state) => {
      const cause = new TypeError('No route.', { cause: { code: 'EHOSTUNREACH' } });
      return stateInStep(state).withFailure(new Error('No.', { cause }), START);
    },
    'failed',
  ],
  ['over, and forgotten', (state) => stateAfterSteps(state).forNextExecution(START), undefined],
];

const examples = EXAMPLES.map(([what, make, status, waitingFor]) =>
  storeCase(`an execution that is ${what}`, async ({ store, session, created }) => {
    const whole = await store.create(session('whole', { state: make(session('whole').state) }));
    const base = await created('grown');
    const grown = await store.save(base.withState(make(base.state)), { base });
    for (const kept of [whole, grown]) {
      const loaded = await store.load(kept.sessionId);
      assert.deepEqual(loaded, kept);
      assert.equal(JSON.stringify(loaded), JSON.stringify(kept));
      assert.equal(loaded?.info.executionStatus, status);
      assert.equal(loaded?.info.waitingFor, waitingFor);
      const { sessions } = await store.list();
      assert.deepEqual(
        sessions.find(({ sessionId }) => sessionId === kept.sessionId),
        { ...kept.info, lastActiveAt: kept.updatedAt },
      );
    }
  }),
);

const lives = [
  storeCase('a step in progress keeps its running tool', async ({ store, created }) => {
    const base = await created('a');
    await store.save(base.withState(stateInStep(base.state)), { base });
    const loaded = await store.load('a');
    assert.equal(loaded?.state.currentStep?.toolExecutions[0]?.isRunning, true);
  }),
  storeCase('steps outlive saving and loading, three times', async ({ store, created }) => {
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
  storeCase('one execution after the other', async ({ store, created }) => {
    let session = await created('a');
    for (let count = 1; count <= 3; count++) {
      const before = session.state.forNextExecution(START);
      for (const make of [stateInStep, stateAfterSteps]) {
        session = await store.save(session.withState(make(before)), { base: session });
        const loaded = await store.load('a');
        assert.deepEqual(loaded, session);
        assert.equal(loaded?.state.executionCount, count);
      }
    }
  }),
];

/** Executions, as far as they can be. */
export const executionCases: readonly UngroupedCase[] = [...examples, ...lives];
