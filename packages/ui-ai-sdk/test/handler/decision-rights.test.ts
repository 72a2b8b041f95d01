import { tool, type JsonValue } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import type { ChatHandlerOptions } from '@holdfast/ui-ai-sdk/handler';
import { waitsForOthers } from '@holdfast/ui-ai-sdk/transport';
import type { UIMessage } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { messageBody, requestOf, send, sessionOf, type Reply } from '../support/chat-requests.ts';
import { chatWorld, OWNER, type ChatWorld, type TestPage } from '../support/chat-world.ts';
import { PATIENCE } from '../support/patience.ts';

type MayDecide = NonNullable<ChatHandlerOptions['mayDecide']>;
type ToolPart = Extract<UIMessage['parts'][number], { readonly toolCallId: string }>;

const inputSchema = { type: 'object' } as const;
const ask = tool({ name: 'ask', description: 'Asks.', inputSchema });

/** A chat whose run waits for decisions on two calls of `pay`, and for the answer to a question. */
async function waitingWorld(handler: Partial<ChatHandlerOptions> = {}) {
  const paid: unknown[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema,
    needsApproval: true,
    execute: (args) => (paid.push(args), 'paid'),
  });
  const calls: [string, JsonValue][] = [
    ['pay', { euros: 5 }],
    ['pay', { euros: 500 }],
    ['ask', {}],
  ];
  const world = await chatWorld(
    { driver: scriptedDriver({ calls }, 'Done.'), tools: [pay, ask] },
    { handler },
  );
  await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'Pay.') });
  return { world, paid, parts: await partsOf(world) };
}

/** The calls that a page loads. */
async function partsOf({ handler }: ChatWorld): Promise<ToolPart[]> {
  const { messages } = (await send(handler, 'GET', '/c1')).json as { readonly messages: UIMessage[] };
  return messages.flatMap(({ parts }) => parts.filter((part) => 'toolCallId' in part));
}

function decided(part: ToolPart | undefined, approved: boolean, changes: object = {}): object {
  return { ...part, state: 'approval-responded', approval: { id: part?.approval?.id, approved }, ...changes };
}

function answered(part: ToolPart | undefined): object {
  return { ...part, state: 'output-available', output: 'Yes.' };
}

function post({ handler }: ChatWorld, parts: readonly object[]): Promise<Reply> {
  const message = { id: 'a', role: 'assistant', parts };
  return send(handler, 'POST', '', { body: { id: 'c1', trigger: 'submit-message', message } });
}

async function versionOf({ runtime }: ChatWorld): Promise<number> {
  return (await runtime.get(sessionOf('c1'))).version;
}

const error = (code: string) => ({ error: { code, message: expect.any(String) as string } });

describe('a decision that the user may not make', () => {
  test.each<[string, MayDecide | undefined, number, string]>([
    ['no rule', undefined, 403, 'CHAT_DECISION_REFUSED'],
    ['false', () => false, 403, 'CHAT_DECISION_REFUSED'],
    ['a promise of false', async () => false, 403, 'CHAT_DECISION_REFUSED'],
    ['nothing', () => undefined as never, 403, 'CHAT_DECISION_REFUSED'],
    ['a text', () => 'yes' as never, 403, 'CHAT_DECISION_REFUSED'],
    ['an error', () => Promise.reject(new Error('secret')), 500, 'CHAT_FAILED'],
    ['a response', () => Promise.reject(Response.json({})), 500, 'CHAT_FAILED'],
  ])('is refused, and changes nothing: %s', async (_, mayDecide, status, code) => {
    const failures: unknown[] = [];
    const warned = vi.spyOn(console, 'warn').mockReturnValue();
    const onError = (failure: unknown) => void failures.push(failure);
    const { paid, parts, ...rest } = await waitingWorld({ onError, ...(mayDecide && { mayDecide }) });
    await using world = rest.world;
    const version = await versionOf(world);
    expect(parts.map(waitsForOthers)).toEqual([true, true, false]);
    for (const approved of [true, false]) {
      const reply = await post(world, [decided(parts[0], approved), answered(parts[2])]);
      expect(reply).toEqual({ status, json: error(code) });
      expect(JSON.stringify(reply.json)).not.toContain('secret');
    }
    expect([await versionOf(world), paid]).toEqual([version, []]);
    expect(failures.length > 0).toBe(status === 500);
    expect(warned.mock.calls).toHaveLength(mayDecide ? 0 : 1);
    warned.mockRestore();
  });

  test('stops the other decisions of its request, whatever their order', async () => {
    const mayDecide: MayDecide = ({ args }) => (args as { euros: number }).euros < 100;
    const { world, paid, parts } = await waitingWorld({ mayDecide });
    await using _ = world;
    const version = await versionOf(world);
    expect(parts.map(waitsForOthers)).toEqual([false, true, false]);
    const [small, large, question] = [decided(parts[0], true), decided(parts[1], true), answered(parts[2])];
    for (const all of [
      [small, large, question],
      [large, question, small],
    ])
      expect((await post(world, all)).status).toBe(403);
    expect(await versionOf(world)).toBe(version);
    expect((await post(world, [small, question])).status).toBe(200);
    const states = (await partsOf(world)).map(({ state }) => state);
    expect([states, paid]).toEqual([['approval-responded', 'approval-requested', 'output-available'], []]);
  });
});

