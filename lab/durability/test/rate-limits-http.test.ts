import { join } from 'node:path';
import { sendMessage, type AgentEvent } from '@holdfast/core';
import type { InferenceRetryOptions } from '@holdfast/core/driver';
import { manualClock } from '@holdfast/core/testing';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { httpRuntime, type HttpRuntimeParts } from '../src/http-agent.ts';
import { DONE, PAY, refusal, startProvider } from './provider-server.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A runtime for each process, on one file. The tool of all counts in `payments`. */
async function world(inferenceRetry: InferenceRetryOptions, ...replies: Parameters<typeof startProvider>) {
  const folder = temporaryFolder();
  const provider = await startProvider(...replies);
  const manual = manualClock(Date.now());
  const timers: number[] = [];
  const after = (milliseconds: number, callback: () => void) => {
    timers.push(milliseconds);
    return manual.after(milliseconds, callback);
  };
  const clock = { ...manual, after };
  const payments: string[] = [];
  const stores: SqliteSessionStore[] = [];
  onTestFinished(async () => {
    for (const store of stores) await store.close();
    await provider.stop();
  });
  const process = async (name: string) => {
    const store = await SqliteSessionStore.open({ path: join(folder, 'sessions.db'), clock });
    stores.push(store);
    const parts: HttpRuntimeParts = { url: provider.url, store, clock, pay: () => payments.push(name) };
    return { store, runtime: httpRuntime({ ...parts, maxSeconds: 60, inferenceRetry }) };
  };
  return { process, provider, clock, payments, timers };
}

test('a short retry-after is waited for in the process', async () => {
  const { process, provider, clock, payments, timers } = await world(
    {},
    PAY,
    refusal(429, 'Slow down.', 4),
    DONE,
  );
  const { runtime } = await process('first');
  const { sessionId } = await runtime.create({ definition: { name: 'payer' } });
  const events: AgentEvent['type'][] = [];
  const onEvent = ({ type }: AgentEvent) => void events.push(type);
  const running = runtime.execute(sessionId, sendMessage('Pay.'), { onEvent });
  while (!timers.includes(4_000)) await nextTurn(); // the failed call was saved, and the run pauses
  expect(events).toContain('inference-failed');
  clock.advance(3_999);
  await nextTurn();
  expect(provider.models()).toHaveLength(2);
  clock.advance(1);
  const { state } = await running;
  expect([state.status, state.finalResponse]).toEqual(['completed', 'Done.']);
  expect(provider.models()).toHaveLength(3);
  expect(state.lastStep?.inferenceFailures).toMatchObject([{ error: { code: 'DRIVER_RATE_LIMITED' } }]);
  expect(events).toContain('step-restarted');
  expect(events).not.toContain('execution-suspended');
  expect(payments).toEqual(['first']);
});

test('a long retry-after suspends the execution, and a second process continues it', async () => {
  const { process, provider, clock, payments } = await world(
    { initialDelaySeconds: 20 },
    PAY,
    refusal(429, 'Slow down.', 120),
    DONE,
  );
  const first = await process('first');
  const { sessionId } = await first.runtime.create({ definition: { name: 'payer' } });
  const { state: suspended } = await first.runtime.execute(sessionId, sendMessage('Pay.'));
  const until = clock.now() + 120_000;
  const waiting = { type: 'retry', error: { code: 'DRIVER_RATE_LIMITED' }, until };
  expect([suspended.status, suspended.execution?.waiting]).toMatchObject(['suspended', [waiting]]);
  await first.store.close();

  const { runtime, store } = await process('second');
  clock.advance(119_999);
  expect((await store.due()).sessions).toEqual([]);
  expect((await runtime.advance(sessionId)).outcome).toEqual({ type: 'sleep', until });
  expect(provider.models()).toHaveLength(2);
  clock.advance(1);
  expect((await store.due()).sessions).toEqual([{ sessionId, dueAt: until }]);
  expect((await runtime.advance(sessionId)).outcome).toEqual({ type: 'finished' });
  const { state } = await runtime.get(sessionId);
  expect([state.status, state.finalResponse]).toEqual(['completed', 'Done.']);
  expect(state.execution?.workedSeconds).toBe(0);
  expect(provider.models()).toHaveLength(3);
  expect(payments).toEqual(['first']);
});

/** The rest of the work that needs neither I/O nor a timer. */
async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
