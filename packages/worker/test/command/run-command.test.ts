import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { InputError } from '../../src/command/input-error.ts';
import { readSettings } from '../../src/command/settings.ts';
import { AGENTS, WorkerProcess } from '../support/worker-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-input-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a module, and returns its path. */
function moduleOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const store = `sqlite:${join(folder, 'sessions.db')}`;
const good = ['--module', AGENTS, '--store', store, '--port', '0'];
const empty = moduleOf('empty.mjs', 'export const agent = {};');
const listed = moduleOf('listed.mjs', 'export const agents = {}; export const runtime = 5;');

test('--help prints each option with its default, and exits with 0', async () => {
  const worker = WorkerProcess.start(['--help']);
  expect(await worker.ended).toEqual([0, null]);
  expect(worker.output).toMatchSnapshot();
});

test.each<readonly [string, readonly string[], string]>([
  ['no store', ['--module', AGENTS], '--store is missing. Pass --store, or set HOLDFAST_STORE.'],
  ['an unknown option', [...good, '--modul', 'x'], "Unknown option '--modul'"],
  ['an option without its value', [...good, '--name'], '--name'],
  ['an argument without an option', [...good, 'more'], "Unexpected argument 'more'"],
  ['an unknown engine', [...good, '--engine', 'cron'], '--engine must be one of in-process, bullmq'],
  ['a fraction of a session', [...good, '--concurrency', '1.5'], '--concurrency must be a whole number'],
  ['no session', [...good, '--concurrency', '0'], 'found "0"'],
  ['a port that is too large', [...good, '--port', '70000'], '--port must be a port from 0 to 65535'],
  ['a lease of no seconds', [...good, '--lease-seconds', '0'], '--lease-seconds must be a number of seconds'],
  ['a sweep that is a word', [...good, '--sweep-seconds', 'often'], 'found "often"'],
  ['a negative limit', [...good, '--stop-within-seconds=-1'], 'found "-1"'],
  [
    'an unknown level',
    [...good, '--log-level', 'loud'],
    '--log-level must be one of debug, info, warn, error',
  ],
  ['an unknown format', [...good, '--log-format', 'xml'], '--log-format must be one of json, text'],
  ['a queue that no engine uses', [...good, '--queue', 'redis://a'], '--queue is for the engine bullmq'],
  [
    'a sweep that the engine replaces',
    [...good, '--engine', 'polling', '--sweep-seconds', '1'],
    'is not for the engine polling',
  ],
])('%s is refused', (_, args, message) => {
  expect(() => readSettings(args, {})).toThrow(InputError);
  expect(() => readSettings(args, {})).toThrow(message);
});

describe('bad input exits with 2 and one line', () => {
  test.each<readonly [string, readonly string[], string]>([
    ['no module', ['--store', store], '--module is missing. Pass --module, or set HOLDFAST_MODULE.'],
    ['a missing module', [...good, '--module', './none.ts'], '--module names a missing file: ./none.ts'],
    ['a module without agents', [...good, '--module', empty], 'empty.mjs must export agents, as in'],
    ['a number for runtime', [...good, '--module', listed], 'must export runtime as an object'],
    ['an unknown store', [...good, '--store', 'mysql://u:secret@host'], 'found "mysql:"'],
    ['a path for a store', [...good, '--store', './a.db'], 'found no scheme'],
    ['no path', [...good, '--store', 'sqlite:'], 'sqlite: needs the path of a file'],
    ['no table', [...good, '--store', 'dynamodb://'], 'dynamodb:// needs a table'],
    ['an unknown parameter', [...good, '--store', 'dynamodb://t?zone=1'], 'found "zone"'],
    ['an unknown channel', [...good, '--channel', 'nats://a'], '--channel must begin with sqlite:'],
    ['a queue in a file', [...good, '--engine', 'bullmq'], 'The engine bullmq needs a Redis server.'],
  ])('%s', async (_, args, message) => {
    const worker = WorkerProcess.start(args);
    expect(await worker.ended).toEqual([2, null]);
    expect(worker.output.stdout).toBe('');
    expect(worker.output.stderr).toMatch(/^holdfast-worker: .*\n$/);
    expect(worker.output.stderr).toContain(message);
    expect(worker.output.stderr).not.toContain('secret');
  });
});

test('environment variables set options, and options have precedence', async () => {
  const env = {
    HOLDFAST_MODULE: AGENTS,
    HOLDFAST_STORE: store,
    HOLDFAST_PORT: '70000',
    HOLDFAST_LOG_LEVEL: '',
  };
  const worker = WorkerProcess.start(['--port', '0'], env);
  await worker.url();
  worker.kill('SIGTERM');
  expect(await worker.ended).toEqual([0, null]);
});

test('the log can be text', async () => {
  const worker = WorkerProcess.start([
    ...good,
    '--log-format',
    'text',
    '--engine',
    'cron',
    '--engine',
    'in-process',
  ]);
  while (!worker.output.stdout.includes('port=')) await new Promise(setImmediate);
  worker.kill('SIGTERM');
  await worker.ended;
  expect(worker.output.stdout).toMatch(
    /^\S+Z INFO The worker serves\. port=\d+\n\S+Z INFO The worker stops\. signal=SIGTERM\n/,
  );
});

test('a module can create its runtime itself', async () => {
  const module = fileURLToPath(new URL('../support/own-runtime.ts', import.meta.url));
  const worker = WorkerProcess.start([...good, '--module', module]);
  await worker.url();
  expect(worker.lines[0]).toMatchObject({
    message: 'defaults',
    names: ['leaseSeconds', 'onSessionEvent', 'store', 'workerName'],
  });
});