test('a question to the user needs no permission', async () => {
  const warned = vi.spyOn(console, 'warn').mockReturnValue();
  const { world, parts } = await waitingWorld();
  await using _ = world;
  expect((await post(world, [answered(parts[2])])).status).toBe(200);
  expect((await partsOf(world))[2]).toMatchObject({ state: 'output-available', output: 'Yes.' });
  warned.mockRestore();
});

test('the rule gets the call, its session and its owner, and the user', async () => {
  const asked: unknown[] = [];
  const authorize = () => ({ owner: OWNER, by: 'bob' });
  const mayDecide: MayDecide = (...question) => (asked.push(question), true);
  const { world, parts } = await waitingWorld({ authorize, mayDecide });
  await using _ = world;
  asked.length = 0;
  await post(world, [decided(parts[0], true)]);
  const call = { name: 'pay', args: { euros: 5 }, sessionId: sessionOf('c1'), owner: OWNER };
  expect(asked[0]).toEqual([call, { owner: OWNER, by: 'bob' }]);
});

test('a decision on other arguments than those of the call is refused', async () => {
  const { world, paid, parts } = await waitingWorld({ mayDecide: () => true });
  await using _ = world;
  const reply = await post(world, [decided(parts[1], true, { input: { euros: 5 } })]);
  expect(reply).toEqual({ status: 409, json: error('CHAT_CHANGED') });
  expect(paid).toEqual([]);
});

/** The last call that a page shows. */
function lastCall({ chat }: TestPage): ToolPart | undefined {
  const parts = chat.messages.flatMap((message) => message.parts);
  return parts.findLast((part) => 'toolCallId' in part);
}

test('a page shows that another person decides, cannot decide, and shows the decision when it comes', async () => {
  const refund = tool({
    name: 'refund',
    description: 'Pays back.',
    inputSchema,
    needsApproval: true,
    execute: () => 'paid back',
  });
  const driver = scriptedDriver({ calls: { refund: {} } }, 'You have your money.');
  const authorize = ({ headers }: Request) => ({ owner: OWNER, by: headers.get('authorization') ?? '' });
  const handler: Partial<ChatHandlerOptions> = { authorize, mayDecide: (_, { by }) => by === 'clerk' };
  await using world = await chatWorld({ driver, tools: [refund] }, { handler });
  const pageOf = (authorization: string): TestPage =>
    world.page('c1', { onError: () => undefined }, { headers: { authorization } });
  const [customer, clerk] = [pageOf('customer'), pageOf('clerk')];
  await customer.chat.sendMessage({ text: 'My money!' });
  const shown = lastCall(customer);
  expect(shown && waitsForOthers(shown)).toBe(true);
  expect(shown?.approval).toMatchObject({ requestReason: 'Another person decides on this call.' });

  await customer.chat.addToolApprovalResponse({ id: shown?.approval?.id ?? '', approved: true });
  await vi.waitFor(
    () => expect(customer.chat.error).toMatchObject({ code: 'CHAT_DECISION_REFUSED' }),
    PATIENCE,
  );
  await vi.waitFor(() => expect(lastCall(customer)?.state).toBe('approval-requested'), PATIENCE);

  await vi.waitFor(() => expect(lastCall(clerk)?.state).toBe('approval-requested'), PATIENCE);
  const request = lastCall(clerk);
  expect(request && waitsForOthers(request)).toBe(false);
  await clerk.chat.addToolApprovalResponse({ id: request?.approval?.id ?? '', approved: true });
  await vi.waitFor(() => expect(lastCall(customer)).toMatchObject({ output: 'paid back' }), PATIENCE);
});

test('chunks carry who decides, for the transport of the AI SDK', async () => {
  const { world } = await waitingWorld({ mayDecide: () => false });
  await using _ = world;
  const response = await world.handler(requestOf('GET', `/c1/stream?message=m1`));
  const chunk = { approvalDescriptor: { mayDecide: false }, reason: 'Another person decides on this call.' };
  const [request] = /\{"type":"tool-approval-request".*\}/.exec(await response.text()) ?? [''];
  expect(JSON.parse(request)).toMatchObject(chunk);
});
