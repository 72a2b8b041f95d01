import {
  createAgentLoop,
  hasErrorCode,
  MemorySessionStore,
  retry,
  sendMessage,
  SessionRuntime,
  type AgentCatalog,
  type AgentSession,
  type SessionRuntimeOptions,
} from '@holdfast/core';
import { DriverError } from '@holdfast/core/driver';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

const definition = { name: 'assistant' };

/** A session that was left to workers whose catalog the test deploys. */
async function deployment(
  script: readonly ScriptedAnswer[] = ['Fine.'],
  options: Partial<SessionRuntimeOptions> = {},
) {
  const clock = manualClock(1_000);
  const store = new MemorySessionStore({ clock });
  const loop = createAgentLoop({ driver: scriptedDriver(...script), clock });
  const workerOf = (agents: AgentCatalog) => new SessionRuntime({ store, clock, agents, ...options });
  const [without, worker] = [workerOf({}), workerOf({ assistant: loop })];
  const { sessionId } = await without.create({ definition });
  await without.enqueue(sessionId, { type: 'message', content: 'Hello' });
  const isDue = async () => (await store.due()).sessions.length > 0;
  return { clock, store, without, worker, sessionId, isDue };
}

describe('a session whose agent is not deployed', () => {
  test('is tried again after pauses that grow, then it is a dead letter with its error', async () => {
    const { clock, without, sessionId, isDue } = await deployment();
    const pauses: number[] = [];
    for (let attempt = 1; ; attempt++) {
      const { outcome, error } = await without.advance(sessionId);
      expect(hasErrorCode(error, 'AGENT_NOT_FOUND')).toBe(true);
      if (outcome.type !== 'sleep') break;
      expect(await isDue()).toBe(false);
      pauses.push(outcome.until - clock.now());
      clock.advance(outcome.until - clock.now());
      expect(await isDue()).toBe(true);
      expect(attempt).toBeLessThan(5);
    }
    expect(pauses).toHaveLength(4);
    expect(pauses.every((pause, index) => index === 0 || pause > 3 * (pauses[index - 1] as number))).toBe(
      true,
    );
    clock.advance(365 * 86_400_000);
    expect(await isDue()).toBe(false);
    const { sessions } = await without.list({ waitingFor: 'retry' });
    expect(sessions).toMatchObject([
      { sessionId, failure: { attempts: 5, error: { code: 'AGENT_NOT_FOUND' } } },
    ]);
  });

  test('is worked on once the agent is deployed, and the failure is forgotten', async () => {
    const { without, worker, sessionId, clock } = await deployment();
    await without.advance(sessionId);
    clock.advance(10_000);
    expect(await worker.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect((await worker.get(sessionId)).state.finalResponse).toBe('Fine.');
    expect((await worker.list()).sessions[0]).not.toHaveProperty('failure');
  });
});

describe('a session whose saves a hook refuses during its run', () => {
  test('is tried again after pauses, is no suspect, and continues once the hook works', async () => {
    let isDown = true;
    const beforeSave = (session: AgentSession) => {
      if (isDown && session.state.lastStep) throw new Error('The key server does not reply.');
      return session;
    };
    const made = await deployment(['Fine.', 'Fine.', 'Fine.'], { maxAttempts: 2, hooks: { beforeSave } });
    const { worker, sessionId, clock, store } = made;
    const first = await worker.advance(sessionId, { suspects: 'refuse' });
    expect(first).toMatchObject({
      outcome: { type: 'sleep' },
      error: { message: 'The key server does not reply.' },
    });
    clock.advance(10_000);
    const second = await worker.advance(sessionId, { suspects: 'refuse' });
    expect(second.outcome).toEqual({ type: 'suspended' });
    const { sessions } = await worker.list({ waitingFor: 'retry' });
    expect(sessions).toMatchObject([{ sessionId, failure: { attempts: 2 } }]);
    isDown = false;
    expect((await worker.execute(sessionId, retry())).state.finalResponse).toBe('Fine.');
    expect((await store.claim(sessionId, { workerId: 'w', leaseSeconds: 1 })).attempt).toBe(1);
  });
});

describe('a dead letter', () => {
  async function deadLetter() {
    const made = await deployment(['Fine.', 'Fine too.'], { maxAttempts: 1 });
    expect(await made.without.advance(made.sessionId)).toMatchObject({ outcome: { type: 'suspended' } });
    expect(await made.isDue()).toBe(false);
    return made;
  }

  test('is revived by retry()', async () => {
    const { worker, sessionId, isDue } = await deadLetter();
    const { state } = await worker.execute(sessionId, retry());
    expect(state.finalResponse).toBe('Fine.');
    expect((await worker.list({ waitingFor: 'retry' })).sessions).toEqual([]);
    expect(await isDue()).toBe(false);
  });

  test('is revived by an item in its inbox, for one more attempt', async () => {
    const { worker, without, sessionId, isDue } = await deadLetter();
    await worker.enqueue(sessionId, { type: 'retry' });
    expect(await isDue()).toBe(true);
    expect(await without.advance(sessionId)).toMatchObject({ outcome: { type: 'suspended' } });
    expect(await isDue()).toBe(false);
    await worker.enqueue(sessionId, { type: 'message', content: 'Are you there?' });
    await worker.advance(sessionId);
    expect((await worker.get(sessionId)).state.finalResponse).toBe('Fine.');
  });
});

test('a hook that throws is a failure of the work, and is counted', async () => {
  const hooks = { afterLoad: () => Promise.reject(new Error('No key.')) };
  const { worker, sessionId } = await deployment([], { hooks });
  const { outcome, error } = await worker.advance(sessionId);
  expect(outcome.type).toBe('sleep');
  expect(error).toMatchObject({ message: expect.stringContaining('No key.') });
});

test('a session that another worker has is lost until its claim ends', async () => {
  const { worker, store, sessionId } = await deployment();
  await store.claim(sessionId, { workerId: 'other', leaseSeconds: 30 });
  expect(await worker.advance(sessionId)).toEqual({ outcome: { type: 'lost', until: 31_000 }, wake: [] });
});

test('a rate limit is throttled where the lane is known, else the session sleeps', async () => {
  const limited = new DriverError('rateLimited', 'Later.', { retryAfterSeconds: 60 });
  const plain = await deployment([limited]);
  const next = { agentName: 'assistant' };
  const sleep = { type: 'sleep', until: 61_000 };
  expect(await plain.worker.advance(plain.sessionId)).toMatchObject({ outcome: sleep, wake: [], next });
  const schedule = () => ({ lane: 'openai', priority: 3 });
  const made = await deployment([limited], { schedule });
  expect(await made.worker.advance(made.sessionId)).toMatchObject({
    outcome: { type: 'throttled', until: 61_000, lane: 'openai' },
    wake: [],
    next: { agentName: 'assistant', lane: 'openai', priority: 3 },
  });
});

test('an execution that execute() finishes clears an earlier failure', async () => {
  const { without, worker, sessionId } = await deployment();
  await without.advance(sessionId);
  await worker.execute(sessionId, sendMessage('Hello again'));
  expect((await worker.list()).sessions[0]).not.toHaveProperty('failure');
});

test('a session with many attempts is tried at least once in about an hour, and stays readable', async () => {
  const { without, sessionId, clock, isDue } = await deployment([], { maxAttempts: 60 });
  for (let attempt = 1; attempt < 60; attempt++) {
    const { outcome } = await without.advance(sessionId);
    const until = outcome.type === 'sleep' ? outcome.until : Number.NaN;
    expect(until - clock.now()).toBeLessThanOrEqual(1.25 * 3_600_000);
    clock.advance(until - clock.now());
    expect(await isDue()).toBe(true);
  }
  expect(await without.advance(sessionId)).toMatchObject({ outcome: { type: 'suspended' } });
});
