import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import dynalite from 'dynalite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChatClient, textIn } from './support/chat-client.ts';
import { dataFolder, run, serve } from './support/playground-process.ts';

const closers: (() => Promise<unknown>)[] = [];
const environment: Record<string, string> = {};

beforeAll(async () => {
  environment['REDIS_URL'] = `redis://127.0.0.1:${await startRedis()}`;
  const database = dynalite({ createTableMs: 0 });
  database.listen(0, '127.0.0.1');
  await once(database, 'listening');
  closers.push(() => new Promise((resolve) => void database.close(resolve)));
  environment['DYNAMODB_ENDPOINT'] = `http://127.0.0.1:${(database.address() as AddressInfo).port}`;
}, 30_000);

afterAll(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A redis-server of this file; the port it is on. */
async function startRedis(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => void probe.close(resolve));
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', await dataFolder()];
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] });
  closers.push(async () => {
    server.kill();
    if (server.exitCode === null) await once(server, 'exit');
  });
  for await (const text of server.stdout) if (String(text).includes('Ready to accept connections')) break;
  server.stdout.resume();
  return port;
}

test.each(['redis', 'dynamodb'])(
  'a session in %s is gone on with by another process',
  { timeout: 60_000 },
  async (store) => {
    const common = ['--data', await dataFolder(), '--store', store];
    const first = await run([...common, '--prompt', 'pay 250 to Ann'], environment);
    expect(first.stdout).toContain('approv');
    const sessionId = /^session (\S+)$/m.exec(first.stdout)?.[1] ?? '';
    const second = await run([...common, '--session', sessionId, '--approve'], environment);
    expect(second).toMatchObject({ code: 0 });
    expect(second.stdout).toContain('Paid to Ann: 250 euros');
  },
);

test.each(['redis', 'dynamodb'])('a chat in %s is served live', { timeout: 60_000 }, async (store) => {
  const args = ['--data', await dataFolder(), '--store', store, '--port', '0'];
  const client = new ChatClient((await serve(args, environment)).url);
  expect(textIn(await client.ask(`chat in ${store}`, 'what is 2 + 2?'))).toContain('2 + 2 = 4');
  const view = await client.viewWhere(encodeURIComponent(`chat in ${store}`), ({ isRunning }) => !isRunning);
  expect(view).toMatchObject({ executionStatus: 'completed', title: 'what is 2 + 2?' });
});
