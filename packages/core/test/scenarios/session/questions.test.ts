import {
  answer,
  answerError,
  approve,
  createAgentLoop,
  MemorySessionStore,
  pendingApprovals,
  pendingQuestions,
  sendMessage,
  SessionRuntime,
  tool,
  type AgentSession,
  type SessionEvent,
  type SessionRuntimeOptions,
  type Tool,
} from '@holdfast/core';
import type { SaveOptions } from '@holdfast/core/store';
import { manualClock, scriptedDriver, type ManualClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deferred } from '../../support/builders.ts';
import { settled, takeOver, userTexts } from '../../support/durable-world.ts';

const definition = { name: 'guide' };
const named = { name: 'ask', description: 'Asks the user.', inputSchema: { type: 'object' } } as const;
const outputSchema = z.object({ city: z.string() });
const oslo = { city: 'Oslo' };
const one: ScriptedAnswer = { calls: [['ask', {}]] };

interface World {
  readonly clock: ManualClock;
  readonly store: MemorySessionStore;
  readonly events: SessionEvent[];
  readonly process: (
    script: readonly ScriptedAnswer[],
    tools?: readonly Tool[],
    options?: Partial<SessionRuntimeOptions>,
  ) => SessionRuntime;
}

function world(question: Tool = tool({ ...named, outputSchema })): World {
  const clock = manualClock(1_000_000);
  const store = new MemorySessionStore({ clock });
  const events: SessionEvent[] = [];
  let processes = 0;
  return {
    clock,
    store,
    events,
    process(script, tools = [], options = {}) {
      const own = { ...clock, newId: manualClock((processes += 1) * 7).newId };
      const loop = createAgentLoop({
        driver: scriptedDriver(...script),
        clock: own,
        tools: [question, ...tools],
      });
      return new SessionRuntime({
        store,
        agents: { guide: loop },
        clock: own,
        onSessionEvent: (event) => void events.push(event),
        ...options,
      });
    },
  };
}

/** A session whose question waits. The process that asked it is not needed any more. */
async function asked(made = world(), script: readonly ScriptedAnswer[] = [one]) {
  const runtime = made.process(script);
  const { sessionId } = await runtime.create({ definition });
  const waiting = await runtime.execute(sessionId, sendMessage('Plan a trip.'));
  return { ...made, sessionId, waiting, id: pendingQuestions(waiting.state)[0]?.id as string };
}

const callOf = ({ state }: AgentSession) => state.steps[0]?.toolExecutions[0];
const ignored = ({ events }: World): string[] =>
  events.flatMap((event) => (event.type === 'inbox-item-ignored' ? [event.reason] : []));

