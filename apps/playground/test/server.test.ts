import { request } from 'node:http';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SessionView } from '../src/session-view.ts';
import { allChunks, ChatClient, chunksOf, collect, message, textIn } from './support/chat-client.ts';
import { dataFolder, endlessParcels, run, serve } from './support/playground-process.ts';

let data: string;
let served: Awaited<ReturnType<typeof serve>>;
let client: ChatClient;

beforeAll(async () => {
  data = await dataFolder();
  served = await serve(['--data', data, '--port', '0']);
  client = new ChatClient(served.url);
}, 40_000);

/** Starts a parcel and waits until the tool runs; `chunks` is the rest of the stream. */
async function withParcelUnderWay(item: string, at: ChatClient) {
  const sessionId = await at.create();
  return { sessionId, chunks: await untilToolRuns(await at.say(sessionId, `send a ${item} to Ann`)) };
}

/** Reads a stream up to a running tool; returns the rest of it. */
async function untilToolRuns(response: Response): Promise<ReturnType<typeof chunksOf>> {
  const chunks = chunksOf(response);
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    if (next.value.type === 'data-state' && isRunningTool(next.value.data as SessionView)) return chunks;
  }
  throw new Error('No tool ran.');
}

function isRunningTool({ execution }: SessionView): boolean {
  return execution?.tools.some(({ outcome }) => outcome === 'running') ?? false;
}

async function outbox(): Promise<string> {
  return readFile(join(data, 'outbox.txt'), 'utf8').catch(() => '');
}

