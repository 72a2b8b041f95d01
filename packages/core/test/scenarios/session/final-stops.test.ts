import {
  AgentStop,
  cancel,
  createAgentLoop,
  MemorySessionStore,
  RunAbort,
  sendMessage,
  SessionRuntime,
  tool,
  type AgentSession,
  type Hook,
  type SessionHooks,
} from '@holdfast/core';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';

const look = tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  execute: () => 'seen',
});
const request: ScriptedAnswer = { calls: { look: {} } };
const definition = { name: 'planner' };
const child = { type: 'child', sessionId: 'child' } as const;

/** Suspends the execution after each step, as for child sessions. */
const waits: Hook = {
  afterStep: (state, { clock }) => state.withExecutionStatus('suspended', clock.now(), [child as never]),
};
const insists: Hook = {
  afterStep: (state, { clock }) =>
    state.withExecutionStatus('suspended', clock.now()).withContinuationRequested(clock.now()),
};

interface Init {
  readonly hooks?: readonly Hook[];
  readonly sessionHooks?: SessionHooks;
  readonly script?: readonly ScriptedAnswer[];
}

async function sessionOf({ hooks = [waits], sessionHooks = {}, script = [request] }: Init = {}) {
  const clock = manualClock(1_000);
  const store = new MemorySessionStore({ clock });
  const loop = createAgentLoop({ driver: scriptedDriver(...script), clock, tools: [look], hooks });
  const agents = { planner: loop, colleague: createAgentLoop({ driver: scriptedDriver(), clock }) };
  const runtime = new SessionRuntime({ store, clock, agents, hooks: sessionHooks });
  const { sessionId } = await runtime.create({ definition });
  await runtime.create({ sessionId: 'child', parentId: sessionId, definition: { name: 'colleague' } });
  return { runtime, sessionId, clock };
}

const endOf = ({ state }: AgentSession): unknown[] => [
  state.status,
  state.stopReason,
  state.stopSignal?.message,
];

describe('a stop ends an execution that a hook suspends after each step', () => {
  test.each([
    ['waits for a child session', waits],
    ['requests another step too', insists],
  ])('by cancel(): the hook %s', async (_, hook) => {
    const { runtime, sessionId } = await sessionOf({ hooks: [hook] });
    expect((await runtime.execute(sessionId, sendMessage('Go.'))).state.status).toBe('suspended');
    const session = await runtime.execute(sessionId, cancel({ reason: 'Enough.' }));
    expect(endOf(session)).toEqual(['stopped', 'userRequested', 'Enough.']);
    expect(endOf(await runtime.get(sessionId))).toEqual(endOf(session));
  });

  test('by a stop in the inbox', async () => {
    const { runtime, sessionId } = await sessionOf();
    await runtime.execute(sessionId, sendMessage('Go.'));
    await runtime.enqueue(sessionId, { type: 'stop', reason: 'Enough.' });
    expect((await runtime.advance(sessionId)).outcome).toEqual({ type: 'finished' });
    expect(endOf(await runtime.get(sessionId))).toEqual(['stopped', 'userRequested', 'Enough.']);
  });

  test('by the signal of the caller, while the hook works', async () => {
    const [abort, isCalled] = [new AbortController(), deferred()];
    const slow: Hook = {
      async afterStep(state, { clock, signal }) {
        isCalled.resolve();
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        return state.withExecutionStatus('suspended', clock.now(), [child as never]);
      },
    };
    const { runtime, sessionId } = await sessionOf({ hooks: [slow] });
    const run = runtime.execute(sessionId, sendMessage('Go.'), { signal: abort.signal });
    await isCalled.promise;
    abort.abort(new RunAbort('cancel', 'Enough.'));
    expect(endOf(await run)).toEqual(['stopped', 'userRequested', 'Enough.']);
  });

  test('by a signal that a tool throws', async () => {
    const stops: Hook = {
      afterToolUse() {
        throw new AgentStop('Enough.');
      },
    };
    const { runtime, sessionId } = await sessionOf({ hooks: [stops, waits] });
    const session = await runtime.execute(sessionId, sendMessage('Go.'));
    expect(endOf(session)).toEqual(['stopped', 'stopRequested', 'Enough.']);
  });

  test('and the next message starts another execution', async () => {
    const { runtime, sessionId } = await sessionOf({ script: [request, request] });
    await runtime.execute(sessionId, sendMessage('Go.'));
    await runtime.execute(sessionId, cancel());
    const { state } = await runtime.execute(sessionId, sendMessage('Again.'));
    expect([state.executionCount, state.stepCount, state.status]).toEqual([2, 1, 'suspended']);
  });
});

describe('a session hook cannot lift a stop', () => {
  const lifted = (session: AgentSession): AgentSession | undefined => {
    const { state } = session;
    if (state.execution?.continuation.isStopped !== true) return undefined;
    return session.withState(state.withExecutionStatus('suspended', 1_000).withContinuationRequested(1_000));
  };
  test.each(['beforeSave', 'afterLoad', 'afterAction'] as const)('in %s', async (point) => {
    const { runtime, sessionId } = await sessionOf({ sessionHooks: { [point]: lifted } });
    await runtime.execute(sessionId, sendMessage('Go.'));
    const session = await runtime.execute(sessionId, cancel({ reason: 'Enough.' }));
    expect(endOf(session)).toEqual(['stopped', 'userRequested', 'Enough.']);
    expect(endOf(await runtime.get(sessionId))).toEqual(endOf(session));
  });
});

test('a message does not lift a stop whose process died before the end of the execution', async () => {
  const { runtime, sessionId, clock } = await sessionOf({ hooks: [], script: ['Hello.'] });
  await runtime.execute(sessionId, (session) =>
    session.withState(
      session.state
        .withUserMessage('Go.', {}, clock.now())
        .withExecutionStarted(clock.now())
        .withStopSignal({ reason: 'userRequested', message: 'Enough.' }, clock.now()),
    ),
  );
  const { state, info } = await runtime.execute(sessionId, sendMessage('Again.'));
  expect([state.finalResponse, state.executionCount]).toEqual(['Hello.', 2]);
  expect(info).toMatchObject({ executionStatus: 'completed' });
});
