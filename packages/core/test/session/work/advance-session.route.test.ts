import {
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  type SessionRuntimeOptions,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

const definition = { name: 'assistant' };

/** A session of an owner with a message in its inbox, and a runtime with these options. */
async function waitingSession(options: Partial<SessionRuntimeOptions> = {}) {
  const store = new MemorySessionStore();
  const agents = { assistant: createAgentLoop({ driver: scriptedDriver('Fine.', 'Fine too.') }) };
  const runtime = new SessionRuntime({ store, agents, ...options });
  const { sessionId } = await runtime.create({ definition, owner: 'Ada' });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Hello' });
  const answer = async () => (await runtime.get(sessionId)).state.finalResponse;
  return { runtime, sessionId, answer };
}

const schedule = () => ({ lane: 'openai', priority: 1 });

describe('an advance with `route`', () => {
  test('of a session with a lane does no work, and returns the lane', async () => {
    const { runtime, sessionId, answer } = await waitingSession({ schedule });
    const next = { agentName: 'assistant', group: 'Ada', lane: 'openai', priority: 1 };
    expect(await runtime.advance(sessionId, { route: 'lane' })).toEqual({
      outcome: { type: 'yield' },
      wake: [],
      next,
    });
    expect(await answer()).toBeUndefined();
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' }, next });
    expect(await answer()).toBe('Fine.');
  });

  test('of a session without a lane works at once', async () => {
    for (const options of [{}, { schedule: () => ({ priority: 1 }) }]) {
      const { runtime, sessionId, answer } = await waitingSession(options);
      const { outcome } = await runtime.advance(sessionId, { route: 'lane' });
      expect([outcome.type, await answer()]).toEqual(['finished', 'Fine.']);
    }
  });

  test('of a session with a group alone does no work for an engine that limits groups', async () => {
    const { runtime, sessionId, answer } = await waitingSession();
    const { outcome, next } = await runtime.advance(sessionId, { route: 'lane-and-group' });
    expect([outcome.type, next?.group, await answer()]).toEqual(['yield', 'Ada', undefined]);
    const ownerless = await runtime.create({ definition });
    await runtime.enqueue(ownerless.sessionId, { type: 'message', content: 'Hello' });
    const advanced = await runtime.advance(ownerless.sessionId, { route: 'lane-and-group' });
    expect(advanced.outcome.type).toBe('finished');
  });

  test.each([
    [{ lane: 'openai', group: undefined }, 'group'],
    [{ group: 'Ada' }, 'lane'],
    [{ group: undefined }, 'lane-and-group'],
  ] as const)(
    'of a session with %j works at once when the engine does not know its %s',
    async (known, route) => {
      const { runtime, sessionId, answer } = await waitingSession({ schedule: () => known });
      const { outcome } = await runtime.advance(sessionId, { route });
      expect([outcome.type, await answer()]).toEqual(['finished', 'Fine.']);
    },
  );

  test.each(['lane', 'group', 'lane-and-group'] as const)(
    'of a session with a lane and a group does no work when the engine does not know its %s',
    async (route) => {
      const both = { lane: 'openai', group: 'Ada' };
      const { runtime, sessionId, answer } = await waitingSession({ schedule: () => both });
      const { outcome, next } = await runtime.advance(sessionId, { route });
      expect([outcome.type, next, await answer()]).toEqual([
        'yield',
        { agentName: 'assistant', ...both },
        undefined,
      ]);
    },
  );

  test('of a session that does not exist returns what an advance returns', async () => {
    const { runtime } = await waitingSession({ schedule });
    expect(await runtime.advance('none', { route: 'lane' })).toEqual(await runtime.advance('none'));
  });

  test('of a session that a hook refuses reports the error', async () => {
    let isDown = false;
    const hooks: SessionRuntimeOptions['hooks'] = {
      afterLoad(session) {
        if (isDown) throw new Error('The key server does not reply.');
        return session;
      },
    };
    const { runtime, sessionId } = await waitingSession({ schedule, hooks });
    isDown = true;
    const { error } = await runtime.advance(sessionId, { route: 'lane' });
    expect(error).toMatchObject({ message: 'The key server does not reply.' });
  });
});

describe('the default schedule', () => {
  test('groups sessions by their owner', async () => {
    const { runtime, sessionId } = await waitingSession();
    const { next } = await runtime.advance(sessionId);
    expect(next).toEqual({ agentName: 'assistant', group: 'Ada' });
    const other = await runtime.create({ definition });
    await runtime.execute(other.sessionId, sendMessage('Hello'));
    expect((await runtime.advance(other.sessionId)).next).toEqual({ agentName: 'assistant' });
  });
});

test.each([
  [{ lane: 'openai' }, { lane: 'openai', group: 'Ada' }],
  [{ priority: 2 }, { priority: 2, group: 'Ada' }],
  [{}, { group: 'Ada' }],
  [
    { lane: 'openai', group: 'team' },
    { lane: 'openai', group: 'team' },
  ],
  [
    { lane: 'openai', group: undefined },
    { lane: 'openai', group: undefined },
  ],
])('the owner is the group of a session whose schedule is %j', async (given, expected) => {
  const { runtime, sessionId } = await waitingSession({ schedule: () => given });
  const { next } = await runtime.advance(sessionId);
  expect(next).toStrictEqual({ agentName: 'assistant', ...expected });
});