describe('a question', () => {
  test('is listed across sessions, and answered in another process', async () => {
    const { process, sessionId, waiting, store, clock } = await asked();
    expect([waiting.state.status, waiting.info.waitingFor]).toEqual(['suspended', 'answer']);
    expect((await process([]).list({ waitingFor: 'answer' })).sessions).toMatchObject([{ sessionId }]);
    clock.advance(86_400_000);
    expect((await store.due()).sessions).toEqual([]);
    const [call] = pendingQuestions((await process([]).get(sessionId)).state);
    if (call === undefined) throw new TypeError('No call waits.');
    const session = await process(['To Oslo.']).execute(sessionId, answer(call, oslo, { by: 'ann' }));
    expect([session.state.finalResponse, callOf(session)?.value, callOf(session)?.answer?.by]).toEqual([
      'To Oslo.',
      oslo,
      'ann',
    ]);
    expect((await process([]).list({ waitingFor: 'answer' })).sessions).toEqual([]);
  });

  test('takes the first of two answers that two processes give at the same time', async () => {
    const { process, sessionId, id } = await asked();
    const results = await Promise.allSettled([
      process(['To Oslo.']).execute(sessionId, answer(id, oslo)),
      process(['To Rome.']).execute(sessionId, answer(id, { city: 'Rome' })),
    ]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const session = await process([]).get(sessionId);
    const [expected] = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(callOf(session)?.value).toEqual(expected && callOf(expected)?.value);
    await expect(process([]).execute(sessionId, answer(id, oslo))).rejects.toMatchObject({
      code: 'ANSWER_NOT_FOUND',
    });
  });

  test('refuses an answer of the wrong type, and still waits', async () => {
    const { process, sessionId, id, waiting } = await asked();
    await expect(process([]).execute(sessionId, answer(id, 'Oslo'))).rejects.toMatchObject({
      code: 'ANSWER_INVALID',
    });
    expect((await process([]).get(sessionId)).state).toEqual(waiting.state);
    const session = await process(['To Oslo.']).execute(sessionId, answer(id, oslo));
    expect(session.state.finalResponse).toBe('To Oslo.');
  });

  test('can be answered with an error, which the model reads', async () => {
    const { process, sessionId, id } = await asked();
    const session = await process(['Sorry.']).execute(sessionId, answerError(id, 'The page was closed.'));
    expect([callOf(session)?.outcome?.type, callOf(session)?.error?.message]).toEqual([
      'failed',
      'The page was closed.',
    ]);
    expect(session.state.finalResponse).toBe('Sorry.');
  });

  test('is asked after its approval', async () => {
    const made = await asked(world(tool({ ...named, outputSchema, needsApproval: true })));
    expect([made.waiting.info.waitingFor, made.id]).toEqual(['approval', undefined]);
    const [call] = pendingApprovals(made.waiting.state);
    await expect(
      made.process([]).execute(made.sessionId, answer(call?.id ?? '', oslo)),
    ).rejects.toMatchObject({ code: 'ANSWER_NOT_FOUND' });
    const approved = await made.process([]).execute(made.sessionId, approve(call?.id ?? ''));
    expect([approved.info.waitingFor, pendingQuestions(approved.state)[0]?.id]).toEqual(['answer', call?.id]);
    const session = await made.process(['To Oslo.']).execute(made.sessionId, answer(call?.id ?? '', oslo));
    expect([callOf(session)?.value, callOf(session)?.approval?.decision?.type]).toEqual([oslo, 'approved']);
  });

  test('fails at its answer timeout, and a later answer is refused', async () => {
    const made = await asked(world(tool({ ...named, answerTimeoutSeconds: 60 })));
    const { process, sessionId, store, clock, id } = made;
    expect((await process([]).advance(sessionId)).outcome).toEqual({ type: 'sleep', until: 1_060_000 });
    clock.advance(59_999);
    expect((await store.due()).sessions).toEqual([]);
    clock.advance(1);
    expect((await store.due()).sessions).toMatchObject([{ sessionId }]);
    await expect(process([]).execute(sessionId, answer(id, 1))).rejects.toMatchObject({
      code: 'ANSWER_GIVEN',
      message: expect.stringContaining('timeout'),
    });
    expect((await process(['Too late.']).advance(sessionId)).outcome).toEqual({ type: 'finished' });
    const session = await process([]).get(sessionId);
    expect([callOf(session)?.error?.code, session.state.finalResponse]).toEqual([
      'ANSWER_TIMEOUT',
      'Too late.',
    ]);
  });

  test('is closed by a stop as not answered', async () => {
    const { process, sessionId, id } = await asked();
    const runtime = process([]);
    await runtime.enqueue(sessionId, { type: 'stop', reason: 'Enough.' });
    await runtime.advance(sessionId);
    const session = await runtime.get(sessionId);
    expect([session.state.status, callOf(session)?.outcome?.type]).toEqual(['stopped', 'interrupted']);
    expect(callOf(session)?.error?.message).toBe('Tool "ask" was not answered before the execution ended.');
    await expect(runtime.execute(sessionId, answer(id, oslo))).rejects.toMatchObject({
      code: 'ANSWER_NOT_FOUND',
    });
  });
});

describe('an answer in the inbox', () => {
  test('counts if it is the first that fits; the others are ignored with the reason', async () => {
    const made = await asked();
    const runtime = made.process(['To Oslo.']);
    const values = ['Oslo', oslo, { city: 'Rome' }];
    for (const value of values)
      await runtime.enqueue(made.sessionId, { type: 'answer', toolExecutionId: made.id, value, by: 'ann' });
    expect(await runtime.advance(made.sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    const session = await runtime.get(made.sessionId);
    expect([callOf(session)?.value, session.state.finalResponse]).toEqual([oslo, 'To Oslo.']);
    expect(ignored(made)).toEqual([
      expect.stringContaining('is not valid'),
      expect.stringContaining('already answered by ann'),
    ]);
    expect((await made.store.due()).sessions).toEqual([]);
  });

  test('counts when it was enqueued before the timeout, however late a worker uses it', async () => {
    const made = await asked(world(tool({ ...named, answerTimeoutSeconds: 60 })));
    const runtime = made.process(['In time.']);
    await runtime.enqueue(made.sessionId, { type: 'answer', toolExecutionId: made.id, value: 1 });
    made.clock.advance(90_000);
    await runtime.advance(made.sessionId);
    expect(callOf(await runtime.get(made.sessionId))?.value).toBe(1);
  });

  test('with an error fails the call; with neither value nor error it is refused', async () => {
    const made = await asked();
    const runtime = made.process(['Sorry.']);
    const content = { type: 'answer', toolExecutionId: made.id } as const;
    await expect(runtime.enqueue(made.sessionId, content)).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    });
    await runtime.enqueue(made.sessionId, { ...content, error: 'No.' });
    await runtime.advance(made.sessionId);
    expect(callOf(await runtime.get(made.sessionId))?.error?.message).toBe('No.');
  });

  test('is used after the run when another call of the step still runs', async () => {
    const gate = deferred<string>();
    const begun = deferred<undefined>();
    const work = tool({
      name: 'work',
      description: 'Works.',
      inputSchema: { type: 'object' },
      execute: () => (begun.resolve(undefined), gate.promise),
    });
    const made = world();
    const runtime = made.process(
      [
        {
          calls: [
            ['ask', {}],
            ['work', {}],
          ],
        },
        'Both.',
      ],
      [work],
    );
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('Plan.'));
    await begun.promise;
    const saved = await runtime.get(sessionId);
    const [call] = saved.state.currentStep?.toolExecutions ?? [];
    const busy = await made
      .process([])
      .execute(sessionId, answer(call?.id as string, oslo), { whenBusy: 'enqueue' });
    expect(busy.state.hasActiveExecution).toBe(true);
    gate.resolve('worked');
    await running;
    const session = await runtime.get(sessionId);
    expect(session.state.finalResponse).toBe('Both.');
    expect(session.state.steps[0]?.toolExecutions.map(({ value }) => value)).toEqual([oslo, 'worked']);
  });

  test('is checked while another item arrives, which is used too', async () => {
    const slow = deferred<() => Promise<boolean>>();
    const value = z.string().refine(async () => (await slow.promise)());
    const made = await asked(world(tool({ ...named, outputSchema: value })));
    const runtime = made.process(['To Oslo.', 'And back.']);
    slow.resolve(async () => {
      await runtime.enqueue(made.sessionId, { type: 'message', content: 'And back?' }, { id: 'm1' });
      made.clock.advance(10_000); // the heartbeat reads the inbox
      for (let turn = 0; turn < 5; turn++) await settled();
      return true;
    });
    await runtime.enqueue(made.sessionId, { type: 'answer', toolExecutionId: made.id, value: 'Oslo' });
    await runtime.advance(made.sessionId);
    const session = await runtime.get(made.sessionId);
    expect(callOf(session)?.value).toBe('Oslo');
    expect(userTexts(session)).toEqual(['Plan a trip.', 'And back?']);
  });

  test('stays in the inbox while the runtime does not know the agent', async () => {
    const made = await asked();
    const without = made.process([], [], { agents: {} });
    await without.enqueue(made.sessionId, { type: 'answer', toolExecutionId: made.id, value: oslo });
    expect((await without.advance(made.sessionId)).error).toMatchObject({ code: 'AGENT_NOT_FOUND' });
    made.clock.advance(3_600_000);
    await made.process(['To Oslo.']).advance(made.sessionId);
    expect(callOf(await without.get(made.sessionId))?.value).toEqual(oslo);
    expect(ignored(made)).toEqual([]);
  });
});