describe.concurrent('the API', { timeout: 40_000 }, () => {
  test('a conversation: create, chat, list, fork, delete', async () => {
    const sessionId = await client.create();
    const response = await client.say(sessionId, 'what is 17 * 23? remember it');
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    const chunks = await allChunks(response);
    expect(textIn(chunks)).toContain('17 * 23 = 391.');
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
    const states = chunks.flatMap((chunk) =>
      chunk.type === 'data-state' ? [chunk.data as SessionView] : [],
    );
    expect(new Set(states.map(({ version }) => version))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7]));
    expect(states.at(-1)).toMatchObject({ isRunning: false, executionStatus: 'completed' });

    const { session, messages } = await client.session(sessionId);
    expect(session).toEqual(states.at(-1));
    expect(session.execution).toMatchObject({ decision: 'stop: nothing left to do', spent: { steps: 3 } });
    expect(session.execution?.tools.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['calculator', 'succeeded'],
      ['notebook_write', 'succeeded'],
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);

    const { value: fork, status } = await client.json('POST', `/api/sessions/${sessionId}/fork`);
    const forkId = (fork as SessionView).sessionId;
    expect({ fork, status }).toMatchObject({ status: 201, fork: { forkedFrom: sessionId, isFork: true } });
    expect((await client.session(forkId)).messages).toEqual(messages);
    const listed = (await client.json('GET', '/api/sessions')).value as { sessions: readonly SessionView[] };
    const known = listed.sessions.filter((each) => each.sessionId === forkId || each.sessionId === sessionId);
    expect(known).toMatchObject([
      { sessionId: forkId, version: 1, isFork: true },
      { sessionId, version: 7, title: 'what is 17 * 23? remember it' },
    ]);

    expect(await client.json('DELETE', `/api/sessions/${forkId}`)).toEqual({
      status: 200,
      value: { deleted: forkId },
    });
    expect((await client.json('GET', `/api/sessions/${forkId}`)).status).toBe(404);
    expect((await client.json('DELETE', `/api/sessions/${forkId}`)).status).toBe(404);
    expect((await client.json('GET', `/api/sessions/${sessionId}/raw`)).value).toMatchObject({
      format: 'holdfast/agent-session',
    });
  });

  test('a session has one run at a time, cannot be deleted during it, and saves a stop', async () => {
    const path = await dataFolder();
    const own = new ChatClient((await serve(['--data', path, '--port', '0'], endlessParcels)).url);
    const { sessionId, chunks } = await withParcelUnderWay('vase', own);
    const second = await own.json('POST', `/api/sessions/${sessionId}/chat`, message('hello'));
    expect(second).toEqual({
      status: 409,
      value: { error: expect.stringContaining('run in progress') },
    });
    expect((await own.json('POST', `/api/sessions/${sessionId}/resume`)).status).toBe(409);
    expect((await own.json('DELETE', `/api/sessions/${sessionId}`)).status).toBe(409);
    const stopping = own.json('POST', `/api/sessions/${sessionId}/stop`);
    const rest = await collect(chunks);
    expect(rest.at(-1)).toMatchObject({ type: 'abort' });
    expect(await stopping).toEqual({ status: 200, value: { stopped: true } });
    const { session } = await own.session(sessionId);
    expect(session).toMatchObject({ executionStatus: 'stopped', isRunning: false, isUnfinished: false });
    expect(session.execution?.signals).toMatchObject([{ reason: 'userRequested' }]);
    expect(session.execution?.tools).toMatchObject([{ outcome: 'interrupted' }]);
    await expect(readFile(join(path, 'outbox.txt'))).rejects.toThrow('ENOENT');
    expect(await own.json('POST', `/api/sessions/${sessionId}/stop`)).toEqual({
      status: 200,
      value: { stopped: false },
    });
  });

  test('a run continues when its reader leaves, and a late reader gets all of it', async () => {
    const { sessionId, chunks } = await withParcelUnderWay('lamp', client);
    await chunks.return(undefined);
    const late = await allChunks(await client.call('GET', `/api/sessions/${sessionId}/stream`));
    expect(late.map(({ type }) => type)).toContain('tool-input-available');
    expect(textIn(late)).toContain('Sent to Ann: lamp');
    expect(late.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
    expect(await outbox()).toContain('\tlamp\tto Ann\n');
    const after = await client.call('GET', `/api/sessions/${sessionId}/stream`);
    expect(after.status).toBe(204);
  });

  test('a call that waits for approval survives the server, and has one decision', async () => {
    const path = await dataFolder();
    const first = await serve(['--data', path, '--port', '0']);
    const before = new ChatClient(first.url);
    const sessionId = await before.create();
    const asked = await allChunks(await before.say(sessionId, 'pay Ann 250 euros'));
    expect(asked.at(-1)).toMatchObject({ type: 'finish' });
    await first.playground.kill('SIGKILL');

    const own = new ChatClient((await serve(['--data', path, '--port', '0'])).url);
    const { session, messages } = await own.session(sessionId);
    expect(session).toMatchObject({ executionStatus: 'suspended', isRunning: false, isUnfinished: false });
    expect(session.execution?.tools).toMatchObject([{ name: 'pay', outcome: 'waiting' }]);
    const toolExecutionId = session.execution?.tools[0]?.id;
    const part = messages[1]?.parts.find((one) => 'state' in one && one.state === 'approval-requested');
    const approvalId = part && 'approval' in part ? part.approval?.id : undefined;
    expect(approvalId).toMatch(new RegExp(`^${toolExecutionId}@\\d+$`));
    const decide = `/api/sessions/${sessionId}/decide`;
    expect((await own.json('POST', decide, { approvalId })).status).toBe(400);
    for (const other of ['x', toolExecutionId, `${toolExecutionId}@1`])
      expect((await own.json('POST', decide, { approvalId: other, approved: true })).status).toBe(409);
    const chunks = await allChunks(await own.call('POST', decide, { approvalId, approved: true }));
    expect(chunks.map(({ type }) => type)).not.toContain('tool-input-available');
    expect(textIn(chunks)).toContain('Paid to Ann: 250 euros');
    expect((await own.json('POST', decide, { approvalId, approved: true })).status).toBe(409);
    expect(await readFile(join(path, 'payments.txt'), 'utf8')).toBe(`${toolExecutionId}\t250\tto Ann\n`);
  });

  test('the memory store has its sessions until the server ends', async () => {
    const path = await dataFolder();
    const own = new ChatClient((await serve(['--data', path, '--port', '0', '--store', 'memory'])).url);
    const sessionId = await own.create();
    await allChunks(await own.say(sessionId, 'what is 2 + 2?'));
    expect((await own.session(sessionId)).session).toMatchObject({ executionStatus: 'completed' });
    expect(await readdir(path)).toEqual([]);
  });

  test.each<[string, string, unknown, number, string]>([
    ['no message', '/chat', {}, 400, 'needs a "message"'],
    ['an assistant', '/chat', { message: { role: 'assistant', parts: [] } }, 400, 'needs a "message"'],
    ['nothing said', '/chat', message('  '), 400, 'empty'],
    [
      'a file',
      '/chat',
      { message: { role: 'user', parts: [{ type: 'file', url: 'x' }] } },
      400,
      'Send only text',
    ],
    ['a long text', '/chat', message('x'.repeat(20_001)), 400, 'at most 20000'],
    ['no JSON', '/chat', '{', 400, 'not valid JSON'],
    ['no object', '/chat', '[]', 400, 'must be a JSON object'],
    ['too much', '/chat', JSON.stringify('x'.repeat(100_001)), 413, 'longer than'],
    ['nothing to resume', '/resume', undefined, 409, 'no unfinished run'],
    ['an unknown action', '/dance', undefined, 404, 'Unknown address: POST'],
  ])('%s is refused', async (_, action, body, status, error) => {
    const sessionId = await client.create();
    const answer = await client.json('POST', `/api/sessions/${sessionId}${action}`, body);
    expect(answer).toEqual({ status, value: { error: expect.stringContaining(error) } });
  });

  test('an unknown session', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/raw'],
      ['POST', '/fork'],
      ['POST', '/resume'],
    ] as const) {
      expect((await client.json(method, `/api/sessions/nope${path}`)).status).toBe(404);
    }
    expect((await client.json('POST', '/api/sessions/nope/chat', message('hi'))).status).toBe(404);
    expect((await client.json('GET', '/api/sessions/%E0%A4%A')).status).toBe(400);
  });
});

