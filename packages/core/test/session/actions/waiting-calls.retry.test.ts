import {
  createAgentLoop,
  MemorySessionStore,
  retry,
  sendMessage,
  SessionRuntime,
  tool,
  type AgentLoopOptions,
} from '@holdfast/core';
import { DriverError } from '@holdfast/core/driver';

import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

const wrongKey = new DriverError('authentication', 'The key is not valid.');
const definition = { name: 'assistant' };

async function sessionOf(script: readonly ScriptedAnswer[], options: Partial<AgentLoopOptions> = {}) {
  const clock = manualClock(1_000);
  const store = new MemorySessionStore({ clock });
  const driver = scriptedDriver(...script);
  const loop = createAgentLoop({ driver, clock, ...options });
  const runtime = new SessionRuntime({ store, clock, agents: { assistant: loop } });
  const { sessionId } = await runtime.create({ definition });
  const due = async () => (await store.due({ at: clock.now() })).sessions.map(({ sessionId: id }) => id);
  return { clock, store, runtime, sessionId, driver, due };
}

describe('an execution that waits for a retry of its inference', () => {
  test('is saved, listed, due at the instant of the retry, and resumed by another process', async () => {
    const limited = new DriverError('rateLimited', 'Later.', { retryAfterSeconds: 120 });
    const { runtime, sessionId, clock, due } = await sessionOf([limited, 'Fine.']);
    const waiting = await runtime.execute(sessionId, sendMessage('Hello'));
    expect(waiting.state.status).toBe('suspended');
    const { sessions } = await runtime.list({ waitingFor: 'retry' });
    expect(sessions.map((session) => session.sessionId)).toEqual([sessionId]);
    expect(await due()).toEqual([]);
    clock.advance(120_000);
    expect(await due()).toEqual([sessionId]);
    await runtime.advance(sessionId);
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Fine.');
    expect(await due()).toEqual([]);
  });

  test('waits for retry() when only a person can help, and retry() repeats the inference', async () => {
    const { runtime, sessionId, due, clock } = await sessionOf([wrongKey, 'Fine.']);
    const waiting = await runtime.execute(sessionId, sendMessage('Hello'));
    expect(waiting.state.execution?.waiting[0]).toMatchObject({
      type: 'retry',
      error: { code: 'DRIVER_AUTHENTICATION' },
    });
    clock.advance(86_400_000);
    expect(await due()).toEqual([]);
    const { state } = await runtime.execute(sessionId, retry());
    expect(state).toMatchObject({ status: 'completed', finalResponse: 'Fine.', stepCount: 1 });
  });

  test('is resumed by a retry in the inbox', async () => {
    const { runtime, sessionId, due } = await sessionOf([wrongKey, 'Fine.']);
    await runtime.execute(sessionId, sendMessage('Hello'));
    await runtime.enqueue(sessionId, { type: 'retry' });
    expect(await due()).toEqual([sessionId]);
    await runtime.advance(sessionId);
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Fine.');
  });

  test('fails in the end without a call of retry()', async () => {
    const { runtime, sessionId, due, clock } = await sessionOf([wrongKey]);
    await runtime.execute(sessionId, sendMessage('Hello'));
    clock.advance(14 * 86_400_000);
    expect(await due()).toEqual([sessionId]);
    await runtime.advance(sessionId);
    expect((await runtime.get(sessionId)).state.status).toBe('failed');
  });

  test('still waits after a message, which gets a response once the inference succeeds', async () => {
    const { runtime, sessionId } = await sessionOf([wrongKey, 'One.', 'Two.']);
    await runtime.execute(sessionId, sendMessage('First'));
    const { state } = await runtime.execute(sessionId, sendMessage('Second'));
    expect(state.status).toBe('suspended');
    expect((await runtime.execute(sessionId, retry())).state).toMatchObject({
      finalResponse: 'Two.',
      stepCount: 2,
    });
  });
});

describe('retry() of a failed execution', () => {
  test('begins a new step; closed steps stay, and no started call is started again', async () => {
    let paid = 0;
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      execute: () => ++paid,
    });
    const invalid = new DriverError('invalidRequest', 'A bad request.');
    const { runtime, sessionId } = await sessionOf([{ calls: { pay: {} } }, invalid, invalid, 'Paid.'], {
      tools: [pay],
    });
    const failed = await runtime.execute(sessionId, sendMessage('Pay'));
    expect(failed.state).toMatchObject({ status: 'failed', stepCount: 2 });
    const { state } = await runtime.execute(sessionId, retry());
    expect(state).toMatchObject({ status: 'completed', finalResponse: 'Paid.', stepCount: 3 });
    expect(state.executionId).toBe(failed.state.executionId);
    expect(state.executionCount).toBe(failed.state.executionCount);
    expect(state.errors[0]?.resolvedAt).toBe(1_000);
    expect(paid).toBe(1);
  });

  test('continues to count the budget', async () => {
    const invalid = new DriverError('invalidRequest', 'A bad request.');
    const { runtime, sessionId } = await sessionOf([invalid, invalid, 'Never.'], { budget: { maxSteps: 2 } });
    await runtime.execute(sessionId, sendMessage('Hello'));
    expect((await runtime.execute(sessionId, retry())).state).toMatchObject({
      status: 'failed',
      stepCount: 2,
    });
    expect((await runtime.execute(sessionId, retry())).state).toMatchObject({
      status: 'stopped',
      stepCount: 2,
    });
  });

  test('resumes an execution that failed because a tool threw and tool errors are final', async () => {
    const broken = tool({
      name: 'broken',
      description: 'Breaks.',
      inputSchema: { type: 'object' },
      execute: () => {
        throw new Error('Broken.');
      },
    });
    const { runtime, sessionId } = await sessionOf([{ calls: { broken: {} } }, 'Sorry.'], {
      tools: [broken],
      toolErrors: 'fail',
    });
    expect((await runtime.execute(sessionId, sendMessage('Go'))).state.status).toBe('failed');
    expect((await runtime.execute(sessionId, retry())).state).toMatchObject({
      status: 'completed',
      finalResponse: 'Sorry.',
    });
  });

  test('changes nothing in a session without a failure, and the inbox item is reported as ignored', async () => {
    const { runtime, sessionId } = await sessionOf(['Fine.']);
    const before = await runtime.execute(sessionId, sendMessage('Hello'));
    const after = await runtime.execute(sessionId, retry());
    expect(after.state).toEqual(before.state);
  });
});
