// The setups of apps/examples/workers, run as processes with the command of this package.
import { SessionRuntime } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RedisServer, until } from 'test-servers';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

const setups = fileURLToPath(new URL('../../../apps/examples/workers', import.meta.url));
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const packages = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Copies the setups to a folder as a user would, with the command of this workspace as `node_modules/.bin/holdfast-worker`. */
function copied(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-setups-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(setups, folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(join(packages, '@holdfast'), join(folder, 'node_modules/@holdfast'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const command = join(folder, 'node_modules/.bin/holdfast-worker');
  writeFileSync(command, `#!/bin/sh\nexec ${process.execPath} --conditions=@holdfast/source ${main} "$@"\n`);
  chmodSync(command, 0o755);
  return folder;
}

/** Starts a command line in a folder. The processes end with the test. */
function start(
  folder: string,
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(command, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  });
  return child;
}

/** Waits until a number of workers serve, and returns their ports. */
async function portsOf(child: ChildProcess, count = 1): Promise<readonly string[]> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ports = (): readonly string[] =>
    [...output.matchAll(/"The worker serves\.","port":(\d+)/g)].map(([, port = '']) => port);
  await until(`${count} workers serve`, () => ports().length === count);
  return ports();
}

async function expectAnswer(store: SqliteSessionStore): Promise<void> {
  const runtime = new SessionRuntime({ store, agents: {} });
  const { sessionId } = await runtime.create({ definition: { name: 'assistant' } });
  await runtime.enqueue(sessionId, { type: 'message', content: 'What time is it?' });
  await until(
    'the session is completed',
    async () => (await runtime.info(sessionId)).executionStatus === 'completed',
  );
  expect((await runtime.get(sessionId)).state.finalResponse).toBe('I have looked at the clock.');
  await store.close();
}

async function expectStop(child: ChildProcess, pid = child.pid as number): Promise<void> {
  process.kill(pid, 'SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
}

const secondsOf = (text = ''): number => Number(/^(\d+)s?$/.exec(text)?.[1]);
/** The default of --stop-within-seconds, and the time to save and to close connections. */
const STOP_SECONDS = 25 + 6;

test('start-workers.sh starts three workers on one file, and stops them together', async () => {
  const folder = copied();
  const child = start(folder, ['./start-workers.sh'], { PORTS: '0 0 0' });
  expect(await portsOf(child, 3)).toHaveLength(3);
  await expectAnswer(await SqliteSessionStore.open({ path: join(folder, 'sessions.db') }));
  await expectStop(child);
});

test('the ExecStart line of the systemd unit starts a worker, which has enough time to stop', async () => {
  const folder = copied();
  const unit = readFileSync(join(folder, 'holdfast-worker@.service'), 'utf8');
  const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  expect(secondsOf(valueOf('TimeoutStopSec'))).toBeGreaterThan(STOP_SECONDS);
  const line = valueOf('ExecStart').replaceAll(valueOf('WorkingDirectory'), folder).replace('808%i', '0');
  const path = join(folder, 'state/sessions.db');
  const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(valueOf('Environment')) ?? [];
  const child = start(folder, line.split(' '), {
    [name]: value.replace('/var/lib/agents/sessions.db', path),
  });
  await portsOf(child);
  await expectAnswer(await SqliteSessionStore.open({ path }));
  await expectStop(child);
});

interface Service {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly deploy?: { readonly replicas: number };
  readonly stop_grace_period?: string;
}

test('the commands of compose.yaml run, and its health check sees when the worker is ready', async () => {
  const folder = copied();
  const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as {
    readonly services: Readonly<Record<'redis' | 'worker', Service>>;
  };
  const { redis, worker } = services;
  expect(worker.deploy).toEqual({ replicas: 3 });
  expect(secondsOf(worker.stop_grace_period)).toBeGreaterThan(STOP_SECONDS);
  const server = await RedisServer.start({ args: redis.command.slice(1) });
  onTestFinished(() => server.stop());
  const env = { ...worker.environment, HOLDFAST_STORE: server.url(), HOLDFAST_PORT: '0' };
  const child = start(folder, worker.command, env);
  const [port = ''] = await portsOf(child);
  const check = async (): Promise<unknown> => {
    const [, ...line] = worker.healthcheck.test;
    const [code] = await once(
      start(
        folder,
        line.map((word) => word.replace('8080', port)),
        {},
      ),
      'exit',
    );
    return code;
  };
  expect(await check()).toBe(0);
  const sender = start(folder, [process.execPath, '--conditions=@holdfast/source', 'send.ts'], env);
  const answers: string[] = [];
  sender.stdout?.on('data', (chunk: Buffer) => answers.push(chunk.toString()));
  expect(await once(sender, 'exit')).toEqual([0, null]);
  expect(answers.join('')).toBe('I have looked at the clock.\n');
  await expectStop(child);
  expect(await check()).toBe(1);
});
