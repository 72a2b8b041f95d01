import {
  approve,
  createAgentLoop,
  deny,
  InProcessEngine,
  MemorySessionStore,
  pendingApprovals,
  RunAbort,
  sendMessage,
  SessionRuntime,
  sweep,
  textOf,
  tool,
} from '@holdfast/core';
import type {
  AgentSession,
  SaveOptions,
  SessionEvent,
  SessionRuntimeOptions,
  Tool,
  ToolContext,
} from '@holdfast/core';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import type { ManualClock, ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred } from '../builders.ts';

const schema = { type: 'object' } as const;

interface World {
  readonly store: MemorySessionStore;
  readonly clock: ManualClock;
  readonly calls: string[];
  readonly events: SessionEvent[];
  /** Another process with this script. */
  readonly process: (
    script: readonly ScriptedAnswer[],
    options?: Partial<SessionRuntimeOptions>,
  ) => SessionRuntime;
}

type Init = Partial<Pick<Tool, 'effect' | 'reconcile' | 'approvalTimeoutSeconds'>> & {
  readonly needsApproval?: boolean | ((args: { readonly amount?: number }) => boolean);
  readonly act?: (context: ToolContext) => unknown;
};

/** A payment tool, and processes that have it. */
function world(init: Init = {}): World {
  const clock = manualClock(1_000_000);
  const [calls, events]: [string[], SessionEvent[]] = [[], []];
  const { act, ...others } = init;
  const pay = tool<{ readonly amount?: number }>({
    name: 'pay',
    description: 'Pays.',
    inputSchema: schema,
    execute: async (args, context) => {
      calls.push(`${context.idempotencyKey} ${context.attempt} ${JSON.stringify(args)}`);
      return act ? act(context) : 'paid';
    },
    ...(others as object),
  });
  let processes = 0;
  const store = new MemorySessionStore({ clock });
  return {
    store,
    clock,
    calls,
    events,
    process(script, options = {}) {
      const ids = manualClock((processes += 1) * 7);
      const own = { ...clock, newId: ids.newId };
      const loop = createAgentLoop({ driver: scriptedDriver(...script), tools: [pay], clock: own });
      return new SessionRuntime({
        store,
        agents: { payer: loop },
        clock: own,
        onSessionEvent: (event) => void events.push(event),
        ...options,
      });
    },
  };
}

const call = (amount: number): ScriptedAnswer => ({ calls: [['pay', { amount }]] });
const definition = { name: 'payer' };
const outcomes = ({ state }: AgentSession): unknown[] =>
  [...state.steps, ...(state.currentStep ? [state.currentStep] : [])].flatMap(({ toolExecutions }) =>
    toolExecutions.map(({ outcome, attempt }) => [outcome?.type, attempt]),
  );

/** A process that dies in the tool: nothing it does from then on reaches the store. */
async function diesInTool(init: Init): Promise<World & { readonly sessionId: string }> {
  const reached = deferred<undefined>();
  const never = deferred<string>();
  let isDead = false;
  const made = world({
    ...init,
    act: (context) => {
      if (isDead) return init.act?.(context) ?? 'paid';
      isDead = true;
      reached.resolve(undefined);
      return never.promise;
    },
  });
  const runtime = made.process([call(5)]);
  const { sessionId } = await runtime.create({ definition });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Pay 5.' });
  runtime.advance(sessionId).catch(() => undefined);
  await reached.promise;
  made.clock.advance(0);
  return { ...made, sessionId };
}

/** Past the lease of the process that died, whose heartbeat is not heard. */
function takeOver({ clock, store }: World): void {
  // The dead process's timers stand for a process that is gone.
  Object.defineProperty(store, 'renew', {
    value: () => Promise.reject(new Error('dead')),
    configurable: true,
  });
  clock.advance(31_000);
  Reflect.deleteProperty(store, 'renew');
}

