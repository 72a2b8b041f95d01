import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sendMessage, type AgentState } from '@holdfast/core';
import { manualClock } from '@holdfast/core/testing';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { FALLBACK_MODEL, HTTP_PRICES, httpRuntime, OWN_MODEL } from '../src/http-agent.ts';
import { DONE, PAY, refusal, startProvider, USAGE, type ProviderServer } from './provider-server.ts';
import { temporaryFolder } from './temporary-folder.ts';

const MODELS = [OWN_MODEL, OWN_MODEL, FALLBACK_MODEL, FALLBACK_MODEL, OWN_MODEL];
let folder: string;
let provider: ProviderServer;

beforeEach(async () => {
  folder = temporaryFolder();
  provider = await startProvider(PAY, refusal(503, 'Overloaded.'), PAY, PAY, DONE);
});
afterEach(() => provider.stop());

test('the fallback responds while the own model is overloaded, and then the own model', async () => {
  const clock = manualClock(Date.now());
  const store = await SqliteSessionStore.open({ path: join(folder, 'sessions.db'), clock });
  let payments = 0;
  const runtime = httpRuntime({
    url: provider.url,
    store,
    clock,
    // The third payment ends the five minutes of the fallback.
    pay: () => clock.advance(++payments === 3 ? 300_000 : 0),
  });
  const { sessionId } = await runtime.create({ definition: { name: 'payer' } });
  const { state } = await runtime.execute(sessionId, sendMessage('Pay.'));
  expectSwitchedAndBack(state);
  expect(payments).toBe(3);
  await store.close();
});

test('the fallback stays in use when its process is killed', async () => {
  const path = join(folder, 'sessions.db');
  const store = await SqliteSessionStore.open({ path });
  const ignored = { url: provider.url, pay: () => undefined };
  const runtime = httpRuntime({
    ...ignored,
    store,
    clock: { now: Date.now, newId: () => crypto.randomUUID() },
  });
  const { sessionId } = await runtime.create({ definition: { name: 'payer' } });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Pay.' });
  const step = (laterSeconds: number, dies = ''): Promise<unknown> =>
    processEnd(sessionId, { LATER_SECONDS: String(laterSeconds), DIES: dies, LOCATION: path });
  expect(await step(0)).toEqual([0, null]);
  expect(await step(0, 'in the tool')).toEqual([null, 'SIGKILL']);
  expect(provider.models()).toEqual(MODELS.slice(0, 3));
  expect(await step(60)).toEqual([0, null]); // repeats the tool
  expect(await step(60)).toEqual([0, null]);
  expect(provider.models()).toEqual(MODELS.slice(0, 4));
  expect(await step(400)).toEqual([0, null]);
  expectSwitchedAndBack((await runtime.get(sessionId)).state);
  await store.close();
});

function expectSwitchedAndBack(state: AgentState): void {
  expect([state.status, state.finalResponse]).toEqual(['completed', 'Done.']);
  expect(provider.models()).toEqual(MODELS);
  const called = [OWN_MODEL, FALLBACK_MODEL, FALLBACK_MODEL, OWN_MODEL] as const;
  expect(state.steps.map(({ response }) => response?.modelId)).toEqual(called);
  expect(state.steps.map(({ response }) => response?.usage.cost)).toEqual(
    called.map((model) => expect.closeTo(priceOf(model), 9)),
  );
  expect(state.cost).toBeCloseTo(2 * priceOf(OWN_MODEL) + 2 * priceOf(FALLBACK_MODEL), 9);
}

/** The price of a reply in dollars. */
function priceOf(model: keyof typeof HTTP_PRICES): number {
  const { input, output } = HTTP_PRICES[model];
  return (USAGE.prompt_tokens * input + USAGE.completion_tokens * output) / 1_000_000;
}

/** Runs a process to its end: its exit code and its signal. */
async function processEnd(sessionId: string, env: Readonly<Record<string, string>>): Promise<unknown> {
  const options = { env: { ...process.env, ...env, MODEL_URL: provider.url } };
  return once(fork(inject('httpWorker'), [sessionId], options), 'exit');
}
