import assert from 'node:assert/strict';
import type { AgentState, ExecutionStatus, Waiting } from '@holdfast/core';
import {
  stateAfterSteps,
  stateAmongTools,
  stateInStep,
  stateWaiting,
  WAITINGS,
} from '../case/execution-states.ts';
import { START, storeCase, type UngroupedCase } from '../case/store-case.ts';

type Example = readonly [
  what: string,
  make: (state: AgentState) => AgentState,
  status: ExecutionStatus | undefined,
  waitingFor?: Waiting['type'],
];

const EXAMPLES: readonly Example[] = [
  ['absent', (state) => state, undefined],
  ['pending', (state) => state.withExecutionStatus('pending', START), 'pending'],
  [
    'in progress before its first step',
    (state) => state.withExecutionStatus('inProgress', START),
    'inProgress',
  ],
  ['in progress in an open step', stateInStep, 'inProgress'],
  ['in progress with tool executions in every stage', stateAmongTools, 'inProgress'],
  ...Object.entries(WAITINGS).map(([kind, waiting]): Example => [
    `suspended for ${kind}`,
    (state) => stateWaiting(state, waiting),
    'suspended',
    waiting[0].type,
  ]),
  [
    'suspended for all types at once',
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
  ['removed after its end', (state) => stateAfterSteps(state).forNextExecution(START), undefined],
];

const examples = EXAMPLES.map(([what, make, status, waitingFor]) =>
  storeCase(`an execution that is ${what} is loaded unchanged`, async ({ store, session, created }) => {
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
  storeCase('a running tool call of an open step is loaded unchanged', async ({ store, created }) => {
    const base = await created('a');
    await store.save(base.withState(stateInStep(base.state)), { base });
    const loaded = await store.load('a');
    assert.equal(loaded?.state.currentStep?.toolExecutions[0]?.isRunning, true);
  }),
  storeCase('steps are unchanged after three saves and loads', async ({ store, created }) => {
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
  storeCase('one execution after another', async ({ store, created }) => {
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

/** Executions in every status. */
export const executionCases: readonly UngroupedCase[] = [...examples, ...lives];
