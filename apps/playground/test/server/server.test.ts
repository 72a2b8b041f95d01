import { request, type RequestOptions } from 'node:http';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SessionView } from '../../src/view/session-view.ts';
import { ChatClient, chunksOf, collect, decision, message, textIn } from '../support/chat-client.ts';
import { dataFolder, endlessParcels, run, serve } from '../support/playground-process.ts';

let data: string;
let served: Awaited<ReturnType<typeof serve>>;
let client: ChatClient;

beforeAll(async () => {
  data = await dataFolder();
  served = await serve(['--data', data, '--port', '0']);
  client = new ChatClient(served.url);
});

/** Starts a parcel and waits until the tool runs; `chunks` is the rest of the stream. */
async function withParcelUnderWay(item: string, at: ChatClient) {
  const sessionId = randomUUID();
  const chunks = chunksOf(await at.say(sessionId, `send a ${item} to Ann`));
  await at.viewWhere(sessionId, isToolRunning);
  return { sessionId, chunks };
}

function isToolRunning({ tools }: SessionView): boolean {
  return tools.some(({ outcome }) => outcome === 'running');
}

async function outbox(): Promise<string> {
  return readFile(join(data, 'outbox.txt'), 'utf8').catch(() => '');
}

const refused = (message: string) => ({
  error: { code: expect.any(String) as string, message: expect.stringContaining(message) as string },
});

