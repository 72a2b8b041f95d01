import { tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { messageBody, requestOf, send, sessionOf } from '../support/chat-requests.ts';
import { chatWorld, type ChatWorld } from '../support/chat-world.ts';

const pay = (calls: unknown[] = []) =>
  tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => (calls.push('paid'), 'paid'),
  });
const ask = tool({
  name: 'ask',
  description: 'Asks.',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
});

/** A chat whose run waits for an approval. */
async function waitingWorld(calls: unknown[] = []): Promise<{ world: ChatWorld; approvalId: string }> {
  const driver = scriptedDriver({ calls: [['pay', { euros: 5 }]] }, 'Done.');
  const handler = { mayDecide: () => true };
  const world = await chatWorld({ driver, tools: [pay(calls)] }, { handler });
  await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Pay.') });
  const part = (await world.saved('c1')).at(-1)?.parts.at(-1) as { approval: { id: string } };
  return { world, approvalId: part.approval.id };
}

function decisionBody(chatId: string, id: unknown, approved: unknown = true): object {
  const part = { type: 'tool-pay', toolCallId: 'x', state: 'approval-responded', approval: { id, approved } };
  return { id: chatId, trigger: 'submit-message', message: { id: 'a', role: 'assistant', parts: [part] } };
}

const error = (code: string) => ({ error: { code, message: expect.any(String) as string } });

describe('a request that is refused', () => {
  const message = (parts: unknown, id: unknown = 'm1', role = 'user') => ({
    id: 'c1',
    trigger: 'submit-message',
    message: { id, role, parts },
  });
  const text = [{ type: 'text', text: 'Hi.' }];

  test.each<[string, unknown]>([
    ['no object', []],
    ['no JSON', '{'],
    ['no trigger', { id: 'c1', message: message(text) }],
    ['no message', { id: 'c1', trigger: 'submit-message' }],
    ['a message that is no object', { id: 'c1', trigger: 'submit-message', message: 'Hi.' }],
    ['the role system', message(text, 'm1', 'system')],
    ['the role tool', message(text, 'm1', 'tool')],
    ['no parts', message(undefined)],
    ['an empty text', message([{ type: 'text', text: '  ' }])],
    ['a text that is no text', message([{ type: 'text', text: 5 }])],
    ['an unknown part', message([{ type: 'tool-pay', text: 'x' }])],
    ['only data', message([{ type: 'data-place', data: 1 }])],
    ['data without data', message([...text, { type: 'data-place' }])],
    ['no id', message(text, null)],
    ['a number as id', message(text, 5)],
    ['an empty id', message(text, '')],
    ['a long id', message(text, 'm'.repeat(201))],
    ['an id with NUL', message(text, 'm\0')],
    ['a chat id that no URL can have', messageBody('..', 'm1', 'Hi.')],
    ['an id with a lone surrogate', message(text, '\ud800')],
    ['a chat id with a lone surrogate', { ...message(text), id: '\udc00' }],
    ['a long chat id', { ...message(text), id: 'c'.repeat(201) }],
    ['no chat id', { ...message(text), id: undefined }],
    ['a file without a type', message([{ type: 'file', url: 'data:image/png;base64,AAAA' }])],
    [
      'a file of this machine',
      message([{ type: 'file', mediaType: 'image/png', url: 'file:///etc/passwd' }]),
    ],
    ['a file of a server', message([{ type: 'file', mediaType: 'image/png', url: 'https://10.0.0.1/x' }])],
    [
      'a file that is not base64',
      message([{ type: 'file', mediaType: 'image/png', url: 'data:image/png,x' }]),
    ],
    ['a decision without an id', decisionBody('c1', 5)],
    ['a decision that decides nothing', decisionBody('c1', 'a', 'yes')],
  ])('has %s', async (_, body) => {
    await using world = await chatWorld({ driver: scriptedDriver() });
    const reply = await send(world.handler, 'POST', '', { body });
    expect(reply).toEqual({ status: 400, json: error('CHAT_REQUEST_INVALID') });
    expect((await world.runtime.list()).sessions).toEqual([]);
  });

  test.each([
    ['PUT', '/c1'],
    ['GET', ''],
    ['POST', '/c1'],
    ['DELETE', ''],
    ['GET', '/c1/stop'],
    ['GET', '/c1/stream/more'],
    ['GET', '/c1/constructor'],
  ])('is %s %s', async (method, path) => {
    await using world = await chatWorld({ driver: scriptedDriver() });
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
    const reply = await send(world.handler, method, path, body);
    expect(reply).toEqual({ status: 405, json: error('CHAT_METHOD_UNKNOWN') });
  });

  test('has a body of another type', async () => {
    await using world = await chatWorld({ driver: scriptedDriver() });
    const headers = { 'content-type': 'text/plain' };
    const body = messageBody('c1', 'm1', 'Hi.');
    const reply = await send(world.handler, 'POST', '', { body, headers });
    expect(reply).toEqual({ status: 415, json: error('CHAT_TYPE_UNKNOWN') });
  });

  test('is not from a user', async () => {
    await using world = await chatWorld(
      { driver: scriptedDriver() },
      { handler: { authorize: () => undefined } },
    );
    const reply = await send(world.handler, 'GET', '/c1');
    expect(reply).toEqual({ status: 401, json: error('CHAT_UNAUTHORIZED') });
  });

  test('is answered by authorize itself', async () => {
    const authorize = () => Promise.reject(Response.redirect('https://login.example/', 303));
    const allowedOrigins = ['https://app.example'];
    const handler = { authorize, allowedOrigins };
    await using world = await chatWorld({ driver: scriptedDriver() }, { handler });
    expect((await world.handler(requestOf('GET', '/c1'))).status).toBe(303);
  });

  test('is answered by authorize itself, also for a page of an allowed origin', async () => {
    const origin = 'https://app.example';
    const authorize = () => Promise.reject(Response.redirect('https://login.example/', 303));
    const handler = { authorize, allowedOrigins: [origin] };
    await using world = await chatWorld({ driver: scriptedDriver() }, { handler });
    const response = await world.handler(requestOf('GET', '/c1', undefined, { origin }));
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('https://login.example/');
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
  });
});