/** A store in which a process dies: at the n-th save, before or after the store has done it. */
class DyingStore extends MemorySessionStore {
  dies: { readonly when: 'before' | 'after'; at: number } | undefined;

  override async save(session: AgentSession, options?: SaveOptions): Promise<AgentSession> {
    const { dies } = this;
    const isDeath = dies !== undefined && --dies.at === 0;
    if (isDeath && dies.when === 'before') return new Promise(() => undefined);
    const saved = await super.save(session, options);
    return isDeath ? new Promise(() => undefined) : saved;
  }
}

describe.each(['before', 'after'] as const)('a worker that dies %s a save', (when) => {
  test.each([1, 2, 3])('of an enqueued answer: save %i', async (at) => {
    const clock = manualClock(1_000_000);
    const store = new DyingStore({ clock });
    const effects: string[] = [];
    const question = tool({ ...named, outputSchema });
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      effect: 'idempotent',
      execute: (_, { idempotencyKey }) => (effects.push(idempotencyKey), 'paid'),
    });
    let processes = 0;
    const processWith = (...script: readonly ScriptedAnswer[]): SessionRuntime => {
      const own = { ...clock, newId: manualClock((processes += 1) * 7).newId };
      const driver = scriptedDriver(...script);
      const guide = createAgentLoop({ driver, clock: own, tools: [question, pay] });
      return new SessionRuntime({ store, agents: { guide }, clock: own, savePolicy: 'each-effect' });
    };
    const first = processWith(one);
    const { sessionId } = await first.create({ definition });
    const waiting = await first.execute(sessionId, sendMessage('Book.'));
    const toolExecutionId = pendingQuestions(waiting.state)[0]?.id as string;
    await first.enqueue(sessionId, { type: 'answer', toolExecutionId, value: oslo, by: 'ann' });

    const stuck = deferred<undefined>();
    store.dies = { when, at };
    const later: ScriptedAnswer[] = [
      ({ messages }) =>
        JSON.stringify([...messages]).includes('paid') ? 'Booked.' : { calls: [['pay', {}]] },
      ({ messages }) =>
        JSON.stringify([...messages]).includes('paid') ? 'Booked.' : { calls: [['pay', {}]] },
    ];
    void processWith(...later)
      .advance(sessionId)
      .then(() => stuck.resolve(undefined));
    while (store.dies.at > 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    takeOver({ clock, store });

    const next = processWith(...later);
    while ((await next.advance(sessionId)).outcome.type !== 'finished') clock.advance(1_000);
    const session = await next.get(sessionId);
    const calls = session.state.steps.flatMap(({ toolExecutions }) => toolExecutions);
    expect(calls.map(({ name, value }) => [name, value])).toEqual([
      ['ask', oslo],
      ['pay', 'paid'],
    ]);
    expect([calls[0]?.answer?.by, session.state.finalResponse, new Set(effects).size]).toEqual([
      'ann',
      'Booked.',
      1,
    ]);
  });
});