describe.concurrent('the API', () => {
  test('a conversation: chat, list, fork, delete', async () => {
    const sessionId = randomUUID();
    const response = await client.say(sessionId, 'what is 17 * 23? remember it');
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    const chunks = await collect(chunksOf(response));
    expect(textIn(chunks)).toContain('17 * 23 = 391.');
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });

    const view = await client.view(sessionId);
    expect(view).toMatchObject({
      isRunning: false,
      executionStatus: 'completed',
      title: 'what is 17 * 23? remember it',
      execution: { decision: 'stop: nothing left to do', spent: { steps: 3 } },
    });
    expect(view.tools.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['calculator', 'succeeded'],
      ['notebook_write', 'succeeded'],
    ]);
    const messages = await client.messages(sessionId);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);

    const forkId = randomUUID();
    const forked = await client.json('POST', `/api/chat/${sessionId}/fork`, { chatId: forkId });
    expect(forked).toEqual({ status: 201, value: { chatId: forkId } });
    expect(await client.view(forkId)).toMatchObject({ forkedFrom: sessionId, isFork: true });
    expect(await client.messages(forkId)).toMatchObject(messages.map(({ role }) => ({ role })));
    const listed = (await client.json('GET', '/api/sessions')).value as { sessions: readonly SessionView[] };
    const known = listed.sessions.filter((each) => each.sessionId === forkId || each.sessionId === sessionId);
    expect(known).toMatchObject([
      { sessionId: forkId, version: 1, isFork: true },
      { sessionId, version: view.version, title: 'what is 17 * 23? remember it', isFork: false },
    ]);

    const stored = view.messages.at(-1)?.id ?? '';
    const content = await client.json('GET', `/api/sessions/${sessionId}/messages/${stored}`);
    expect(content.value).toMatchObject({ id: stored, role: 'assistant' });
    expect((await client.json('GET', `/api/sessions/${sessionId}/raw`)).value).toMatchObject({
      format: 'holdfast/agent-session',
    });
    const remove = () => client.json('DELETE', `/api/chat/${forkId}`);
    expect(await remove()).toEqual({ status: 200, value: { isDeleted: true } });
    expect(await remove()).toEqual({ status: 200, value: { isDeleted: false } });
    expect((await client.json('GET', `/api/sessions/${forkId}/raw`)).status).toBe(404);
  });

  test('a stop is saved, and no tool has an effect after it', async () => {
    const path = await dataFolder();
    const own = new ChatClient((await serve(['--data', path, '--port', '0'], endlessParcels)).url);
    const { sessionId, chunks } = await withParcelUnderWay('vase', own);
    const stop = () => own.json('POST', `/api/chat/${sessionId}/stop`, {});
    expect(await stop()).toEqual({ status: 200, value: { isStopping: true } });
    expect((await collect(chunks)).at(-1)).toMatchObject({ type: 'finish', finishReason: 'interrupted' });
    const view = await own.view(sessionId);
    expect(view).toMatchObject({ executionStatus: 'stopped', isRunning: false });
    expect(view.execution?.signals).toMatchObject([{ reason: 'userRequested' }]);
    expect(view.tools).toMatchObject([{ outcome: 'interrupted' }]);
    await expect(readFile(join(path, 'outbox.txt'))).rejects.toThrow('ENOENT');
    expect(await stop()).toEqual({ status: 200, value: { isStopping: false } });
  });

  test('a message during a run waits in the session, and is answered', async () => {
    const { sessionId, chunks } = await withParcelUnderWay('bowl', client);
    const [, all] = await Promise.all([client.ask(sessionId, 'what is 2 + 2?'), collect(chunks)]);
    expect(textIn(all)).toContain('2 + 2 = 4');
    expect(await outbox()).toContain('\tbowl\tto Ann\n');
  });

  test('a run continues when its reader leaves, and a late reader gets all of it', async () => {
    const { sessionId, chunks } = await withParcelUnderWay('lamp', client);
    await chunks.return(undefined);
    const late = await collect(chunksOf(await client.call('GET', `/api/chat/${sessionId}/stream`)));
    expect(late.map(({ type }) => type)).toContain('tool-input-available');
    expect(textIn(late)).toContain('Sent to Ann: lamp');
    expect(late.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
    expect(await outbox()).toContain('\tlamp\tto Ann\n');
    expect((await client.call('GET', `/api/chat/${sessionId}/stream`)).status).toBe(204);
  });

  test('a call that waits for approval survives the server, and has one decision', async () => {
    const path = await dataFolder();
    const first = await serve(['--data', path, '--port', '0']);
    const sessionId = randomUUID();
    const asked = await new ChatClient(first.url).ask(sessionId, 'pay Ann 250 euros');
    expect(asked.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool-calls' });
    await first.playground.kill('SIGKILL');

    const own = new ChatClient((await serve(['--data', path, '--port', '0'])).url);
    const { executionStatus, isRunning, tools } = await own.view(sessionId);
    expect({ executionStatus, isRunning }).toEqual({ executionStatus: 'suspended', isRunning: false });
    expect(tools).toMatchObject([{ name: 'pay', outcome: 'waiting' }]);
    const part = (await own.messages(sessionId))[1]?.parts.find(
      (one) => 'state' in one && one.state === 'approval-requested',
    );
    const approvalId = part && 'approval' in part ? part.approval?.id : undefined;
    const decide = (id: unknown, approved: unknown) =>
      own.call('POST', '/api/chat', decision(sessionId, id, approved));
    expect((await decide(approvalId, 'yes')).status).toBe(400);
    for (const other of ['x', `${approvalId}1`]) await collect(chunksOf(await decide(other, true)));
    expect((await own.view(sessionId)).executionStatus).toBe('suspended');
    expect(textIn(await collect(chunksOf(await decide(approvalId, true))))).toContain(
      'Paid to Ann: 250 euros',
    );
    await collect(chunksOf(await decide(approvalId, true)));
    expect(await readFile(join(path, 'payments.txt'), 'utf8')).toBe(`${tools[0]?.id}\t250\tto Ann\n`);
  });

  test('the memory store has its sessions until the server ends', async () => {
    const path = await dataFolder();
    const own = new ChatClient((await serve(['--data', path, '--port', '0', '--store', 'memory'])).url);
    const sessionId = randomUUID();
    await own.ask(sessionId, 'what is 2 + 2?');
    expect(await own.view(sessionId)).toMatchObject({ executionStatus: 'completed' });
    expect((await own.json('GET', '/api/model')).value).toMatchObject({ store: 'memory' });
    expect(await readdir(path)).toEqual([]);
  });

  const body = (message: object) => ({ id: 'x', trigger: 'submit-message', message });

  test.each<[string, string, unknown, number, string]>([
    ['no message', '', { id: 'x' }, 400, '"trigger"'],
    ['nothing said', '', message('x', '  '), 400, 'a text or a file'],
    [
      'a file of another server',
      '',
      body({ id: '1', role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url: 'https://x/y' }] }),
      400,
      'accepts no other URL',
    ],
    ['no JSON', '', '{', 400, 'JSON object'],
    ['no object', '', '[]', 400, 'JSON object'],
    ['an unknown action', '/nope/dance', {}, 405, 'does not serve'],
  ])('%s is refused', async (_, path, sent, status, text) => {
    expect(await client.json('POST', `/api/chat${path}`, sent)).toEqual({ status, value: refused(text) });
  });

  test('a stop of a chat that does not exist yet stops nothing', async () => {
    const answer = { status: 200, value: { isStopping: false } };
    expect(await client.json('POST', '/api/chat/nope/stop', {})).toEqual(answer);
  });

  test('an unknown session', async () => {
    for (const path of ['/raw', '/messages/x'])
      expect((await client.json('GET', `/api/sessions/nope${path}`)).status).toBe(404);
    expect(await (await client.call('GET', '/api/sessions/nope/view')).text()).toContain('{"type":"gone"}');
    expect((await client.json('GET', '/api/nope')).status).toBe(404);
  });
});

