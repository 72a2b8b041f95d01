import { SessionRuntime, type SessionStore, type SessionDirectory } from '@holdfast/core';
import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { RedisSessionStore } from '@holdfast/store-redis';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisServer, until } from 'test-servers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AWS_ENV, startDynamoDb } from './support/dynamodb-server.ts';
import { AGENTS, WorkerProcess } from './support/worker-process.ts';

type OpenStore = SessionStore & SessionDirectory;

interface World {
  readonly folder: string;
  readonly url: string;
  readonly store: OpenStore;
  readonly runtime: SessionRuntime;
  readonly redis: RedisServer | undefined;
}

const DURABLE = ['--appendonly', 'yes', '--maxmemory-policy', 'noeviction'];

type StoreKind = 'sqlite' | 'redis' | 'dynamodb';

/** Opens a store in a folder, as a web process uses it. */
async function openStore(kind: StoreKind, folder: string): Promise<Pick<World, 'store' | 'url' | 'redis'>> {
  if (kind === 'redis') {
    const redis = await RedisServer.start({ args: DURABLE });
    onTestFinished(() => redis.stop());
    return { store: await RedisSessionStore.open({ url: redis.url() }), url: redis.url(), redis };
  }
  if (kind === 'dynamodb') {
    const { client, endpoint, stop } = await startDynamoDb();
    onTestFinished(stop);
    const url = `dynamodb://sessions?region=eu-west-1&endpoint=${endpoint}`;
    return { store: new DynamoDbSessionStore({ client, table: 'sessions' }), url, redis: undefined };
  }
  const path = join(folder, 'sessions.db');
  return { store: await SqliteSessionStore.open({ path }), url: `sqlite:${path}`, redis: undefined };
}

/** A store with real data. */
async function worldOf(kind: StoreKind): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-worker-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const opened = await openStore(kind, folder);
  onTestFinished(() => opened.store.close());
  return { folder, ...opened, runtime: new SessionRuntime({ store: opened.store, agents: {} }) };
}

async function enqueue({ runtime }: World, content: string): Promise<string> {
  const { sessionId } = await runtime.create({ definition: { name: 'clerk' } });
  await runtime.enqueue(sessionId, { type: 'message', content });
  return sessionId;
}

function startWorker({ folder, url }: World, ...args: readonly string[]): WorkerProcess {
  const sweep = args.includes('polling') ? [] : ['--sweep-seconds', '0.1'];
  const all = ['--module', AGENTS, '--store', url, '--port', '0', ...sweep, ...args];
  return WorkerProcess.start(all, {
    ...AWS_ENV,
    TOOL_FOLDER: folder,
    ENGINE: args.includes('bullmq') ? BULLMQ : '{}',
  });
}

/** The lock of a dead worker ends soon. */
const BULLMQ = JSON.stringify({ lockSeconds: 1, stalledSeconds: 1 });

const notes = ({ folder }: World): string =>
  existsSync(join(folder, 'notes')) ? readFileSync(join(folder, 'notes'), 'utf8') : '';
const release = ({ folder }: World): void => writeFileSync(join(folder, 'release'), '');
const response = async ({ runtime }: World, sessionId: string): Promise<string | undefined> =>
  (await runtime.get(sessionId)).state.finalResponse;
const answered = (world: World, sessionId: string): Promise<void> =>
  until(
    'the session is completed',
    async () => (await world.runtime.info(sessionId)).executionStatus === 'completed',
  );

