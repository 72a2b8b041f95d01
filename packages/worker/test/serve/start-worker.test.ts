import { get, type IncomingMessage } from 'node:http';
import { networkInterfaces } from 'node:os';
import { createAgentLoop, MemorySessionStore, SessionRuntime } from '@holdfast/core';
import { sweep } from '@holdfast/core/engine';
import { scriptedDriver } from '@holdfast/core/testing';
import { startWorker, type LogFields, type LogLevel } from '@holdfast/worker';
import { until } from 'test-servers';
import { expect, onTestFinished, test } from 'vitest';

const store = new MemorySessionStore();
const agents = { clerk: createAgentLoop({ driver: scriptedDriver('Hello.', 'Hello.', 'Hello.') }) };
const runtime = new SessionRuntime({ store, agents });

test('a worker in this process answers, and stops without closing the store', async () => {
  const worker = await startWorker({ runtime, store, sweepSeconds: 0.05, port: 0 });
  const { sessionId } = await runtime.create({ definition: { name: 'clerk' } });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Hi.' });
  await until(
    'the session is completed',
    async () => (await runtime.info(sessionId)).executionStatus === 'completed',
  );
  await until('the advance is counted', () => worker.engine.metrics?.().advances.finished === 1);
  await worker.stop({ withinSeconds: 5 });
  expect(await store.workers()).toEqual([]);
  await expect(fetch(`http://127.0.0.1:${String(worker.port)}/health/live`)).rejects.toThrow('fetch failed');
});

test('a worker without a free slot says how long sessions wait, although a sweep has taken them', async () => {
  const answer = Promise.withResolvers<string>();
  const driver = scriptedDriver(() => answer.promise, 'Hello.');
  const busyStore = new MemorySessionStore();
  const busyRuntime = new SessionRuntime({
    store: busyStore,
    agents: { clerk: createAgentLoop({ driver }) },
  });
  const worker = await startWorker({ runtime: busyRuntime, store: busyStore, concurrency: 1, port: 0 });
  onTestFinished(() => worker.stop());
  for (const id of ['a', 'b']) {
    await busyRuntime.create({ definition: { name: 'clerk' }, sessionId: id });
    await busyRuntime.enqueue(id, { type: 'message', content: 'Hi.' });
    await worker.engine.wake(id, { lane: 'openai' });
    await until('the first session is in work', () => driver.requests.length === 1);
  }
  await sweep(busyStore, worker.engine, { againAfterSeconds: 60 });
  expect((await busyStore.due({ limit: 1 })).sessions).toEqual([]);

  const url = `http://127.0.0.1:${String(worker.port)}`;
  const readiness = async () =>
    (await fetch(`${url}/health/ready`)).json() as Promise<{ backlogSeconds: number }>;
  await until('the wait is seen', async () => (await readiness()).backlogSeconds > 0);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('holdfast_engine_waiting{lane="openai"} 1\n');
  expect(metrics).toMatch(/^holdfast_engine_oldest_wait_seconds\{lane="openai"\} 0\.\d+$/m);
  answer.resolve('Hello.');
});

test('other paths and methods are refused', async () => {
  const worker = await startWorker({ runtime, store, port: 0 });
  onTestFinished(() => worker.stop());
  const url = `http://127.0.0.1:${String(worker.port)}`;
  const statuses = [
    fetch(`${url}/`),
    fetch(`${url}/metrics`, { method: 'POST' }),
    fetch(`${url}/metrics?a=1`),
  ];
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([404, 405, 200]);
});

/** Returns the status of a request with this header `Host`. */
async function statusOf(port: number | undefined, host: string): Promise<number | undefined> {
  const response = Promise.withResolvers<IncomingMessage>();
  get({ host: '127.0.0.1', port, path: '/health/live', headers: { host } }, response.resolve).on(
    'error',
    response.reject,
  );
  const { statusCode } = (await response.promise).resume();
  return statusCode;
}

test('the HTTP server listens on this machine only, unless another address is given', async () => {
  const outside = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const { address } = outside.find(({ internal, family }) => !internal && family === 'IPv4') ?? {
    address: '127.0.0.2', // a machine without a network: another address than the default
  };
  const local = await startWorker({ runtime, store, port: 0 });
  onTestFinished(() => local.stop());
  const live = (port: number | undefined): Promise<Response> =>
    fetch(`http://${address}:${String(port)}/health/live`);
  await expect(live(local.port)).rejects.toThrow('fetch failed');
  const open = await startWorker({ runtime, store, port: 0, host: '0.0.0.0' });
  onTestFinished(() => open.stop());
  expect((await live(open.port)).status).toBe(200);
});

test('the HTTP server refuses the names of other sites, which DNS rebinding would send', async () => {
  const worker = await startWorker({ runtime, store, port: 0, host: '0.0.0.0', allowedHosts: ['Worker'] });
  onTestFinished(() => worker.stop());
  const { port } = worker;
  const known = [
    'localhost',
    'LOCALHOST:80',
    '127.0.0.1:8080',
    '10.0.0.7',
    '[::1]:8080',
    '0.0.0.0',
    'worker:8080',
  ];
  const others = [
    'evil.example',
    'evil.example:8080',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'x[::1]',
  ];
  for (const host of known) expect([host, await statusOf(port, host)]).toEqual([host, 200]);
  for (const host of others) expect([host, await statusOf(port, host)]).toEqual([host, 421]);
});

test('a port that is taken is an error of the start, and leaves no announced worker', async () => {
  const worker = await startWorker({ runtime, store, port: 0 });
  await expect(startWorker({ runtime, store, port: worker.port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await worker.stop();
  expect(await store.workers()).toEqual([]);
});

test('a store that does not reply in time makes the worker not ready; a failing sweep is logged once', async () => {
  const answers = Promise.withResolvers<never>();
  const slow = Object.assign(Object.create(store) as MemorySessionStore, { due: () => answers.promise });
  const lines: (readonly [LogLevel, string, LogFields | undefined])[] = [];
  const log = (...line: readonly [LogLevel, string, LogFields?]): void =>
    void lines.push([line[0], line[1], line[2]]);
  const worker = await startWorker({ runtime, store: slow, port: 0, sweepSeconds: 0.01, log });
  onTestFinished(() => worker.stop());
  const ready = await fetch(`http://127.0.0.1:${String(worker.port)}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { status: 'not ready', reason: 'The store does not reply within 2 seconds.' },
  ]);
  answers.reject(Object.assign(new Error('Down.'), { code: 'STORE_UNAVAILABLE' }));
  await until('an error is logged', () => lines.some(([level]) => level === 'error'));
  expect(lines.filter(([level]) => level === 'error')).toEqual([
    ['error', 'The sweep failed. It is repeated.', { error: 'Down.', code: 'STORE_UNAVAILABLE' }],
  ]);
});

test.each([
  [{ runtime, store, sweepSeconds: 0 }, 'sweepSeconds'],
  [{ runtime, store, port: -1 }, 'port'],
  [{ runtime, store, engines: 1 }, 'has no option "engines"'],
  [{ store }, 'runtime'],
])('refuses invalid options', async (options, message) => {
  await expect(startWorker(options as never)).rejects.toMatchObject({
    code: 'ARGUMENT_INVALID',
    message: expect.stringContaining(message),
  });
});