describe('the request guard', () => {
  test.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('a write with %j is refused', async (headers) => {
    const response = await client.call('POST', '/api/chat', message('x', 'hi'), headers);
    expect(response.status).toBe(403);
  });

  test('a body that a form could send is refused', async () => {
    const own = { 'content-type': 'text/plain' };
    const response = await client.call('POST', '/api/chat', message('x', 'hi'), own);
    expect(response.status).toBe(415);
  });

  test('a body that is too large is refused', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(message('x', 'x'.repeat(1_000_001)));
    expect(await statusFor({ method: 'POST', path: '/api/chat', headers }, body)).toBe(413);
  });

  test('a host name of another machine is refused', async () => {
    const { port } = new URL(served.url);
    const statusAs = (name: string) =>
      statusFor({ path: '/api/model', headers: { host: `${name}:${port}` } });
    expect(await statusAs('evil.example')).toBe(403);
    expect(await statusAs('localhost')).toBe(200);
  });

  test('the page has a strict policy, and is cached', async () => {
    const page = await client.call('GET', '/');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const etag = page.headers.get('etag') ?? '';
    expect((await client.call('GET', '/', undefined, { 'if-none-match': etag })).status).toBe(304);
  });
});

/** The status of a reply, over a connection of its own. */
function statusFor(options: RequestOptions, body = ''): Promise<number | undefined> {
  const { port } = new URL(served.url);
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', agent: false, ...options }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end(body);
  });
}

describe.concurrent('a server that ends', () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'by %s leaves a run that another process finishes',
    async (signal) => {
      const path = await dataFolder();
      const environment = signal === 'SIGKILL' ? endlessParcels : {};
      const { playground, url } = await serve(['--data', path, '--port', '0'], environment);
      const own = new ChatClient(url);
      const sessionId = randomUUID();
      await own.ask(sessionId, 'what is 17 * 23? remember it');
      const reading = collect(chunksOf(await own.say(sessionId, 'send a book to Ann'))).catch(() => []);
      await own.viewWhere(sessionId, isToolRunning);
      await playground.kill(signal);
      await reading;
      const finished = await run(['--data', path, '--session', sessionId]);
      expect(finished).toMatchObject({ code: 0, stderr: '' });
      expect(finished.stdout).toContain('Sent to Ann: book');
      const lines = (await readFile(join(path, 'outbox.txt'), 'utf8')).trim().split('\n');
      expect(lines).toHaveLength(1);
    },
  );
});
