import {
  approve,
  deny,
  InProcessEngine,
  MemorySessionStore,
  pendingApprovals,
  RunAbort,
  sendMessage,
  textOf,
  type AgentSession,
} from '@holdfast/core';
import { sweep } from '@holdfast/core/engine';
import type { SaveOptions } from '@holdfast/core/store';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';
import {
  call,
  definition,
  diesInTool,
  outcomes,
  settled,
  takeOver,
  world,
} from '../../support/durable-world.ts';

describe('a call in doubt', () => {
  test.each([
    ['once', [['interrupted', 1]], 1],
    ['idempotent', [['succeeded', 2]], 2],
    ['readOnly', [['succeeded', 2]], 2],
  ] as const)('with effect %s gets its outcome', async (effect, expected, calls) => {
    const left = await diesInTool({ effect });
    takeOver(left);
    const { outcome } = await left.process(['Done.']).advance(left.sessionId);
    expect(outcome).toEqual({ type: 'finished' });
    const session = await left.process([]).get(left.sessionId);
    expect(outcomes(session)).toEqual(expected);
    expect(left.calls).toHaveLength(calls);
    expect(new Set(left.calls.map((line) => line.split(' ')[0])).size).toBe(1);
    expect(session.state.finalResponse).toBe('Done.');
  });

  test('with effect ask runs again when a person approves', async () => {
    const made = await diesInTool({ effect: 'ask' });
    takeOver(made);
    expect(await made.process([]).advance(made.sessionId)).toMatchObject({ outcome: { type: 'suspended' } });
    const waiting = await made.process([]).get(made.sessionId);
    const [asked] = pendingApprovals(waiting.state);
    expect([waiting.info.executionStatus, waiting.info.waitingFor, made.calls.length]).toEqual([
      'suspended',
      'approval',
      1,
    ]);
    const again = await made.process(['Done.']).execute(made.sessionId, approve(asked?.id as string));
    expect([outcomes(again), made.calls.length]).toEqual([[['succeeded', 2]], 2]);
  });

  test('with effect ask is denied by a person, and the model reads that its outcome is unknown', async () => {
    const made = await diesInTool({ effect: 'ask' });
    takeOver(made);
    await made.process([]).advance(made.sessionId);
    const [asked] = pendingApprovals((await made.process([]).get(made.sessionId)).state);
    const session = await made
      .process(['Sorry.'])
      .execute(made.sessionId, deny(asked?.id as string, { reason: 'No.' }));
    expect(outcomes(session)).toEqual([['denied', 1]]);
    expect(session.state.steps[0]?.toolExecutions[0]?.error?.message).toBe(
      'No. The call was started and its outcome is unknown.',
    );
  });

  test.each([
    ['done', { status: 'done', value: 'paid before' }, [['succeeded', 1]], 1],
    ['notDone', { status: 'notDone' }, [['succeeded', 2]], 2],
    ['unknown', { status: 'unknown' }, [['interrupted', 1]], 1],
  ] as const)('is resolved by reconcile with status %s', async (_, reply, expected, calls) => {
    const keys: string[] = [];
    const made = await diesInTool({ reconcile: (key) => (keys.push(key), reply) });
    takeOver(made);
    await made.process(['Done.']).advance(made.sessionId);
    const session = await made.process([]).get(made.sessionId);
    expect([outcomes(session), made.calls.length]).toEqual([expected, calls]);
    expect(made.calls[0]).toContain(keys[0]);
  });

  test('is interrupted when reconcile throws, and the state has the cause', async () => {
    const made = await diesInTool({ reconcile: () => Promise.reject(new Error('The bank is down.')) });
    takeOver(made);
    await made.process(['Done.']).advance(made.sessionId);
    const session = await made.process([]).get(made.sessionId);
    expect(outcomes(session)).toEqual([['interrupted', 1]]);
    expect(session.state.steps[0]?.toolExecutions[0]?.error?.cause?.message).toBe('The bank is down.');
  });
});