describe('the request guard', () => {
  test.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('a write with %j is refused', async (headers) => {
    const response = await client.call('POST', '/api/sessions', undefined, headers);
    expect(response.status).toBe(403);
  });

  test('a body that a form could send is refused', async () => {
    const sessionId = await client.create();
    const path = `/api/sessions/${sessionId}/chat`;
    const response = await client.call('POST', path, message('hi'), { 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
  });

  test('a host name of another machine is refused', async () => {
    expect(await statusFor('evil.example')).toBe(403);
    expect(await statusFor('localhost')).toBe(200);
  });

  test('the page has a strict policy, and is cached', async () => {
    const page = await client.call('GET', '/');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const etag = page.headers.get('etag') ?? '';
    expect((await client.call('GET', '/', undefined, { 'if-none-match': etag })).status).toBe(304);
  });
});

function statusFor(host: string): Promise<number | undefined> {
  const { port } = new URL(served.url);
  return new Promise((resolve, reject) => {
    request(
      { port, host: '127.0.0.1', path: '/api/model', headers: { host: `${host}:${port}` } },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    )
      .on('error', reject)
      .end();
  });
}

describe.concurrent('a server that ends', { timeout: 60_000 }, () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'by %s leaves a run that another process finishes',
    async (signal) => {
      const path = await dataFolder();
      const environment = signal === 'SIGKILL' ? endlessParcels : {};
      const { playground, url } = await serve(['--data', path, '--port', '0'], environment);
      const own = new ChatClient(url);
      const sessionId = await own.create();
      await allChunks(await own.say(sessionId, 'what is 17 * 23? remember it'));
      await untilToolRuns(await own.say(sessionId, 'send a book to Ann'));
      await playground.kill(signal);
      const finished = await run(['--data', path, '--session', sessionId]);
      expect(finished).toMatchObject({ code: 0, stderr: '' });
      expect(finished.stdout).toContain('Sent to Ann: book');
      const lines = (await readFile(join(path, 'outbox.txt'), 'utf8')).trim().split('\n');
      expect(lines).toHaveLength(1);
    },
  );
});
