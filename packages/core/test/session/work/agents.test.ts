import { inspect } from 'node:util';
import {
  approve,
  changeStatus,
  createAgentLoop,
  describe as describeSession,
  MemorySessionStore,
  pendingApprovals,
  resume,
  retry,
  RunAbort,
  sendMessage,
  SessionRuntime,
  subagent,
  toolFor,
  type AgentLoop,
  type AgentSession,
  type SessionEvent,
  type SessionInfo,
} from '@holdfast/core';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { call } from '../../support/builders.ts';

interface Shop {
  readonly user: string;
  readonly of: SessionInfo;
}

const definition = { name: 'clerk' };
const inputSchema = { type: 'object' };
const shopTool = toolFor<Shop>();

/** A loop with a tool that returns the user and the session of its run context. */
function clerkLoop(...script: ScriptedAnswer[]): AgentLoop<Shop> {
  const whoAmI = shopTool({
    name: 'whoAmI',
    description: 'Returns the user.',
    inputSchema,
    needsApproval: (_, { runContext }) => runContext.user === 'careful',
    execute: (_, { runContext }) => `${runContext.user} of ${runContext.of.sessionId}`,
  });
  return createAgentLoop({ driver: scriptedDriver(...script), tools: [whoAmI] });
}

/** A runtime that counts the run contexts that it creates; each has a user with its number. */
async function world(...script: ScriptedAnswer[]) {
  const clock = manualClock(1_000);
  const store = new MemorySessionStore({ clock });
  const infos: SessionInfo[] = [];
  const workerWith = (runContext: (info: SessionInfo) => Shop | Promise<Shop>, loop = clerkLoop(...script)) =>
    new SessionRuntime({ store, clock, agents: { clerk: loop }, runContext });
  const runtime = workerWith(async (info) => ({ user: `user ${infos.push(info)}`, of: info }));
  const { sessionId } = await runtime.create({ definition });
  return { clock, store, infos, runtime, workerWith, sessionId };
}

function valuesOf({ state }: AgentSession): unknown[] {
  return state.steps.flatMap(({ toolExecutions }) => toolExecutions.map(({ value }) => value));
}

