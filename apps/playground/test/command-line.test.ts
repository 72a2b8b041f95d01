import { once } from 'node:events';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { helpText, readCommand } from '../src/command-line.ts';
import { dataFolder, run, serve } from './support/playground-process.ts';

describe('the command line', () => {
  test.each<[readonly string[], Record<string, string>, object]>([
    [[], {}, { type: 'serve', port: 4242 }],
    [[], { PORT: '81' }, { port: 81 }],
    [['--port', '0'], { PORT: '81' }, { port: 0 }],
    [['--', '--port', '0'], {}, { port: 0 }],
    [['--prompt', 'hi'], {}, { type: 'prompt', prompt: 'hi', sessionId: undefined }],
    [['-p', 'hi', '-s', 'one'], {}, { prompt: 'hi', sessionId: 'one' }],
    [['-s', 'one'], {}, { type: 'prompt', prompt: undefined }],
    [['-s', 'one', '--approve'], {}, { type: 'prompt', decision: 'approve' }],
    [['-s', 'one', '--deny'], {}, { decision: 'deny' }],
    [[], {}, { settings: { store: 'sqlite' } }],
    [['--store', 'sqlite'], { HOLDFAST_STORE: 'memory' }, { settings: { store: 'sqlite' } }],
    [[], { HOLDFAST_STORE: 'memory' }, { settings: { store: 'memory' } }],
    [['--help', '--port', 'x'], {}, { type: 'help' }],
    [['--data', '/tmp/x'], {}, { settings: { data: '/tmp/x', model: { apiKey: undefined } } }],
    [[], { OPENAI_API_KEY: ' ' }, { settings: { model: { apiKey: undefined } } }],
    [
      ['--model', 'b'],
      { OPENAI_API_KEY: 'k', OPENAI_MODEL: 'a', OPENAI_BASE_URL: 'http://x/v1' },
      { settings: { model: { apiKey: 'k', baseUrl: 'http://x/v1', modelId: 'b' } } },
    ],
    [
      ['--offline'],
      { OPENAI_API_KEY: 'k', OPENAI_MODEL: 'a' },
      { settings: { model: { apiKey: undefined } } },
    ],
  ])('%j with %j', (args, environment, expected) => {
    expect(readCommand(args, environment)).toMatchObject(expected);
  });

  test.each<[readonly string[], Record<string, string>, string]>([
    [['--promt', 'x'], {}, "Unknown option '--promt'"],
    [['extra'], {}, "Unexpected argument 'extra'"],
    [['--port'], {}, "'--port <value>' argument missing"],
    [['--port', '99999'], {}, '--port must be a number from 0 to 65535, found "99999"'],
    [[], { PORT: 'x' }, 'PORT must be a number'],
    [[], { PARCEL_SECONDS: 'x' }, 'PARCEL_SECONDS must be a number'],
    [['--prompt', ' '], {}, '--prompt must not be empty'],
    [['--prompt', 'x', '--port', '1'], {}, '--port is for the page'],
    [['--approve'], {}, 'Pass --approve and --deny with --session'],
    [['-s', 'one', '-p', 'x', '--deny'], {}, 'without --prompt'],
    [['-s', 'one', '--approve', '--deny'], {}, 'Pass --approve or --deny, not both'],
    [['--store', 'tape'], {}, '--store must be one of sqlite, memory, redis, dynamodb, found "tape"'],
    [['--model', 'x'], {}, 'set OPENAI_API_KEY'],
    [[], { OPENAI_API_KEY: 'a b' }, 'OPENAI_API_KEY holds characters that no key has'],
    [
      [],
      { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'localhost' },
      'OPENAI_BASE_URL must be an http or https address',
    ],
  ])('%j with %j is refused', (args, environment, message) => {
    expect(() => readCommand(args, environment)).toThrow(message);
  });
});

describe.concurrent('the process', () => {
  test('--help lists every option', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: helpText, stderr: '' });
    for (const option of [
      'prompt',
      'session',
      'approve',
      'deny',
      'port',
      'data',
      'store',
      'model',
      'offline',
      'help',
    ]) {
      expect(stdout).toContain(`--${option}`);
    }
  });

  test('a wrong option', async () => {
    expect(await run(['--wrong'])).toEqual({
      code: 2,
      stdout: '',
      stderr: "Unknown option '--wrong'.\nTry --help.\n",
    });
  });

  test('a taken port', async ({ onTestFinished }) => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { code, stdout, stderr } = await run(['--data', await dataFolder(), '--port', String(port)]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`Port ${port} is taken.`);
    expect(stderr).toContain('--port 0');
  });

  test.each([
    ['--prompt', 'hi'],
    ['--port', '0'],
  ])('a data file that is no database, with %s', async (...args) => {
    const data = await dataFolder();
    await writeFile(join(data, 'sessions.db'), 'This is a text and no database at all.'.repeat(40));
    const { code, stdout, stderr } = await run(['--data', data, ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('sessions.db');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('a data folder that is a file', async () => {
    const data = join(await dataFolder(), 'file');
    await writeFile(data, '');
    const { code, stderr } = await run(['--data', data, '--prompt', 'hi']);
    expect(code).toBe(1);
    expect(stderr).toContain(data);
  });

  test.each([
    ['SIGINT', 'sources'],
    ['SIGTERM', 'bundle'],
  ] as const)('%s ends the server in order, started from its %s', async (signal, form) => {
    const { playground, url } = await serve(['--data', await dataFolder(), '--port', '0'], {}, form);
    expect((await fetch(new URL('/app.js', url))).status).toBe(200);
    expect(await playground.kill(signal)).toBe(0);
    expect(playground.stdout.trim().split('\n')).toHaveLength(1);
    expect(playground.stderr).toBe('');
  });
});

test.skipIf(process.platform === 'win32')(
  'the data folder and all that is in it belong to the user of the process alone',
  async () => {
    const data = join(await dataFolder(), 'new');
    for (const prompt of ['note that the key is under the mat', 'send a parcel with a book to Ann'])
      expect(await run(['--data', data, '--offline', '--prompt', prompt])).toMatchObject({ code: 0 });
    const names = ['', ...(await readdir(data, { recursive: true }))];
    const modes = await Promise.all(names.map(async (name) => [name, await stat(join(data, name))] as const));
    expect(names).toEqual(expect.arrayContaining(['sessions.db', 'live.db', 'notes', 'outbox.txt']));
    for (const [name, found] of modes)
      expect([name, (found.mode & 0o777).toString(8)]).toEqual([name, found.isDirectory() ? '700' : '600']);
  },
);