describe.each(['sqlite', 'redis', 'dynamodb'] as const)('%s', (kind) => {
  test('messages of another process are answered, and the worker says how it is', async () => {
    const world = await worldOf(kind);
    const worker = startWorker(world);
    const url = await worker.url();
    const ids = await Promise.all(['One.', 'Two.', 'Three.'].map((content) => enqueue(world, content)));
    for (const id of ids) await answered(world, id);
    expect(await response(world, ids[0] as string)).toBe('Hello.');
    const pages = ['live', 'ready'].map(async (page) => (await fetch(`${url}/health/${page}`)).status);
    expect(await Promise.all(pages)).toEqual([200, 200]);
    const metrics = await fetch(`${url}/metrics`);
    expect(metrics.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    let text = await metrics.text();
    while (!/^holdfast_engine_steps_total 3$/m.test(text))
      text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toMatch(/^holdfast_engine_concurrency 8$/m);
    expect(text).toMatch(/^holdfast_worker_ready 1$/m);
    expect(await world.store.workers()).toHaveLength(1);
    worker.kill('SIGTERM');
    expect(await worker.ended).toEqual([0, null]);
    expect(await world.store.workers()).toHaveLength(0);
    expect(worker.output.stdout).not.toMatch(/One\.|Hello\./);
  });

  test('SIGTERM during a tool: not ready at once, the tool ends, and the next worker continues', async () => {
    const world = await worldOf(kind);
    const first = startWorker(world);
    const url = await first.url();
    const id = await enqueue(world, 'Print.');
    await until('the tool has started', () => notes(world).includes('started'));
    first.kill('SIGTERM');
    await first.logged('The worker stops.');
    const ready = await fetch(`${url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'not ready', reason: 'The worker stops.' },
    ]);
    release(world);
    expect(await first.ended).toEqual([0, null]);
    expect((await world.runtime.info(id)).executionStatus).toBe('inProgress');
    startWorker(world);
    await answered(world, id);
    expect([await response(world, id), notes(world)]).toEqual(['It is printed.', 'started\nprinted\n']);
  });

  test('SIGKILL during a tool: another worker continues when the lease has expired', async () => {
    const world = await worldOf(kind);
    const first = startWorker(world, '--lease-seconds', '1');
    const id = await enqueue(world, 'Print.');
    await until('the tool has started', () => notes(world).includes('started'));
    first.kill('SIGKILL');
    expect(await first.ended).toEqual([null, 'SIGKILL']);
    release(world);
    startWorker(world, '--lease-seconds', '1');
    await answered(world, id);
    expect([await response(world, id), notes(world)]).toEqual([
      'It is printed.',
      'started\nstarted\nprinted\n',
    ]);
  });
});

test.each<readonly [engine: string, args: readonly string[]]>([
  ['polling', []],
  ['bullmq', ['--sweep-seconds', '0.5']],
])('two workers with the engine %s share the sessions, and one that is killed drops none', async (engine) => {
  const world = await worldOf('redis');
  const workers = [1, 2].map(() => startWorker(world, '--engine', engine, '--lease-seconds', '1'));
  for (const worker of workers) await worker.url();
  const ids = await Promise.all(Array.from({ length: 20 }, () => enqueue(world, 'Hi.')));
  const printing = await enqueue(world, 'Print.');
  await until('the tool has started', () => notes(world).includes('started'));
  const dead = workers.find(({ pid }) => pid === Number(readFileSync(join(world.folder, 'pid'), 'utf8')));
  dead?.kill('SIGKILL');
  expect(await dead?.ended).toEqual([null, 'SIGKILL']);
  release(world);
  for (const id of [...ids, printing]) await answered(world, id);
  const survivor = workers.find((worker) => worker !== dead);
  survivor?.kill('SIGTERM');
  expect(await survivor?.ended).toEqual([0, null]);
});

test('a tool that runs too long ends with the worker, which exits with 0', async () => {
  const world = await worldOf('sqlite');
  const worker = startWorker(world, '--stop-within-seconds', '0.2');
  await enqueue(world, 'Print.');
  await until('the tool has started', () => notes(world).includes('started'));
  worker.kill('SIGINT');
  expect(await worker.ended).toEqual([0, null]);
  const late = worker.lines.find(({ level }) => level === 'warn');
  expect(late).toMatchObject({ sessionsInWork: 1 });
});

test('a second signal ends the process at once', async () => {
  const world = await worldOf('sqlite');
  const worker = startWorker(world);
  await enqueue(world, 'Print.');
  await until('the tool has started', () => notes(world).includes('started'));
  worker.kill('SIGTERM');
  await worker.logged('The worker stops.');
  worker.kill('SIGTERM');
  expect(await worker.ended).toEqual([143, null]);
});

test.each(['in-process', 'polling', 'bullmq'])(
  'with the engine %s, the worker outlives its store: not ready without it, ready when it is back',
  async (engine) => {
    const world = await worldOf('redis');
    const worker = startWorker(world, '--engine', engine);
    const url = await worker.url();
    const status = async (page: string): Promise<number> => (await fetch(`${url}/health/${page}`)).status;
    await world.redis?.kill();
    await until('the worker is not ready', async () => (await status('ready')) === 503);
    expect(await status('live')).toBe(200);
    await world.redis?.restart();
    await until('the worker is ready again', async () => (await status('ready')) === 200);
    const id = await enqueue(world, 'Hi.');
    await answered(world, id);
    worker.kill('SIGTERM');
    expect(await worker.ended).toEqual([0, null]);
    expect(worker.output.stderr).toBe('');
  },
);

test('an error that no code catches is logged and ends the process with 1', async () => {
  const world = await worldOf('sqlite');
  const module = join(world.folder, 'broken.mjs');
  writeFileSync(
    module,
    `export const agents = {};\nsetTimeout(() => { throw Object.assign(new Error('Broken.'), { code: 'BROKEN' }); });`,
  );
  const worker = WorkerProcess.start(['--module', module, '--store', world.url, '--port', '0']);
  expect(await worker.ended).toEqual([1, null]);
  expect(worker.lines.at(-1)).toMatchObject({ level: 'error', error: 'Broken.', code: 'BROKEN' });
});

test('a store that does not reply at the start: logged with its code, exit code 1', async () => {
  const args = ['--module', AGENTS, '--store', 'redis://127.0.0.1:1', '--port', '0'];
  const worker = WorkerProcess.start(args);
  expect(await worker.ended).toEqual([1, null]);
  expect(worker.lines.at(-1)).toMatchObject({ level: 'error', code: 'STORE_UNAVAILABLE' });
});