describe('the run context of a session', () => {
  test('is created once for each claim, from the facts of the session', async () => {
    const { runtime, infos, sessionId } = await world(
      call('whoAmI'),
      call('whoAmI'),
      'Done.',
      call('whoAmI'),
      'Done.',
    );
    const first = await runtime.execute(sessionId, sendMessage('Hello'));
    expect(valuesOf(first)).toEqual([`user 1 of ${sessionId}`, `user 1 of ${sessionId}`]);
    const second = await runtime.execute(sessionId, sendMessage('Hello again'));
    expect(valuesOf(second)).toEqual([`user 2 of ${sessionId}`]);
    expect(infos).toMatchObject([
      { sessionId, agentName: 'clerk', executionStatus: 'pending' },
      { sessionId, agentName: 'clerk', executionStatus: 'pending' },
    ]);
  });

  test('is created from the owner and the labels, by any worker', async () => {
    const { clock, store, workerWith } = await world();
    const users = new Map([['ada', 'Ada of Oslo']]);
    const contextOf = async (of: SessionInfo): Promise<Shop> => ({
      user: `${users.get(of.owner ?? '')}, plan ${of.labels?.['plan']}`,
      of,
    });
    const dying = new AbortController();
    const dies: ScriptedAnswer = () => {
      dying.abort(new RunAbort('lost'));
      return call('whoAmI');
    };
    const first = workerWith(contextOf, clerkLoop(call('whoAmI'), dies)).for('ada');
    const { sessionId } = await first.create({ definition, labels: { plan: 'free' } });
    await first.execute(sessionId, sendMessage('Hello'), { signal: dying.signal });
    clock.advance(60_000);
    expect((await store.load(sessionId))?.state.status).toBe('inProgress');
    const second = workerWith(contextOf, clerkLoop(call('whoAmI'), 'Done.', call('whoAmI'), 'Done.'));
    await second.advance(sessionId); // a worker of all owners
    const user = (plan: string): string => `Ada of Oslo, plan ${plan} of ${sessionId}`;
    expect(valuesOf(await second.get(sessionId))).toEqual([user('free'), user('free')]);
    await second.execute(sessionId, describeSession({ labels: { plan: 'paid' } }));
    expect(valuesOf(await second.execute(sessionId, sendMessage('Again')))).toEqual([user('paid')]);
    expect(JSON.stringify(await store.load(sessionId))).not.toContain('Ada of Oslo"');
  });

  test('is created once when an action runs the agent several times', async () => {
    const { runtime, infos, sessionId } = await world(call('whoAmI'), 'Done.', call('whoAmI'), 'Done.');
    await runtime.execute(sessionId, async (session, context) => {
      const answered = await sendMessage('One')(session, context);
      return sendMessage('Two')(answered, context);
    });
    expect(infos).toHaveLength(1);
  });

  test('is not created for work that does not run the agent', async () => {
    const { runtime, infos, sessionId } = await world();
    await runtime.execute(sessionId, (session) => session.withStatus('suspended'));
    await runtime.execute(sessionId, changeStatus('active'));
    await runtime.execute(sessionId, resume());
    await runtime.advance(sessionId);
    expect(infos).toEqual([]);
  });

  test('is the value that the caller passes to execute', async () => {
    const { runtime, infos, sessionId } = await world(call('whoAmI'), 'Done.');
    const runContext: Shop = { user: 'ada', of: await runtime.info(sessionId) };
    const session = await runtime.execute(sessionId, sendMessage('Hello'), { runContext });
    expect(valuesOf(session)).toEqual([`ada of ${sessionId}`]);
    expect(infos).toEqual([]);
  });

  test('is created anew by the worker that resumes after the first worker died', async () => {
    const { clock, store, workerWith, sessionId } = await world();
    const dying = new AbortController();
    const dies: ScriptedAnswer = () => {
      dying.abort(new RunAbort('lost')); // as a killed process: nothing more is saved
      return call('whoAmI');
    };
    const first = workerWith((of) => ({ user: 'ada', of }), clerkLoop(call('whoAmI'), dies));
    await first.execute(sessionId, sendMessage('Hello'), { signal: dying.signal });
    expect((await store.load(sessionId))?.state.status).toBe('inProgress');
    clock.advance(60_000);
    const second = workerWith((of) => ({ user: 'ada', of }), clerkLoop(call('whoAmI'), 'Done.'));
    expect(await second.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect(valuesOf(await second.get(sessionId))).toEqual([`ada of ${sessionId}`, `ada of ${sessionId}`]);
  });

  test('reaches a subagent that another process resumes after an approval', async () => {
    const { workerWith, sessionId } = await world();
    const outer = (...script: ScriptedAnswer[]) => {
      const clerk = subagent({
        name: 'inner',
        description: 'Works.',
        loop: clerkLoop(call('whoAmI'), 'Done.'),
      });
      return createAgentLoop({ driver: scriptedDriver(...script), tools: [clerk] });
    };
    const asks = { calls: { inner: { prompt: 'Who am I?' } } };
    const first = workerWith((of) => ({ user: 'careful', of }), outer(asks));
    const waiting = await first.execute(sessionId, sendMessage('Hello'));
    const [pending] = pendingApprovals(waiting.state);
    const inner = clerkLoop((request) => JSON.stringify(request.messages.toArray()));
    const resumed = subagent({ name: 'inner', description: 'Works.', loop: inner });
    const loop = createAgentLoop({ driver: scriptedDriver('Done.'), tools: [resumed] });
    const second = workerWith((of) => ({ user: 'ada', of }), loop);
    const answered = await second.execute(sessionId, approve(pending?.id ?? ''));
    expect(valuesOf(answered)).toEqual([expect.stringContaining(`ada of ${sessionId}`)]);
  });
});

describe('an error of the function that creates the run context', () => {
  const down = (): Shop => {
    throw Object.assign(new Error('The directory is down.'), { code: 'DIRECTORY_DOWN' });
  };

  test('rejects execute, after the message was saved', async () => {
    const { runtime, workerWith, sessionId } = await world(call('whoAmI'), 'Done.');
    await expect(workerWith(down).execute(sessionId, sendMessage('Hello'))).rejects.toThrow(
      'The directory is down.',
    );
    expect((await runtime.get(sessionId)).state.status).toBe('pending');
    expect(valuesOf(await runtime.execute(sessionId, resume()))).toEqual([`user 1 of ${sessionId}`]);
  });

  test('is a failure of work: recorded, tried again after growing pauses, then a dead letter that retry revives', async () => {
    const { clock, runtime, workerWith, sessionId } = await world(call('whoAmI'), 'Done.');
    await runtime.enqueue(sessionId, { type: 'message', content: 'Hello' });
    const worker = workerWith(async () => down());
    const pauses: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt++) {
      const { outcome, error } = await worker.advance(sessionId);
      expect(error).toMatchObject({ code: 'DIRECTORY_DOWN' });
      if (outcome.type !== 'sleep') break;
      pauses.push(outcome.until - clock.now());
      clock.advance(outcome.until - clock.now());
    }
    expect(pauses).toHaveLength(4);
    expect((await runtime.list({ waitingFor: 'retry' })).sessions).toMatchObject([
      { sessionId, failure: { attempts: 5, error: { code: 'DIRECTORY_DOWN' } } },
    ]);
    expect((await runtime.get(sessionId)).state.errors).toEqual([]);
    expect(valuesOf(await runtime.execute(sessionId, retry()))).toEqual([`user 1 of ${sessionId}`]);
  });
});