describe('a body that is too large', () => {
  const limits = { bodyBytes: 1_000 };

  test('is refused by its length, before it is read', async () => {
    await using world = await chatWorld({ driver: scriptedDriver() }, { handler: { limits } });
    const body = messageBody('c1', 'm1', 'x'.repeat(1_000));
    const headers = { 'content-length': '1200' };
    const reply = await send(world.handler, 'POST', '', { body, headers });
    expect(reply).toEqual({ status: 413, json: error('CHAT_BODY_TOO_LARGE') });
  });

  test('is read no further than the limit', async () => {
    await using world = await chatWorld({ driver: scriptedDriver() }, { handler: { limits } });
    let pulls = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulls++;
        controller.enqueue(new Uint8Array(100).fill(0x20));
      },
    });
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const response = await world.handler(new Request('https://chat.example/api/chat', init));
    expect(response.status).toBe(413);
    expect(pulls).toBeLessThan(20);
  });
});

describe('another owner', () => {
  const as = (owner: string) => ({ headers: { authorization: owner } });
  const authorize = (request: Request) => ({ owner: request.headers.get('authorization') ?? 'ada' });

  test.each(['c1', 'ada%2Fc1', '..%2Fada%2Fc1', 'ada%252Fc1'])('finds nothing as %s', async (path) => {
    await using world = await chatWorld({ driver: scriptedDriver('Hi.') }, { handler: { authorize } });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Hi.'), ...as('ada') });
    const before = await world.saved('c1');
    for (const owner of ['eve', 'ad', 'ada/c1', '']) {
      const found = await world.handler(requestOf('GET', `/${path}`, undefined, as(owner).headers));
      expect(await found.text()).not.toContain('Hi.');
      const stream = await world.handler(requestOf('GET', `/${path}/stream`, undefined, as(owner).headers));
      expect(stream.status).not.toBe(200);
      const watched = await world.handler(requestOf('GET', `/${path}/watch`, undefined, as(owner).headers));
      expect(watched.status).not.toBe(200);
      await send(world.handler, 'POST', `/${path}/stop`, { body: {}, ...as(owner) });
      await send(world.handler, 'POST', `/${path}/fork`, { body: { chatId: 'mine' }, ...as(owner) });
      await send(world.handler, 'DELETE', `/${path}`, as(owner));
    }
    expect(await world.saved('c1')).toEqual(before);
  });

  test('gets a chat of its own under the same id', async () => {
    await using world = await chatWorld({ driver: scriptedDriver('A.', 'E.') }, { handler: { authorize } });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Ada.'), ...as('ada') });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Eve.'), ...as('eve') });
    const { sessions } = await world.runtime.list();
    expect(sessions.map(({ sessionId }) => sessionId).toSorted()).toEqual(['ada/c1', 'eve/c1']);
  });

  test('cannot use a session that an own naming of sessions shares', async () => {
    const handler = { authorize, sessionIdOf: ({ chatId }: { readonly chatId: string }) => chatId };
    await using world = await chatWorld({ driver: scriptedDriver('A.') }, { handler });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Ada.'), ...as('ada') });
    const reply = await send(world.handler, 'POST', '', {
      body: messageBody('c1', 'm2', 'Eve.'),
      ...as('eve'),
    });
    expect(reply).toEqual({ status: 404, json: error('CHAT_NOT_FOUND') });
  });

  test('shows no reader the session that it creates under the id of a deleted one', async () => {
    const handler = { authorize, sessionIdOf: ({ chatId }: { readonly chatId: string }) => chatId };
    await using world = await chatWorld({ driver: scriptedDriver('A.', 'E.') }, { handler });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Ada.'), ...as('ada') });
    const watched = await world.handler(requestOf('GET', '/c1/watch', undefined, as('ada').headers));
    const reader = watched.body?.pipeThrough(new TextDecoderStream()).getReader();
    let first = '';
    while (!first.includes('"isAtWork":false')) first += (await reader?.read())?.value ?? '';
    await send(world.handler, 'DELETE', '/c1', as('ada'));
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Eve.'), ...as('eve') });
    let seen = '';
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read())
      seen += part.value;
    expect(seen.replaceAll(/^:.*$/gmu, '').trim()).toBe('');
  });
});

