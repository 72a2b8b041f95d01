import {
  AgentSession,
  assistantMessage,
  changeModel,
  changeStatus,
  changeSystemPrompt,
  clearHistory,
  createAgentLoop,
  hasErrorCode,
  MemorySessionStore,
  resume,
  RunAbort,
  sendMessage,
  SessionRuntime,
  textOf,
  writeMetadata,
  type AgentLoop,
  type Hook,
  type SessionAction,
  type SessionEvent,
  type SessionHooks,
  type SessionStatus,
} from '@holdfast/core';
import type { SaveOptions } from '@holdfast/core/store';
import {
  scriptedDriver,
  steppedClock,
  type ScriptedAnswer,
  type ScriptedDriver,
} from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { call, deferred, does, driverOf, expectPaired, expectSound } from '../../support/builders.ts';

/** The memory store with a memory of its saves, and a plan for when to fail. */
class WatchedStore extends MemorySessionStore {
  readonly saves: AgentSession[] = [];
  /** The save, from 1, that throws in place of being done. */
  failAt = 0;
  /** The save, from 1, that is done and then throws. */
  loseReplyAt = 0;
  private count = 0;

  override async save(session: AgentSession, options?: SaveOptions): Promise<AgentSession> {
    this.count++;
    if (this.count === this.failAt) throw new Error('kill -9');
    const saved = await super.save(session, options);
    this.saves.push(saved);
    if (this.count === this.loseReplyAt) throw new Error('kill -9');
    return saved;
  }
}

interface World {
  readonly runtime: SessionRuntime;
  readonly store: WatchedStore;
  readonly driver: ScriptedDriver;
  readonly sessionId: string;
  readonly ran: string[];
  readonly events: SessionEvent[];
}

const definition = { name: 'helper', systemPrompt: 'Help.' };

/** Each process makes ids of its own. */
let processes = 0;

function agent(driver: ScriptedDriver, ran: string[], hooks: readonly Hook[] = []): AgentLoop {
  const tools = ['a', 'b'].map((name) => ({
    ...does(name, (_, { toolCallId }) => (ran.push(toolCallId), name)),
    effect: 'idempotent' as const,
  }));
  return createAgentLoop({ driver, hooks, tools, clock: steppedClock((processes += 1_000)) });
}

async function world(
  script: readonly ScriptedAnswer[],
  hooks: SessionHooks = {},
  loopHooks: readonly Hook[] = [],
): Promise<World> {
  const [store, driver] = [new WatchedStore({ clock: steppedClock() }), scriptedDriver(...script)];
  const [ran, events]: [string[], SessionEvent[]] = [[], []];
  const runtime = new SessionRuntime({
    store,
    agents: { helper: agent(driver, ran, loopHooks) },
    hooks,
    onSessionEvent: (event) => void events.push(event),
    clock: steppedClock(),
  });
  const { sessionId } = await runtime.create({ definition });
  return { runtime, store, driver, sessionId, ran, events };
}

/** Another process: the same store, its own loop with the rest of the script. */
function elsewhere({ store, ran }: World, script: readonly ScriptedAnswer[]): SessionRuntime {
  return new SessionRuntime({ store, agents: { helper: agent(scriptedDriver(...script), ran) } });
}

function expectSoundSession(session: AgentSession): void {
  expect(Object.isFrozen(session)).toBe(true);
  expect(AgentSession.fromJSON(JSON.parse(JSON.stringify(session)))).toEqual(session);
  expectPaired(expectSound(session.state).messages);
}