describe('a call that a process has left', () => {
  test.each([
    ['once', [['interrupted', 1]], 1],
    ['idempotent', [['succeeded', 2]], 2],
    ['readOnly', [['succeeded', 2]], 2],
  ] as const)('%s', async (effect, expected, calls) => {
    const world_ = await diesInTool({ effect });
    takeOver(world_);
    const { outcome } = await world_.process(['Done.']).advance(world_.sessionId);
    expect(outcome).toEqual({ type: 'finished' });
    const session = await world_.process([]).get(world_.sessionId);
    expect(outcomes(session)).toEqual(expected);
    expect(world_.calls).toHaveLength(calls);
    expect(new Set(world_.calls.map((line) => line.split(' ')[0])).size).toBe(1);
    expect(session.state.finalResponse).toBe('Done.');
  });

  test('ask: a person says whether it is called again', async () => {
    const made = await diesInTool({ effect: 'ask' });
    takeOver(made);
    expect(await made.process([]).advance(made.sessionId)).toMatchObject({ outcome: { type: 'parked' } });
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

  test('ask, and the person says no: the model reads that nobody knows', async () => {
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
  ] as const)('reconcile says %s', async (_, reply, expected, calls) => {
    const keys: string[] = [];
    const made = await diesInTool({ reconcile: (key) => (keys.push(key), reply) });
    takeOver(made);
    await made.process(['Done.']).advance(made.sessionId);
    const session = await made.process([]).get(made.sessionId);
    expect([outcomes(session), made.calls.length]).toEqual([expected, calls]);
    expect(made.calls[0]).toContain(keys[0]);
  });
});

describe('approvals', () => {
  const asking = { needsApproval: ({ amount = 0 }) => amount > 10 };

  test('a call waits, is listed, and runs once in another process', async () => {
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

  test('a small amount needs nobody', async () => {
    const made = world(asking);
    const runtime = made.process([call(5), 'Paid.']);
    const { sessionId } = await runtime.create({ definition });
    const session = await runtime.execute(sessionId, sendMessage('Pay 5.'));
    expect([session.state.finalResponse, made.calls.length]).toEqual(['Paid.', 1]);
  });

  test('other calls of the step run at once; a decision twice is refused', async () => {
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

  test('nobody decides in time: the engine wakes it, and the call is denied', async () => {
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

  test('a decision by the inbox', async () => {
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
  test('a stop request ends a run that another process works on', async () => {
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
    expect((await made.store.claim(sessionId, { owner: 'me', leaseSeconds: 1 })).inbox).toEqual([]);
  });

  test('a message that comes while a step is under way is used at its end', async () => {
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
    await Promise.resolve();
    gate.resolve('paid');
    const { state } = await running;
    const texts = state.messages.toArray().map(textOf);
    expect(texts.filter((text) => text === 'Two.')).toHaveLength(1);
    expect([texts.at(-1), state.executionCount]).toEqual(['Both.', 1]);
  });
});

describe('an engine', () => {
  test('takes one step at a time, and wakes what was forgotten', async () => {
    const made = world();
    const runtime = made.process([call(1), call(2), 'Done.'], {});
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    const engine = new InProcessEngine({ clock: made.clock });
    expect(await sweep(made.store, engine)).toBe(1);
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
    expect(await sweep(made.store, engine)).toBe(0);
  });

  test('gives up an execution over which too many processes died, after the one that began it', async () => {
    const made = await diesInTool({ effect: 'idempotent', act: () => new Promise(() => undefined) });
    for (let attempt = 2; attempt <= 4; attempt++) {
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

  test('a run that is told to yield is left for the next process', async () => {
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

describe('a save that does not get through', () => {
  class FailingStore extends MemorySessionStore {
    failing = false;
    override async save(session: AgentSession, options?: SaveOptions): Promise<AgentSession> {
      if (this.failing) throw new Error('disk full');
      return super.save(session, options);
    }
  }

  test('stops the run before the tool is called', async () => {
    const store = new FailingStore();
    const made = world();
    const script: ScriptedAnswer[] = [
      () => {
        store.failing = true;
        return call(1) as never;
      },
    ];
    const runtime = made.process(script, { store });
    const { sessionId } = await runtime.create({ definition });
    await expect(runtime.execute(sessionId, sendMessage('Pay.'))).rejects.toThrow('disk full');
    expect(made.calls).toEqual([]);
  });
});