describe('decisions and answers', () => {
  test('that are forged change nothing', async () => {
    const { world, approvalId } = await waitingWorld();
    await using _ = world;
    const version = (await world.runtime.get(sessionOf('c1'))).version;
    for (const id of ['x', `${approvalId}:2`, approvalId.split(':')[0]]) {
      const reply = await send(world.handler, 'POST', '', { body: decisionBody('c1', id) });
      expect(reply.status).toBe(200);
      expect(reply.json).toContain('"finishReason":"tool-calls"');
    }
    expect((await world.runtime.get(sessionOf('c1'))).version).toBe(version);
  });

  test('count once, however often they are sent', async () => {
    const calls: unknown[] = [];
    const { world, approvalId } = await waitingWorld(calls);
    await using _ = world;
    const both = [true, true, false].map((approved) =>
      send(world.handler, 'POST', '', { body: decisionBody('c1', approvalId, approved) }),
    );
    await Promise.allSettled(both);
    await send(world.handler, 'POST', '', { body: decisionBody('c1', approvalId) });
    expect(calls.length).toBeLessThanOrEqual(1);
    expect((await world.runtime.get(sessionOf('c1'))).state.finalResponse).toBe('Done.');
  });

  test('that are an answer for a tool of the server change nothing', async () => {
    const calls: unknown[] = [];
    const { world } = await waitingWorld(calls);
    await using _ = world;
    const { state } = await world.runtime.get(sessionOf('c1'));
    const toolCallId = state.currentStep?.toolExecutions[0]?.call.toolCallId;
    const part = { type: 'tool-pay', toolCallId, state: 'output-available', output: 'paid' };
    const message = { id: 'a', role: 'assistant', parts: [part] };
    await send(world.handler, 'POST', '', { body: { id: 'c1', trigger: 'submit-message', message } });
    expect((await world.runtime.get(sessionOf('c1'))).state.status).toBe('suspended');
  });

  test('that do not fit the schema of the tool are refused, and the call still waits', async () => {
    const driver = scriptedDriver({ calls: [['ask', {}]] }, 'Done.');
    await using world = await chatWorld({ driver, tools: [ask] });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Ask.') });
    const { state } = await world.runtime.get(sessionOf('c1'));
    const toolCallId = state.currentStep?.toolExecutions[0]?.call.toolCallId;
    const bodyOf = (output: unknown) => ({
      id: 'c1',
      trigger: 'submit-message',
      message: {
        id: 'a',
        role: 'assistant',
        parts: [{ type: 'tool-ask', toolCallId, state: 'output-available', output }],
      },
    });
    const refused = await send(world.handler, 'POST', '', { body: bodyOf({ place: 5 }) });
    expect(refused).toEqual({ status: 400, json: error('CHAT_REQUEST_INVALID') });
    await send(world.handler, 'POST', '', { body: bodyOf({ place: 'Flåm' }) });
    expect((await world.runtime.get(sessionOf('c1'))).state.finalResponse).toBe('Done.');
  });
});