describe('sending a message', () => {
  test('saves it before any work, and after every step', async () => {
    const { runtime, store, driver, sessionId } = await world([call('a'), 'Done.']);
    const session = await runtime.execute(sessionId, sendMessage('Go'));
    expect(store.saves.map(({ version }) => version)).toEqual([2, 3, 4, 5]);
    expect(store.saves.map(({ state }) => [state.status, state.steps.length, state.messages.length])).toEqual(
      [
        ['pending', 0, 1],
        ['inProgress', 0, 1],
        ['inProgress', 1, 3],
        ['completed', 2, 4],
      ],
    );
    expect(store.saves[1]?.state.currentStep?.toolExecutions).toMatchObject([{ isRunning: true }]);
    expect(session).toBe(store.saves.at(-1));
    expect(session).toStrictEqual(await runtime.get(sessionId));
    expect([session.status, session.info.executionStatus]).toEqual(['active', 'completed']);
    expect(driver.requests[0]?.systemPrompt).toBe('Help.');
    store.saves.forEach(expectSoundSession);
  });

  test('a failed run leaves the session active, and the next message runs', async () => {
    const { runtime, sessionId } = await world([new Error('down'), 'Hi.']);
    const failed = await runtime.execute(sessionId, sendMessage('Go'));
    expect([failed.status, failed.state.status]).toEqual(['active', 'failed']);
    const session = await runtime.execute(sessionId, sendMessage('Again'));
    expect([session.state.finalResponse, session.state.executionCount]).toEqual(['Hi.', 2]);
  });

  test.each(['suspended', 'completed', 'failed', 'deleted'] satisfies SessionStatus[])(
    'a %s session refuses messages',
    async (status) => {
      const { runtime, sessionId, store, driver } = await world(['Hi.']);
      await runtime.execute(sessionId, changeStatus(status));
      const before = await store.load(sessionId);
      await expect(runtime.execute(sessionId, sendMessage('Go'))).rejects.toMatchObject({
        code: 'SESSION_REFUSED',
      });
      await expect(runtime.execute(sessionId, resume())).rejects.toMatchObject({ code: 'SESSION_REFUSED' });
      expect(await store.load(sessionId)).toStrictEqual(before);
      expect(driver.requests).toEqual([]);
      await runtime.execute(sessionId, changeStatus('active'));
      expect((await runtime.execute(sessionId, sendMessage('Go'))).state.finalResponse).toBe('Hi.');
    },
  );

  test('an agent that is missing in the catalog is an error that names it, and only the message was saved', async () => {
    const { runtime, store } = await world([]);
    const { sessionId } = await runtime.create({ definition: { name: 'stranger' } });
    const refused = runtime.execute(sessionId, sendMessage('Go'));
    await expect(refused).rejects.toThrow('Unknown agent "stranger" in the catalog. Known agents: helper.');
    expect((await store.load(sessionId))?.state.messages).toHaveLength(1);
  });
});

describe('a process that is killed', () => {
  const script = [call('a'), call('b'), 'Done.'];
  const saves = [2, 3, 4, 5];
  test.each(saves.flatMap((at) => [[at, 'before'] as const, [at, 'after'] as const]))(
    'at save %i, %s it was done: another process ends the run',
    async (at, when) => {
      const first = await world(script);
      if (when === 'before') first.store.failAt = at;
      else first.store.loseReplyAt = at;
      await expect(first.runtime.execute(first.sessionId, sendMessage('Go'))).rejects.toThrow('kill -9');
      const stored = await first.runtime.get(first.sessionId);
      expectSoundSession(stored);
      const { steps, currentStep } = stored.state;
      const done = steps.length + (currentStep?.response ? 1 : 0);
      const runtime = elsewhere(first, script.slice(done));
      const session = await runtime.execute(
        first.sessionId,
        stored.state.status ? resume() : sendMessage('Go'),
      );
      expect([session.state.status, session.state.finalResponse, session.state.executionCount]).toEqual([
        'completed',
        'Done.',
        1,
      ]);
      expect(stored.state.executionId ?? session.state.executionId).toBe(session.state.executionId);
      expect(session.state.steps.map(({ type }) => type)).toEqual([
        'toolExecution',
        'toolExecution',
        'finalResponse',
      ]);
      expectSoundSession(session);
      // What was not kept as done is done again under its key, and no more than that one call.
      expect([2, 3]).toContain(first.ran.length);
    },
  );

  test('resume returns a session without an unfinished execution unchanged', async () => {
    const { runtime, sessionId, store } = await world(['Hi.']);
    const created = await runtime.get(sessionId);
    expect(await runtime.execute(sessionId, resume())).toStrictEqual(created);
    expect(store.saves).toEqual([]);
  });

  test('a message to a run that was interrupted between two steps gets its response in that run', async () => {
    const first = await world([call('a'), 'Never.']);
    first.store.failAt = 3;
    await expect(first.runtime.execute(first.sessionId, sendMessage('One'))).rejects.toThrow('kill -9');
    const session = await elsewhere(first, ['Both.']).execute(first.sessionId, sendMessage('Two'));
    expect([session.state.finalResponse, session.state.executionCount]).toEqual(['Both.', 1]);
  });

  test('a message to a run that only lacked its end gets its response in the next execution', async () => {
    const first = await world(['One.'], {}, [{ name: 'last', afterExecution: () => undefined }]);
    first.store.failAt = 3;
    await expect(first.runtime.execute(first.sessionId, sendMessage('One?'))).rejects.toThrow('kill -9');
    expect((await first.runtime.get(first.sessionId)).state.status).toBe('inProgress');
    const session = await elsewhere(first, ['Two.']).execute(first.sessionId, sendMessage('Two?'));
    expect([
      session.state.finalResponse,
      session.state.executionCount,
      session.state.messages.length,
    ]).toEqual(['Two.', 2, 4]);
  });

  test('a message to a run that yielded in the middle of a step gets a response too', async () => {
    const controller = new AbortController();
    const first = await world([
      () => {
        controller.abort(new RunAbort('yield'));
        return 'One.';
      },
    ]);
    const held = await first.runtime.execute(first.sessionId, sendMessage('One?'), {
      signal: controller.signal,
    });
    expect([held.state.status, held.state.currentStep?.text]).toEqual(['inProgress', 'One.']);
    const session = await elsewhere(first, ['Two.']).execute(first.sessionId, sendMessage('Two?'));
    expect([session.state.finalResponse, session.state.executionCount]).toEqual(['Two.', 1]);
    expectSoundSession(session);
  });

  test('a lost run saves nothing more', async () => {
    const controller = new AbortController();
    const { runtime, sessionId, store } = await world([
      () => {
        controller.abort(new RunAbort('lost'));
        return 'Too late.';
      },
    ]);
    await runtime.execute(sessionId, sendMessage('Go'), { signal: controller.signal });
    expect(store.saves).toHaveLength(1);
    expect((await runtime.get(sessionId)).state.status).toBe('pending');
  });

  test('a message that was saved without a run gets its response by resume', async () => {
    const { runtime, sessionId, store } = await world(['Hello.']);
    const accepted = await runtime.get(sessionId);
    const state = accepted.state.withExecutionStatus('pending').withUserMessage('Go');
    await store.save(accepted.withState(state));
    const session = await runtime.execute(sessionId, resume());
    expect([session.state.finalResponse, session.state.executionCount]).toEqual(['Hello.', 1]);
  });
});