describe('approvals', () => {
  const asking = { needsApproval: ({ amount = 0 }) => amount > 10 };

  test('a call waits, is listed, and runs once in another process after its approval', async () => {
    const made = world(asking);
    const runtime = made.process([call(50)]);
    const { sessionId } = await runtime.create({ definition });
    const waiting = await runtime.execute(sessionId, sendMessage('Pay 50.'));
    expect([waiting.state.status, waiting.info.waitingFor, made.calls]).toEqual([
      'suspended',
      'approval',
      [],
    ]);
    expect((await runtime.list({ waitingFor: 'approval' })).sessions).toHaveLength(1);
    made.clock.advance(86_400_000);
    const [asked] = pendingApprovals(waiting.state);
    const decide = approve(asked?.id as string, { by: 'ann', input: { amount: 40 } });
    const results = await Promise.allSettled([
      made.process(['Paid.']).execute(sessionId, decide),
      made.process(['Paid.']).execute(sessionId, decide),
    ]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(made.calls.map((line) => line.split(' ').slice(1).join(' '))).toEqual(['1 {"amount":40}']);
    const session = await runtime.get(sessionId);
    expect([session.state.finalResponse, session.state.execution?.workedSeconds]).toEqual(['Paid.', 0]);
    await expect(runtime.execute(sessionId, decide)).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
  });

  test('a call with a small amount needs no approval', async () => {
    const made = world(asking);
    const runtime = made.process([call(5), 'Paid.']);
    const { sessionId } = await runtime.create({ definition });
    const session = await runtime.execute(sessionId, sendMessage('Pay 5.'));
    expect([session.state.finalResponse, made.calls.length]).toEqual(['Paid.', 1]);
  });

  test('other calls of the step run at once, and a second decision is refused', async () => {
    const made = world(asking);
    const script: ScriptedAnswer[] = [
      {
        calls: [
          ['pay', { amount: 50 }],
          ['pay', { amount: 5 }],
          ['pay', { amount: 60 }],
        ],
      },
      'Paid.',
    ];
    const runtime = made.process(script);
    const { sessionId } = await runtime.create({ definition });
    const waiting = await runtime.execute(sessionId, sendMessage('Pay.'));
    const [first, second] = pendingApprovals(waiting.state);
    expect(made.calls).toHaveLength(1);
    const half = await runtime.execute(sessionId, approve(first?.id as string));
    expect([half.state.status, made.calls.length]).toEqual(['suspended', 1]);
    await expect(runtime.execute(sessionId, deny(first?.id as string))).rejects.toMatchObject({
      code: 'APPROVAL_DECIDED',
    });
    const done = await runtime.execute(sessionId, deny(second?.id as string, { reason: 'Too much.' }));
    expect(outcomes(done)).toEqual([
      ['succeeded', 1],
      ['succeeded', 1],
      ['denied', 1],
    ]);
    expect(done.state.finalResponse).toBe('Paid.');
  });

  test('without a decision in time the engine wakes the session, and the call is denied', async () => {
    const made = world({ ...asking, approvalTimeoutSeconds: 60 });
    const runtime = made.process([call(50), 'Too late.']);
    const { sessionId } = await runtime.create({ definition });
    await runtime.execute(sessionId, sendMessage('Pay 50.'));
    expect((await made.store.due()).sessions).toEqual([]);
    made.clock.advance(60_000);
    expect((await made.store.due()).sessions).toMatchObject([{ sessionId }]);
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    const session = await runtime.get(sessionId);
    expect([outcomes(session), session.state.finalResponse]).toEqual([[['denied', 1]], 'Too late.']);
  });

  test('a decision in the inbox counts', async () => {
    const made = world(asking);
    const runtime = made.process([call(50), 'Paid.']);
    const { sessionId } = await runtime.create({ definition });
    const waiting = await runtime.execute(sessionId, sendMessage('Pay 50.'));
    const toolExecutionId = pendingApprovals(waiting.state)[0]?.id as string;
    await runtime.enqueue(
      sessionId,
      { type: 'decision', toolExecutionId, decision: 'approved' },
      { id: 'd1' },
    );
    await runtime.enqueue(sessionId, { type: 'decision', toolExecutionId, decision: 'denied' }, { id: 'd2' });
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect(made.calls).toHaveLength(1);
    expect(made.events.filter(({ type }) => type === 'inbox-item-ignored')).toHaveLength(1);
    expect((await made.store.due()).sessions).toEqual([]);
  });
});

describe('the inbox', () => {
  test('a stop request ends a run in another process', async () => {
    const reached = deferred<undefined>();
    const made = world({ act: () => (reached.resolve(undefined), new Promise(() => undefined)) });
    const runtime = made.process([call(1), 'Never.']);
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('Pay.'));
    await reached.promise;
    await made.process([]).enqueue(sessionId, { type: 'stop', reason: 'Enough.' });
    made.clock.advance(10_000);
    const { state } = await running;
    expect([state.status, state.stopReason, state.stopSignal?.message]).toEqual([
      'stopped',
      'userRequested',
      'Enough.',
    ]);
    expect((await made.store.claim(sessionId, { workerId: 'me', leaseSeconds: 1 })).inbox).toEqual([]);
  });

  test('a message that is enqueued during a step is used at the end of the step', async () => {
    const gate = deferred<string>();
    const reached = deferred<undefined>();
    const made = world({ act: () => (reached.resolve(undefined), gate.promise) });
    const runtime = made.process([call(1), 'Both.']);
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('One.'));
    await reached.promise;
    await made.process([]).execute(sessionId, sendMessage('Two.', { id: 'm2' }));
    await made.process([]).execute(sessionId, sendMessage('Two.', { id: 'm2' }));
    made.clock.advance(10_000);
    await settled(); // the heartbeat has read the inbox
    gate.resolve('paid');
    const { state } = await running;
    const texts = state.messages.toArray().map(textOf);
    expect(texts.filter((text) => text === 'Two.')).toHaveLength(1);
    expect([texts.at(-1), state.executionCount]).toEqual(['Both.', 1]);
  });
});

