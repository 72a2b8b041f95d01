import {
  cancel,
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  subagent,
  type Tool,
} from '@holdfast/core';
import { MemorySessionChannel } from '@holdfast/core/channel';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred, does, observe } from '../support/builders.ts';
import { resultsOf } from '../support/tool-runs.ts';

const named = { name: 'audit', description: 'Audits.' };
const ask: ScriptedAnswer = { calls: { audit: { prompt: 'Audit it.' } } };
const finding = (count: number): ScriptedAnswer => ({
  content: [
    { type: 'text', text: `Finding ${count}.` },
    { type: 'tool-call', toolCallId: `c${count}`, toolName: 'look', input: {} },
  ],
});

/** A session whose agent calls an auditor, which has two findings, and then calls the last tool. */
async function auditedSession(last: Tool) {
  const script = [finding(1), finding(2), { calls: { [last.name]: {} } }];
  const auditor = createAgentLoop({ driver: scriptedDriver(...script), tools: [does('look'), last] });
  const parent = createAgentLoop({
    driver: scriptedDriver(ask, 'So be it.'),
    tools: [subagent({ ...named, loop: auditor })],
  });
  const channel = new MemorySessionChannel(); // the worker hears of the cancel at once
  const runtime = new SessionRuntime({ store: new MemorySessionStore(), channel, agents: { parent } });
  const { sessionId } = await runtime.create({ definition: { name: 'parent' } });
  return { runtime, sessionId };
}

const WORK = 'Until then agent "audit" had completed these calls: look (2 times). Its last text: Finding 2.';

describe('after a cancel the parent reads the completed work of a subagent', () => {
  test('that was running', async () => {
    const reached = deferred<undefined>();
    const hangs = does('hangs', (_, { signal }) => {
      reached.resolve(undefined);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const { runtime, sessionId } = await auditedSession(hangs);
    const running = runtime.execute(sessionId, sendMessage('Go.'));
    await reached.promise;
    await runtime.execute(sessionId, cancel());
    const { state } = await running;
    expect(resultsOf(state)).toEqual([expect.stringContaining(WORK)]);
    expect(resultsOf(state)).toEqual([expect.stringContaining('whether it had its effect is unknown')]);
    expect(state.status).toBe('stopped');
  });

  test('that waited for an approval', async () => {
    const pays = { ...does('pays'), needsApproval: () => true };
    const { runtime, sessionId } = await auditedSession(pays);
    expect((await runtime.execute(sessionId, sendMessage('Go.'))).state.status).toBe('suspended');
    const { state } = await runtime.execute(sessionId, cancel());
    expect(resultsOf(state)).toEqual([expect.stringContaining(WORK)]);
  });
});

test('after a timeout too', async () => {
  const clock = manualClock();
  const slow = does('slow', () => new Promise((resolve) => clock.after(60_000, () => resolve('late'))));
  const driver = scriptedDriver(finding(1), { calls: { slow: {} } });
  const loop = createAgentLoop({ driver, clock, tools: [does('look'), slow] });
  const running = observe({
    clock,
    script: [ask, 'So be it.'],
    tools: [subagent({ ...named, loop, timeoutSeconds: 5 })],
  });
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  clock.advance(5_000);
  const { state } = await running;
  expect(resultsOf(state)).toEqual([
    'Tool "audit" exceeded its timeout of 5 seconds. It may still have had its effect. ' +
      'Until then agent "audit" had completed these calls: look. Its last text: Finding 1.',
  ]);
});

test('a subagent that had completed nothing says so', async () => {
  const loop = createAgentLoop({
    driver: scriptedDriver({ calls: { pays: {} } }),
    tools: [{ ...does('pays'), needsApproval: () => true }],
  });
  const parent = createAgentLoop({ driver: scriptedDriver(ask), tools: [subagent({ ...named, loop })] });
  const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents: { parent } });
  const { sessionId } = await runtime.create({ definition: { name: 'parent' } });
  await runtime.execute(sessionId, sendMessage('Go.'));
  const { state } = await runtime.execute(sessionId, cancel());
  expect(resultsOf(state)).toEqual([
    expect.stringMatching(/Until then agent "audit" had completed no calls\.$/),
  ]);
});