describe('simultaneous actions', () => {
  test('the second message is enqueued, and the worker at work responds to it', async () => {
    const { runtime, sessionId, store } = await world(['One.', 'Two.']);
    const [first, second] = await Promise.all([
      runtime.execute(sessionId, sendMessage('One?')),
      runtime.execute(sessionId, sendMessage('Two?')),
    ]);
    // Neither takes the other's answer for its own.
    expect(first.state.finalResponse).toBe('One.');
    const [last] = second.state.messages.toArray().slice(-1);
    expect([second.state.finalResponse, last && textOf(last)]).toEqual([undefined, 'Two?']);
    const state = (await store.load(sessionId))?.state;
    expect(state?.messages.toArray().map(textOf)).toEqual(['One?', 'One.', 'Two?', 'Two.']);
  });

  test('a message that no worker would read any more gets its response from its sender', async () => {
    const { runtime, sessionId, store } = await world(['One.']);
    const { claim } = await store.claim(sessionId, { workerId: 'other', leaseSeconds: 60 });
    const enqueue = store.enqueue.bind(store);
    store.enqueue = async (...args) => {
      await store.release(claim); // whoever was at work ends between the two
      return enqueue(...args);
    };
    const { state } = await runtime.execute(sessionId, sendMessage('One?'));
    expect([state.finalResponse, (await store.due()).sessions]).toEqual(['One.', []]);
  });

  test('a message with whenBusy "refuse" is refused and changes nothing', async () => {
    const { runtime, sessionId, store } = await world(['One.', 'Two.']);
    const results = await Promise.allSettled([
      runtime.execute(sessionId, sendMessage('One?')),
      runtime.execute(sessionId, sendMessage('Two?'), { whenBusy: 'refuse' }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(results[1]).toMatchObject({ reason: { code: 'SESSION_BUSY' } });
    expect((await store.load(sessionId))?.state.messages).toHaveLength(2);
    const retried = await runtime.execute(sessionId, sendMessage('Two?'));
    expect(retried.state.messages).toHaveLength(4);
  });

  test('another writer is refused between two steps', async () => {
    const gate = deferred<string>();
    const arrived = deferred<undefined>();
    const { runtime, sessionId } = await world([call('a'), () => (arrived.resolve(undefined), gate.promise)]);
    const running = runtime.execute(sessionId, sendMessage('Go'));
    await arrived.promise;
    await expect(runtime.execute(sessionId, writeMetadata('seen', true))).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    });
    gate.resolve('Done.');
    const { state } = await running;
    expect([state.metadata.get('seen'), state.status]).toEqual([undefined, 'completed']);
  });

  test('50 writers that wait for each other and add 20 entries each add 1,000 entries', async () => {
    const { runtime, sessionId, store } = await world([]);
    const add: SessionAction = (session) => {
      const count = session.state.metadata.get<number>('count') ?? 0;
      return session.withState(session.state.withMetadata('count', count + 1));
    };
    const writer = async (): Promise<void> => {
      for (let added = 0; added < 20; added++) await runtime.execute(sessionId, add, { waitSeconds: 60 });
    };
    await Promise.all(Array.from({ length: 50 }, writer));
    const session = await store.load(sessionId);
    expect([session?.state.metadata.get('count'), session?.version]).toEqual([1_000, 1_001]);
  });

  test('many writers of one session: every acknowledged write is saved once', async () => {
    const { runtime, sessionId, store } = await world([]);
    const write = async (key: string): Promise<void> => {
      for (;;) {
        try {
          await runtime.execute(sessionId, writeMetadata(key, key));
          return;
        } catch (error) {
          if (!hasErrorCode(error, 'SESSION_CONFLICT')) throw error;
        }
      }
    };
    const keys = Array.from({ length: 20 }, (_, index) => `key${index}`);
    await Promise.all(keys.map(write));
    const session = await store.load(sessionId);
    expect([Object.keys(session?.state.metadata.values ?? {}).toSorted(), session?.version]).toEqual([
      keys.toSorted(),
      21,
    ]);
  });
});

describe('hooks and events', () => {
  test('every hook is called in order, and the session that it returns replaces the session', async () => {
    const called: string[] = [];
    const mark = (name: string) => (session: AgentSession) => {
      called.push(name);
      return session.withState(
        session.state.withMetadata(name, (session.state.metadata.get<number>(name) ?? 0) + 1),
      );
    };
    const names = ['beforeCreate', 'afterLoad', 'afterAction', 'beforeSave'] as const;
    const hooks: SessionHooks = {
      ...Object.fromEntries(names.map((name) => [name, mark(name)])),
      afterCreate: () => void called.push('afterCreate'),
      afterSave: () => void called.push('afterSave'),
    };
    const { runtime, sessionId } = await world([], hooks);
    const session = await runtime.execute(sessionId, writeMetadata('x', 1));
    expect(called).toEqual([
      'beforeCreate',
      'beforeSave',
      'afterSave',
      'afterCreate',
      'afterLoad',
      'afterAction',
      'beforeSave',
      'afterSave',
    ]);
    expect(session.state.metadata.values).toEqual({
      beforeCreate: 1,
      afterLoad: 1,
      afterAction: 1,
      beforeSave: 2,
      x: 1,
    });
  });

  test('events report loads and saves, and a listener that throws has no effect', async () => {
    const { runtime, sessionId, events } = await world(['Hi.']);
    await runtime.execute(sessionId, sendMessage('Go'));
    expect(events.map(({ type, session }) => `${type} ${session.version}`)).toEqual([
      'session-saved 1',
      'session-loaded 1',
      'session-saved 2',
      'session-saved 3',
    ]);
    const deaf = new SessionRuntime({
      store: new MemorySessionStore(),
      agents: {},
      onSessionEvent: () => {
        throw new Error('deaf');
      },
    });
    expect((await deaf.create({ definition })).version).toBe(1);
  });

  test('events of the run reach the caller, and its signal the driver', async () => {
    const { runtime, sessionId } = await world([(_, { signal }) => (signal.aborted ? 'aborted' : 'Hi.')]);
    const types: string[] = [];
    await runtime.execute(sessionId, sendMessage('Go'), { onEvent: ({ type }) => void types.push(type) });
    expect([types.at(0), types.at(-1)]).toEqual(['execution-started', 'execution-completed']);
    const session = await runtime.execute(sessionId, sendMessage('Go'), { signal: AbortSignal.abort() });
    expect([session.state.status, session.state.stopReason]).toEqual(['stopped', 'userRequested']);
  });

  test('an action that throws changes nothing, and its earlier save stays', async () => {
    const { runtime, sessionId, store } = await world([]);
    const failing: SessionAction = async (session, context) => {
      await context.save(session.withState(session.state.withMetadata('kept', 1)));
      throw new Error('no');
    };
    await expect(runtime.execute(sessionId, failing)).rejects.toThrow('no');
    const stored = await store.load(sessionId);
    expect([stored?.version, stored?.state.metadata.values]).toEqual([2, { kept: 1 }]);
  });

  test('an action that changes nothing saves nothing', async () => {
    const { runtime, sessionId, store } = await world([]);
    await runtime.execute(sessionId, (session) => session);
    await runtime.execute(sessionId, changeStatus('active'));
    expect(store.saves).toEqual([]);
  });
});

describe('the other actions', () => {
  test('change the state that they name', async () => {
    const { runtime, sessionId, driver } = await world(['Hi.', 'Ho.']);
    await runtime.execute(sessionId, changeModel({ model: 'openai:gpt-5' }));
    await runtime.execute(sessionId, changeSystemPrompt('Be brief.'));
    await runtime.execute(sessionId, sendMessage('Go'));
    expect(driver.requests[0]).toMatchObject({
      llmConfig: { model: 'openai:gpt-5' },
      systemPrompt: 'Be brief.',
    });
    const { state } = await runtime.execute(sessionId, clearHistory());
    expect([state.messages.length, state.execution, state.systemPrompt, state.llmConfig?.model]).toEqual([
      0,
      undefined,
      'Be brief.',
      'openai:gpt-5',
    ]);
    expect((await runtime.execute(sessionId, sendMessage('Go'))).state.messages).toHaveLength(2);
  });

  test('clearHistory removes the messages of all sections, and the settings of the application stay', async () => {
    const { runtime, sessionId, store } = await world(['Hi.']);
    const { state: said } = await runtime.execute(sessionId, sendMessage('Go'));
    const summary = said.store.append('summary', [assistantMessage('They said go.')]);
    await runtime.execute(sessionId, (session) =>
      session.withState(session.state.withMessageStore(summary).withResponseFormat({ type: 'json' })),
    );
    await runtime.execute(sessionId, writeMetadata('customer', 'c_1'));
    const session = await runtime.execute(sessionId, clearHistory());
    const { state } = session;
    expect([state.store.names, state.execution, state.executionCount]).toEqual([[], undefined, 1]);
    expect(JSON.stringify(session)).not.toMatch(/They said go|Hi\.|"Go"/);
    expect([state.systemPrompt, state.responseFormat, state.metadata.values, state.agentId]).toEqual([
      'Help.',
      { type: 'json' },
      { customer: 'c_1' },
      said.agentId,
    ]);
    const count = store.saves.length;
    expect(await runtime.execute(sessionId, clearHistory())).toStrictEqual(session);
    expect(store.saves).toHaveLength(count);
  });

  test('a fork and its original change independently', async () => {
    const { runtime, sessionId, store } = await world([call('a'), 'One.', 'Two.']);
    const before = await runtime.execute(sessionId, sendMessage('Go'));
    const fork = await runtime.fork(sessionId, { sessionId: 'copy' });
    expect([fork.sessionId, fork.forkedFrom, fork.parentId, fork.version]).toEqual([
      'copy',
      sessionId,
      undefined,
      1,
    ]);
    expect(fork.state.agentId).not.toBe(before.state.agentId);
    expect(fork.state.messages).toEqual(before.state.messages);
    expectSoundSession(fork);
    const after = await runtime.execute('copy', sendMessage('More'));
    expect(after.state.finalResponse).toBe('Two.');
    expect(await store.load(sessionId)).toStrictEqual(before);
    await expect(runtime.fork(sessionId, { sessionId: 'copy' })).rejects.toMatchObject({ kind: 'exists' });
  });

  test('get, info, delete and list work on a stored session', async () => {
    const { runtime, sessionId } = await world([]);
    expect(await runtime.info(sessionId)).toMatchObject({
      sessionId,
      agentName: 'helper',
      status: 'active',
      version: 1,
    });
    expect((await runtime.list()).sessions.map((info) => info.sessionId)).toEqual([sessionId]);
    expect([await runtime.delete(sessionId), await runtime.delete(sessionId)]).toEqual([true, false]);
    await expect(runtime.get(sessionId)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await expect(runtime.execute(sessionId, resume())).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('a run whose session is deleted and created again ends in a conflict', async () => {
    const gate = deferred<{ text: string }>();
    const store = new WatchedStore();
    const driver = driverOf(() => gate.promise);
    const runtime = new SessionRuntime({ store, agents: { helper: createAgentLoop({ driver }) } });
    await runtime.create({ definition, sessionId: 'one' });
    const running = runtime.execute('one', sendMessage('Go'));
    while ((await store.load('one'))?.version !== 2) await Promise.resolve();
    await runtime.delete('one');
    await runtime.create({ definition, sessionId: 'one' });
    gate.resolve({ text: 'Hi.' });
    await expect(running).rejects.toMatchObject({ code: 'SESSION_CONFLICT', kind: 'recreated' });
    expect((await store.load('one'))?.state.messages).toHaveLength(0);
  });
});