describe('an engine', () => {
  test('takes one step at a time, and a sweep wakes sessions whose wake-up was dropped', async () => {
    const made = world();
    const runtime = made.process([call(1), call(2), 'Done.'], {});
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    const engine = new InProcessEngine({ clock: made.clock });
    expect(await sweep(made.store, engine)).toMatchObject({ woken: 1 });
    const outcomesSeen: unknown[] = [];
    const done = deferred<undefined>();
    const served = await engine.serve(async (id, options) => {
      const advanced = await runtime.advance(id, { ...options, maxSteps: 1 });
      outcomesSeen.push(advanced.outcome.type);
      if (advanced.outcome.type === 'finished') done.resolve(undefined);
      return advanced;
    });
    await done.promise;
    await served.stop();
    expect(outcomesSeen).toEqual(['yield', 'yield', 'finished']);
    const { state } = await runtime.get(sessionId);
    expect([state.finalResponse, made.calls.length, state.executionCount]).toEqual(['Done.', 2, 1]);
    expect(await sweep(made.store, engine)).toMatchObject({ woken: 0 });
  });

  test('fails an execution after maxAttempts processes died at it', async () => {
    const made = await diesInTool({ effect: 'idempotent', act: () => new Promise(() => undefined) });
    // The death of the first process makes the session a suspect. The next three count, because it was alone.
    for (let attempt = 1; attempt <= 3; attempt++) {
      takeOver(made);
      const count = made.calls.length;
      made
        .process([], { maxAttempts: 3 })
        .advance(made.sessionId)
        .catch(() => undefined);
      while (made.calls.length === count) await new Promise((resolve) => setImmediate(resolve));
    }
    takeOver(made);
    const { outcome } = await made.process([], { maxAttempts: 3 }).advance(made.sessionId);
    expect(outcome).toEqual({ type: 'finished' });
    const { state } = await made.process([]).get(made.sessionId);
    expect([state.status, state.stopReason, made.calls.length]).toEqual(['failed', 'retryLimitReached', 4]);
    expect(state.errors.map(({ code }) => code)).toContain('ATTEMPTS_EXHAUSTED');
  });

  test('a run that must yield resumes in the next process', async () => {
    const leaving = new AbortController();
    const made = world({ act: () => (leaving.abort(new RunAbort('yield')), 'paid') });
    const runtime = made.process([call(1)]);
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    expect(await runtime.advance(sessionId, { signal: leaving.signal })).toMatchObject({
      outcome: { type: 'yield' },
    });
    expect((await made.store.due()).sessions).toHaveLength(1);
    expect(await made.process(['Done.']).advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect(made.calls).toHaveLength(1);
  });
});

describe('a failed save', () => {
  class FailingStore extends MemorySessionStore {
    failing = false;
    override async save(session: AgentSession, options?: SaveOptions): Promise<AgentSession> {
      if (this.failing) throw new Error('disk full');
      return super.save(session, options);
    }
  }

  test('stops the run before the tool starts', async () => {
    const store = new FailingStore();
    const made = world();
    const script: ScriptedAnswer[] = [
      () => {
        store.failing = true;
        return call(1);
      },
    ];
    const runtime = made.process(script, { store });
    const { sessionId } = await runtime.create({ definition });
    await expect(runtime.execute(sessionId, sendMessage('Pay.'))).rejects.toThrow('disk full');
    expect(made.calls).toEqual([]);
  });
});