describe('origins', () => {
  const body = messageBody('c1', 'm1', 'Hi.');
  const allowedOrigins = ['https://app.example'];

  test.each([
    ['the same origin', { origin: 'https://chat.example', host: 'chat.example' }, 200],
    [
      'the same site, as the browser says',
      { origin: 'https://chat.example', 'sec-fetch-site': 'same-origin' },
      200,
    ],
    ['another program', {}, 200],
    ['an allowed origin', { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' }, 200],
    ['another origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 403],
    ['another origin, in an old browser', { origin: 'https://evil.example', host: 'chat.example' }, 403],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
    ['another origin of the site', { origin: 'https://x.chat.example', 'sec-fetch-site': 'same-site' }, 403],
  ])('%s', async (_, headers: Record<string, string>, status) => {
    await using world = await chatWorld({ driver: scriptedDriver('Hi.') }, { handler: { allowedOrigins } });
    expect((await send(world.handler, 'POST', '', { body, headers })).status).toBe(status);
  });

  test('an allowed origin may read the response, and asks first', async () => {
    await using world = await chatWorld({ driver: scriptedDriver() }, { handler: { allowedOrigins } });
    const headersFor = async (method: string, origin: string) =>
      (await world.handler(requestOf(method, '/c1', undefined, { origin }))).headers;
    const allowed = await headersFor('OPTIONS', 'https://app.example');
    expect(allowed.get('access-control-allow-origin')).toBe('https://app.example');
    expect(allowed.get('access-control-allow-methods')).toContain('POST');
    expect((await headersFor('GET', 'https://app.example')).get('access-control-allow-origin')).toBe(
      'https://app.example',
    );
    expect(
      (await headersFor('OPTIONS', 'https://evil.example')).get('access-control-allow-origin'),
    ).toBeNull();
  });
});

describe('limits of one owner', () => {
  test('requests in a minute', async () => {
    const limits = { requestsPerMinute: 2 };
    await using world = await chatWorld({ driver: scriptedDriver() }, { handler: { limits } });
    const statuses = [];
    for (let count = 0; count < 3; count++)
      statuses.push((await send(world.handler, 'DELETE', '/c1')).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('open streams, which closed ones give back', async () => {
    const limits = { streams: 2 };
    await using world = await chatWorld({ driver: scriptedDriver('Hi.') }, { handler: { limits } });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Hi.') });
    const watch = () => world.handler(requestOf('GET', '/c1/watch'));
    const [one, two] = [await watch(), await watch()];
    expect((await watch()).status).toBe(429);
    await one.body?.cancel();
    const three = await watch();
    expect(three.status).toBe(200);
    await two.body?.cancel();
    await three.body?.cancel();
  });
});

describe('a service that is down', () => {
  test('replies 503, and the repeated request works', async () => {
    const failures: unknown[] = [];
    const onError = (failure: unknown) => void failures.push(failure);
    let isDown = true;
    const engine = {
      wake: async () => {
        if (isDown) throw new Error('The queue at queue:6379 with password hunter2 is down.');
      },
    };
    await using world = await chatWorld({ driver: scriptedDriver('Hi.') }, { handler: { onError, engine } });
    const body = messageBody('c1', 'm1', 'Hi.');
    const reply = await send(world.handler, 'POST', '', { body });
    expect(reply).toEqual({ status: 503, json: error('CHAT_UNAVAILABLE') });
    expect(JSON.stringify(reply.json)).not.toContain('hunter2');
    expect(failures).toHaveLength(1);
    isDown = false;
    const response = await world.handler(requestOf('POST', '', body));
    expect(response.status).toBe(200);
    await world.runtime.advance(sessionOf('c1'));
    await response.text();
    expect((await world.saved('c1')).length).toBe(2);
  });

  test('does not show an unknown error', async () => {
    const agent = () => {
      throw new Error('password hunter2');
    };
    await using world = await chatWorld({ driver: scriptedDriver() }, { handler: { agent } });
    const reply = await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Hi.') });
    expect(reply).toEqual({ status: 500, json: error('CHAT_FAILED') });
    expect(JSON.stringify(reply.json)).not.toContain('hunter2');
  });
});
