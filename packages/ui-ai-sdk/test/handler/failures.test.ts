import { HoldfastError } from '@holdfast/core';
import { DriverError, type Driver } from '@holdfast/core/driver';
import { describe, expect, test, vi } from 'vitest';
import { messageBody, requestOf, send } from '../support/chat-requests.ts';
import { chatWorld } from '../support/chat-world.ts';
import { PATIENCE } from '../support/patience.ts';

/** A driver that fails as long as it has errors, and then answers. */
function failingDriver(...errors: Error[]): Driver {
  return {
    async infer() {
      const error = errors.shift();
      if (error) throw error;
      return { content: [{ type: 'text', text: 'Take the train.' }] };
    },
  };
}

const outOfOrder = () => new HoldfastError('MODEL_OUT_OF_ORDER', 'The model is out of order.');
const invalidKey = () => new DriverError('authentication', 'The key is invalid.');

describe('a response that fails', () => {
  test('shows the code of its error', async () => {
    await using world = await chatWorld({ driver: failingDriver(outOfOrder()) });
    const { chat } = world.page('c1', { onError: () => undefined });
    await chat.sendMessage({ text: 'How?' });
    expect([chat.status, chat.error?.message]).toEqual(['error', 'The response failed: MODEL_OUT_OF_ORDER.']);
  });

  test('shows an error that only a person can mend, and continues with the next message', async () => {
    await using world = await chatWorld({ driver: failingDriver(invalidKey()) });
    const { chat } = world.page('c1', { onError: () => undefined });
    await chat.sendMessage({ text: 'How?' });
    expect([chat.status, chat.error?.message]).toEqual([
      'error',
      'The response failed: DRIVER_AUTHENTICATION.',
    ]);
    await chat.sendMessage({ text: 'And now?' });
    await vi.waitFor(
      () => expect(chat.lastMessage?.parts.at(-1)).toMatchObject({ text: 'Take the train.' }),
      PATIENCE,
    );
  });

  test('shows its error in a page that is opened later, and no more after the next response', async () => {
    await using world = await chatWorld({ driver: failingDriver(outOfOrder()) });
    await world.page('c1', { onError: () => undefined }).chat.sendMessage({ text: 'How?' });
    const { chat } = world.page('c1', { onError: () => undefined });
    await vi.waitFor(() => expect(chat.error?.message).toContain('MODEL_OUT_OF_ORDER'), PATIENCE);
    await chat.sendMessage({ text: 'And now?' });
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    const { chat: third } = world.page('c1');
    await vi.waitFor(() => expect(third.messages).toHaveLength(3), PATIENCE);
    expect(third.error).toBeUndefined();
  });

  test('is described although the application fails to describe it', async () => {
    const reported: unknown[] = [];
    const handler = {
      describeFailure: () => {
        throw new Error('no words');
      },
      onError: (error: unknown) => void reported.push(error),
    };
    await using world = await chatWorld({ driver: failingDriver(outOfOrder()) }, { handler });
    const reply = await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'How?') });
    expect(reply.json).toContain('MODEL_OUT_OF_ORDER');
    expect(String(reported[0])).toBe('Error: no words');
  });
});

describe('pages of other origins', () => {
  test('may send the headers that they ask for, if the origin is allowed', async () => {
    const handler = { allowedOrigins: ['https://app.example'] };
    await using world = await chatWorld({ driver: failingDriver() }, { handler });
    const allowedHeaders = async (origin: string) => {
      const headers = { origin, 'access-control-request-headers': 'x-csrf' };
      const response = await world.handler(requestOf('OPTIONS', '', undefined, headers));
      return response.headers.get('access-control-allow-headers');
    };
    expect(await allowedHeaders('https://app.example')).toBe('x-csrf');
    expect(await allowedHeaders('https://evil.example')).toBe('authorization, content-type');
  });

  test.each(['https://app.example/', 'app.example', '*'])('%s is no origin', async (origin) => {
    const created = chatWorld({ driver: failingDriver() }, { handler: { allowedOrigins: [origin] } });
    await expect(created).rejects.toThrow('without a path or a slash at the end');
  });
});

describe('a copy', () => {
  test('up to a message of the user responds to it', async () => {
    await using world = await chatWorld({ driver: failingDriver() });
    await send(world.handler, 'POST', '', { body: messageBody('c1', 'm1', 'How?') });
    await send(world.handler, 'POST', '/c1/fork', { body: { chatId: 'copy', messageId: 'm1' } });
    await vi.waitFor(async () => expect(await world.saved('copy')).toHaveLength(2), PATIENCE);
  });

  test('does not replace a chat', async () => {
    await using world = await chatWorld({ driver: failingDriver() });
    for (const id of ['c1', 'c2'])
      await send(world.handler, 'POST', '', { body: messageBody(id, 'm1', 'How?') });
    const { status, json } = await send(world.handler, 'POST', '/c1/fork', { body: { chatId: 'c2' } });
    expect([status, json]).toMatchObject([409, { error: { code: 'CHAT_EXISTS' } }]);
  });
});
