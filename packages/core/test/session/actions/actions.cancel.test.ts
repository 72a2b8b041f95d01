import {
  answer,
  approve,
  cancel,
  changeStatus,
  createAgentLoop,
  pendingApprovals,
  pendingQuestions,
  resume,
  sendMessage,
  tool,
  type AgentSession,
  type SessionRuntime,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';
import {
  call,
  definition,
  outcomes,
  settled,
  untilAborted,
  world,
  type World,
} from '../../support/durable-world.ts';

const ask = tool({ name: 'ask', description: 'Asks.', inputSchema: { type: 'object' } });
const ending = ({ state }: AgentSession): unknown[] => [
  state.status,
  state.stopReason,
  state.stopSignal?.message,
];

/** A session that waits for approval, with a paid call beside it when `script` requests one. */
async function waiting(
  made: World,
  first = call(1),
): Promise<{ runtime: SessionRuntime; sessionId: string }> {
  const runtime = made.process([first, 'Never.'], {}, { tools: [ask] });
  const { sessionId } = await runtime.create({ definition });
  await runtime.execute(sessionId, sendMessage('Go.'));
  return { runtime, sessionId };
}

describe('cancel()', () => {
  test('ends an execution that waits for approval, and its tool never runs', async () => {
    const made = world({ needsApproval: true });
    const { runtime, sessionId } = await waiting(made);
    const session = await runtime.execute(sessionId, cancel({ reason: 'Changed my mind.' }));
    expect(ending(session)).toEqual(['stopped', 'userRequested', 'Changed my mind.']);
    expect([session.state.stopSignal?.source, session.state.stepCount, made.calls]).toEqual([
      'cancel',
      1,
      [],
    ]);
    const stored = await runtime.get(sessionId);
    expect(ending(stored)).toEqual(ending(session));
    expect(pendingApprovals(stored.state)).toEqual([]);
  });

  test.each([
    ['an approval', call(1), { needsApproval: true }],
    ['an answer', { calls: [['ask', {}]] } as const, {}],
    [
      'an approval, beside a call that has ended',
      {
        calls: [
          ['pay', {}],
          ['pay', { amount: 2 }],
        ],
      } as const,
      {
        needsApproval: ({ amount }: { readonly amount?: number }) => amount === 2,
      },
    ],
  ])('closes a call that waits for %s as a stop in the inbox does', async (_, first, init) => {
    const [one, other] = [world(init), world(init)];
    const [cancelled, stopped] = [await waiting(one, first), await waiting(other, first)];
    const now = await cancelled.runtime.execute(cancelled.sessionId, cancel({ reason: 'Enough.' }));
    await stopped.runtime.enqueue(stopped.sessionId, { type: 'stop', reason: 'Enough.' });
    await stopped.runtime.advance(stopped.sessionId);
    const later = await stopped.runtime.get(stopped.sessionId);
    expect([ending(now), outcomes(now)]).toEqual([ending(later), outcomes(later)]);
    const shown = ({ state }: AgentSession): unknown[] =>
      state.messages.toArray().map(({ content }) => content);
    expect(shown(now)).toEqual(shown(later));
    expect(now.state.status).toBe('stopped');
  });

  test('ends an execution that has not begun, without a call of the model', async () => {
    const made = world();
    const runtime = made.process([]);
    const { sessionId } = await runtime.create({ definition });
    await runtime.execute(sessionId, (session) =>
      session.withState(session.state.withUserMessage('Go.').withContinuationRequested()),
    );
    const session = await runtime.execute(sessionId, cancel());
    expect([session.state.status, session.state.stepCount]).toEqual(['stopped', 0]);
  });

  test.each([
    ['of a session without an execution', []],
    ['of a completed execution', ['Hello.']],
  ])('%s changes nothing', async (_, script) => {
    const runtime = world().process(script);
    const { sessionId } = await runtime.create({ definition });
    if (script.length > 0) await runtime.execute(sessionId, sendMessage('Go.'));
    const before = await runtime.get(sessionId);
    const after = await runtime.execute(sessionId, cancel());
    expect([after.state, after.version]).toEqual([before.state, before.version]);
  });

  test('with the id of another execution changes nothing', async () => {
    const { runtime, sessionId } = await waiting(world({ needsApproval: true }));
    const before = await runtime.get(sessionId);
    const executionId = 'an earlier execution';
    expect((await runtime.execute(sessionId, cancel({ executionId }))).version).toBe(before.version);
    const own = before.state.executionId as string;
    const session = await runtime.execute(sessionId, cancel({ executionId: own }));
    expect(session.state.status).toBe('stopped');
  });

  test('is refused by a session that is not active', async () => {
    const { runtime, sessionId } = await waiting(world({ needsApproval: true }));
    await runtime.execute(sessionId, changeStatus('suspended'));
    await expect(runtime.execute(sessionId, cancel())).rejects.toMatchObject({ code: 'SESSION_REFUSED' });
  });

  test('of a busy session is enqueued, and aborts the run of the worker', async () => {
    const reached = deferred();
    const made = world({ act: untilAborted(reached) });
    const runtime = made.process([call(1)]);
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('Go.'));
    await reached.promise;
    const executionId = (await runtime.get(sessionId)).state.executionId as string;
    const shown = await made.process([]).execute(sessionId, cancel({ reason: 'Enough.', executionId }));
    expect([shown.state.status, shown.state.stopReason]).toEqual(['inProgress', 'userRequested']);
    made.clock.advance(10_000);
    await settled();
    expect(ending(await running)).toEqual(['stopped', 'userRequested', 'Enough.']);
  });

  test('with whenBusy: "refuse" is not enqueued', async () => {
    const made = world();
    const runtime = made.process([]);
    const { sessionId } = await runtime.create({ definition });
    await made.store.claim(sessionId, { workerId: 'other', leaseSeconds: 30 });
    await expect(runtime.execute(sessionId, cancel(), { whenBusy: 'refuse' })).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    });
  });

  test('lets a later message begin a new execution, and refuses a late decision and a late answer', async () => {
    const made = world({ needsApproval: true });
    const runtime = made.process(
      [
        {
          calls: [
            ['pay', {}],
            ['ask', {}],
          ],
        },
        'Second.',
      ],
      {},
      { tools: [ask] },
    );
    const { sessionId } = await runtime.create({ definition });
    const { state } = await runtime.execute(sessionId, sendMessage('Go.'));
    const [approval, question] = [pendingApprovals(state)[0], pendingQuestions(state)[0]];
    if (!approval || !question) throw new Error('nothing waits');
    await runtime.execute(sessionId, cancel());
    await expect(runtime.execute(sessionId, approve(approval))).rejects.toMatchObject({
      code: 'APPROVAL_NOT_FOUND',
    });
    await expect(runtime.execute(sessionId, answer(question, 1))).rejects.toMatchObject({
      code: 'ANSWER_NOT_FOUND',
    });
    const next = await runtime.execute(sessionId, sendMessage('And?'));
    expect([next.state.status, next.state.finalResponse]).toEqual(['completed', 'Second.']);
  });

  test('calls the hooks of the end of an execution, and no driver', async () => {
    const called: string[] = [];
    const made = world({ needsApproval: true });
    const { sessionId } = await waiting(made);
    const driver = scriptedDriver();
    const hooks = [
      { onStop: () => void called.push('onStop'), afterExecution: () => void called.push('after') },
    ];
    const loop = createAgentLoop({ driver, clock: made.clock, hooks });
    const runtime = made.process([], { agents: { payer: loop } });
    await runtime.execute(sessionId, cancel());
    expect([called, driver.requests]).toEqual([['onStop', 'after'], []]);
    expect((await runtime.execute(sessionId, resume())).state.status).toBe('stopped');
  });
});
