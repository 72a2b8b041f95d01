import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createAgentLoop, SessionRuntime, tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { z } from 'zod';
import { startBank } from './services/bank.ts';

const [program = '', bankUrl = '', id = ''] = process.argv.slice(1);

/** One request to the bank. */
async function ask(path: string, key?: string): Promise<{ readonly isDone: boolean }> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const response = await fetch(`${bankUrl}/${path}`, { method: 'POST', headers });
  return (await response.json()) as { isDone: boolean };
}

// #region tools
const inputSchema = z.object({});
const balance = tool({
  name: 'balance',
  description: 'The balance of the account.',
  inputSchema,
  effect: 'readOnly', // nothing to protect
  execute: async () => (await fetch(`${bankUrl}/balance`)).json(),
});
const pay = tool({
  name: 'pay',
  description: 'Pays the bill.',
  inputSchema,
  effect: 'idempotent', // the bank makes one payment for each key
  async execute(_, { idempotencyKey }) {
    const headers = { 'idempotency-key': idempotencyKey };
    const response = await fetch(`${bankUrl}/pay`, { method: 'POST', headers });
    return response.json();
  },
});
const order = tool({
  name: 'order',
  description: 'Orders a card.',
  inputSchema,
  execute: (_, { idempotencyKey }) => ask('order', idempotencyKey), // the bank keeps it as a reference
  async reconcile(idempotencyKey) {
    const response = await fetch(`${bankUrl}/order/${idempotencyKey}`);
    const order = (await response.json()) as { isDone: boolean };
    return order.isDone ? { status: 'done', value: order } : { status: 'notDone' };
  },
});
const close = tool({
  name: 'close',
  description: 'Closes an account.',
  inputSchema,
  effect: 'ask', // a person finds out
  execute: () => ask('close'),
});
const mail = tool({
  name: 'mail',
  description: 'Writes to the customer.',
  inputSchema, // nothing is said: `once`
  execute: () => ask('mail'),
});
// #endregion

const calls = { balance: {}, pay: {}, order: {}, close: {}, mail: {} };
const clerk = createAgentLoop({
  driver: scriptedDriver({ calls }),
  tools: [balance, pay, order, close, mail],
});
const store = await SqliteSessionStore.open({ path: 'sessions.db' });
const runtime = new SessionRuntime({ store, agents: { clerk }, leaseSeconds: 2 });

if (id !== '') {
  await runtime.advance(id);
} else {
  // #region kill
  const bank = await startBank(); // it does what it is asked at once, and its answers take their time
  const { sessionId } = await runtime.create({ definition: { name: 'clerk' } });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Settle everything.' });

  const work = () => fork(program, [bank.url, sessionId]); // a process that does `runtime.advance(sessionId)`
  const first = work();
  await bank.untilWaiting(5);
  first.kill('SIGKILL'); // all five are done, and nobody has heard of it
  await once(first, 'exit');
  bank.answer();

  while ((await store.due()).sessions.length === 0) await pause(50); // until the claim of the first has run out
  const second = work();
  await once(second, 'exit');

  const { state } = await runtime.get(sessionId);
  for (const { name, outcome, attempt } of state.currentStep?.toolExecutions ?? []) {
    console.log(name, outcome?.type ?? 'waits for a person', { attempt, ...bank.counts(name) });
  }
  // => balance succeeded { attempt: 2, requests: 2, done: 0 }
  // => pay succeeded { attempt: 2, requests: 2, done: 1 }
  // => order succeeded { attempt: 1, requests: 2, done: 1 }
  // => close waits for a person { attempt: 1, requests: 1, done: 1 }
  // => mail interrupted { attempt: 1, requests: 1, done: 1 }
  // #endregion
  bank.close();
}
await store.close();