describe('a missing run context', () => {
  const without = (agents: unknown, runContext?: unknown) => {
    const store = new MemorySessionStore();
    return new SessionRuntime({ store, agents, ...(runContext !== undefined && { runContext }) } as never);
  };

  test('is refused when the runtime is created with the loops', () => {
    expect(() => without({ clerk: clerkLoop() })).toThrow(
      'Agent "clerk" needs a run context: pass a function to the runtime, as in runContext: ',
    );
    expect(() => without({ clerk: clerkLoop() }, ['ada'])).toThrow(
      'runContext of SessionRuntime must be a function',
    );
  });

  test.each([
    ['no function', () => without(() => clerkLoop('Hello.')), ': pass a function to the runtime'],
    [
      'a function that returns undefined',
      () => without({ clerk: clerkLoop('Hello.') }, () => undefined),
      ', and runContext',
    ],
  ])('is a failure of work with %s', async (_, runtimeOf, reason) => {
    const runtime = runtimeOf();
    const { sessionId } = await runtime.create({ definition });
    const code = 'RUN_CONTEXT_MISSING';
    await expect(runtime.execute(sessionId, sendMessage('Hello'))).rejects.toMatchObject({ code });
    const { outcome, error } = await runtime.advance(sessionId);
    expect(outcome.type).toBe('sleep');
    expect(error).toMatchObject({
      code,
      message: expect.stringContaining(`Agent "clerk" needs a run context${reason}`),
    });
    expect((await runtime.get(sessionId)).state.status).toBe('pending');
  });
});

test('a run context is in no store and no event of a session', async () => {
  const marker = 'marker-51d0e2';
  const { clock, store, sessionId } = await world();
  const [sessionEvents, events]: [SessionEvent[], unknown[]] = [[], []];
  const loop = clerkLoop(call('whoAmI'), 'Done.');
  const runtime = new SessionRuntime({
    store,
    clock,
    agents: { clerk: loop },
    runContext: (of) => ({ user: 'ada', of, token: marker }),
    onSessionEvent: (event) => void sessionEvents.push(event),
  });
  const onEvent = (event: unknown) => void events.push(event);
  const session = await runtime.execute(sessionId, sendMessage('Hello'), { onEvent });
  expect(valuesOf(session)).toEqual([`ada of ${sessionId}`]);
  const produced = { session, store, sessionEvents, events };
  const all = { depth: Infinity, showHidden: true, maxArrayLength: Infinity, maxStringLength: Infinity };
  expect(inspect(produced, all)).not.toContain(marker);
  expect(inspect(produced, all)).toContain(`ada of ${sessionId}`);
});
