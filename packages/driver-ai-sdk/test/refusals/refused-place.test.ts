import { APICallError } from '@ai-sdk/provider';
import { createOpenAI } from '@ai-sdk/openai';
import { assistantMessage, systemMessage, userMessage, type Message } from '@holdfast/core';
import { toolMessage } from '@holdfast/core/driver';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { InvalidCallError } from '../../src/errors/call-errors.ts';
import { refusedPlaceOf } from '../../src/refusals/refused-place.ts';
import { quietly, rejection, request } from '../builders.ts';
import { localServer, stopLocalServers } from '../http/local-server.ts';

/** A provider refuses a part of a request, in words that users of providers reported. */

afterEach(stopLocalServers);

function call(toolCallId: string) {
  return { type: 'tool-call', toolCallId, toolName: 'look', input: {} } as const;
}

function result(toolCallId: string, value: string) {
  return { type: 'tool-result', toolCallId, toolName: 'look', output: { type: 'text', value } } as const;
}

const reasoning = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'secret' } };

const conversation: readonly Message[] = [
  systemMessage('Be brief.'),
  userMessage('yes'),
  assistantMessage([{ type: 'reasoning', text: '', providerOptions: reasoning }, call('c1'), call('c2')]),
  toolMessage([result('c1', 'sun'), result('c2', 'yes')]),
  userMessage('yes'),
  assistantMessage('Fine.'),
  userMessage('yes'),
];

/** The conversation as requests have it. */
const chat = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'yes' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
    { role: 'tool', tool_call_id: 'c1', content: 'sun' },
    { role: 'tool', tool_call_id: 'c2', content: 'yes' },
    { role: 'user', content: 'yes' },
    { role: 'assistant', content: 'Fine.' },
    { role: 'user', content: 'yes' },
  ],
};
const messages = {
  system: [{ type: 'text', text: 'Be brief.' }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'yes' }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'c1', input: {} },
        { type: 'tool_use', id: 'c2' },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: 'sun' },
        { type: 'tool_result', tool_use_id: 'c2', content: 'yes' },
        { type: 'text', text: 'yes' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Fine.' }] },
    { role: 'user', content: [{ type: 'text', text: 'yes' }] },
  ],
};
const responses = {
  input: [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'input_text', text: 'yes' }] },
    { type: 'reasoning', id: 'rs_1', encrypted_content: 'secret', summary: [] },
    { type: 'function_call', call_id: 'c1', name: 'look' },
    { type: 'function_call', call_id: 'c2', name: 'look' },
    { type: 'function_call_output', call_id: 'c1', output: 'sun' },
    { type: 'function_call_output', call_id: 'c2', output: 'yes' },
    { role: 'user', content: [{ type: 'input_text', text: 'yes' }] },
    { role: 'assistant', content: [{ type: 'output_text', text: 'Fine.' }] },
    { role: 'user', content: [{ type: 'input_text', text: 'yes' }] },
  ],
};
const contents = {
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'yes' }] },
    { role: 'model', parts: [{ functionCall: { name: 'look' } }, { functionCall: { name: 'look' } }] },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'look', response: { content: 'sun' } } },
        { functionResponse: { name: 'look', response: { content: 'yes' } } },
      ],
    },
    { role: 'user', parts: [{ text: 'yes' }] },
    { role: 'model', parts: [{ text: 'Fine.' }] },
    { role: 'user', parts: [{ text: 'yes' }] },
  ],
};

function placeOf(provider: string, body: unknown, message: string, given = conversation, text = '{}') {
  const error = new APICallError({
    message,
    url: 'https://a.example',
    requestBodyValues: body,
    statusCode: 400,
    responseBody: text,
  });
  return refusedPlaceOf(error, { provider, modelId: 'm' }, request(given, { systemPrompt: 'Be kind.' }));
}

type Row = readonly [provider: string, body: object, text: string, path: string, indexes: readonly number[]];

const rows: readonly Row[] = [
  [
    'anthropic.messages',
    messages,
    'messages.1.content.1.tool_use.text: Extra inputs are not permitted',
    'messages.1.content.1.tool_use.text',
    [2],
  ],
  [
    'anthropic.messages',
    messages,
    'messages.2.content.1: Extra inputs are not permitted',
    'messages.2.content.1',
    [3],
  ],
  [
    'anthropic.messages',
    messages,
    'messages.2.content.2: text content blocks must be non-empty',
    'messages.2.content.2',
    [4],
  ],
  [
    'anthropic.messages',
    messages,
    'messages.2: all messages must have non-empty content',
    'messages.2',
    [3, 4],
  ],
  ['anthropic.messages', messages, 'messages.4.content.0: Odd.', 'messages.4.content.0', [6]],
  [
    'amazon-bedrock',
    messages,
    "Value at 'messages.2.member.content.1.member.toolUse.name' failed to satisfy constraint",
    'messages.2.member.content.1.member.toolUse.name',
    [2],
  ],
  [
    'amazon-bedrock',
    messages,
    'The text field in the ContentBlock object at messages.3.content.0 is blank.',
    'messages.3.content.0',
    [5],
  ],
  [
    'openai.chat',
    chat,
    "Invalid 'messages[2].tool_calls[1].id': string too long.",
    'messages[2].tool_calls[1].id',
    [2],
  ],
  ['openai.chat', chat, "Invalid 'messages[4].content': odd.", 'messages[4].content', [3]],
  ['openai.chat', chat, "Invalid 'messages[5].content': odd.", 'messages[5].content', [4]],
  ['groq.chat', chat, "('messages.4.content' : value must be a string)", 'messages.4.content', [3]],
  [
    'dashscope.chat',
    chat,
    'The following tool_call_ids did not have response messages: message[3].role',
    'message[3].role',
    [3],
  ],
  [
    'moonshotai.chat',
    chat,
    "the message at position 6 with role 'assistant' must not be empty",
    "message at position 6 with role 'assistant'",
    [5],
  ],
  [
    'deepseek.chat',
    chat,
    'Missing `reasoning_content` field in the assistant message at message index 2.',
    'assistant message at message index 2',
    [2],
  ],
  ['openai.responses', responses, "Invalid 'input[6].call_id': string too long.", 'input[6].call_id', [3]],
  [
    'openai.responses',
    responses,
    "Invalid 'input[1].content[0].text': odd.",
    'input[1].content[0].text',
    [1],
  ],
  [
    'openai.responses',
    responses,
    "Invalid 'input[2].encrypted_content': odd.",
    'input[2].encrypted_content',
    [2],
  ],
  [
    'google.generative-ai',
    contents,
    '* GenerateContentRequest.contents[5].parts: contents.parts must not be empty.',
    'contents[5].parts',
    [6],
  ],
  [
    'google.generative-ai',
    contents,
    `Unknown name "id" at 'contents[1].parts[1].function_call': Cannot find field.`,
    'contents[1].parts[1].function_call',
    [2],
  ],
  [
    'google.generative-ai',
    contents,
    `Unknown name "x" at 'contents[2].parts[1].function_response'`,
    'contents[2].parts[1].function_response',
    [3],
  ],

  ['openai.chat', chat, 'The following tool_call_ids did not have response messages: c2', 'c2', [2]],
  ['openai.chat', chat, "Duplicate value for 'tool_call_id' of 'c2' in message.", 'c2', [3]],
  ['openai.responses', responses, 'No tool output found for function call c1.', 'c1', [2]],
  ['openai.responses', responses, 'No tool call found for function call output with call_id c1.', 'c1', [3]],
  [
    'openai.responses',
    responses,
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    'rs_1',
    [2],
  ],
  ['mistral.chat', chat, 'Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.', 'c1', [2]],
  [
    'minimax.chat',
    chat,
    'invalid params, invalid function arguments json string, tool_call_id: c1 (2013)',
    'c1',
    [2],
  ],
  ['moonshotai.chat', chat, 'Invalid request: tool_call_id c1 is duplicated', 'c1', [3]],
  ['ollama.chat', chat, 'Unexpected tool call id c2 in tool results', 'c2', [3]],
];

test.each(rows)('%s: %j, %s', (provider, body, text, path, indexes) => {
  expect(placeOf(provider, body, text)).toEqual({ path, messages: indexes });
});

test.each([
  ['mistral.chat', { detail: [{ loc: ['body', 'messages', 4, 'tool', 'name'], msg: 'Extra inputs' }] }, [3]],
  ['openai.chat', { error: { message: 'Odd.', param: 'messages.[6].role' } }, [5]],
  [
    'google.generative-ai',
    { error: { details: [{ fieldViolations: [{ field: 'contents[3].parts[0]' }] }] } },
    [4],
  ],
])('%s names the place in the body only: %j', (provider, body, indexes) => {
  const sent = provider.startsWith('google') ? contents : chat;
  expect(placeOf(provider, sent, 'Odd.', conversation, JSON.stringify(body))?.messages).toEqual(indexes);
});

describe('no message is named when the text of the provider tells no place in the request:', () => {
  test.each([
    ['no place', 'anthropic.messages', messages, 'messages: text content blocks must be non-empty'],
    ['a place that is not in the request', 'anthropic.messages', messages, 'messages.7: odd'],
    ['a part that is not in the request', 'anthropic.messages', messages, 'messages.3.content.2.text: odd'],
    ['a message of another role', 'moonshotai.chat', chat, "message at position 5 with role 'assistant'"],
    ['an id that is not in the request', 'openai.chat', chat, 'did not have response messages: c9'],
    ['a tool', 'openai.chat', chat, "Invalid 'tools[1].function.name': odd"],
    ['a place of a provider behind a server', 'litellm.chat', chat, 'messages.3.content.0: odd'],
    ['a place of a provider behind a router', 'openrouter.chat', chat, "Invalid 'messages[2].content': odd"],
    ['a place of another protocol', 'openai.chat', chat, "Unknown name at 'contents[1].parts[0]'"],
    ['a request without a list', 'openai.chat', { prompt: 'x' }, "Invalid 'messages[2].content': odd"],
  ])('%s', (_, provider, body, text) => {
    expect(placeOf(provider, body, text)).toEqual({ messages: [] });
  });

  test('the system prompt is no message, also before a message of the system', () => {
    const prompted = { messages: [{ role: 'system', content: 'Be kind.' }, ...chat.messages] };
    const places = [0, 1].map((index) =>
      placeOf('openai.chat', prompted, `'messages[${index}].content': odd`),
    );
    expect(places.map((place) => place?.messages)).toEqual([[], [0]]);
  });

  test('texts in another order tell nothing', () => {
    const turned = { messages: chat.messages.toReversed() };
    expect(placeOf('openai.chat', turned, "Invalid 'messages[0].content': odd")?.messages).toEqual([]);
  });
});

describe('a message without a text of its own lies between its neighbours', () => {
  const picture = userMessage([
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
  ]);
  const given = [userMessage('one'), assistantMessage('two'), picture, assistantMessage('three')];
  const sent = {
    messages: [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
      { role: 'assistant', content: 'three' },
    ],
  };
  const text = "Invalid 'messages[2].content[0].image_url.url': odd";

  test('one message', () => {
    expect(placeOf('openai.chat', sent, text, given)?.messages).toEqual([2]);
  });

  test('one of two messages, which were sent as one', () => {
    const two = given.toSpliced(2, 0, picture);
    expect(placeOf('openai.chat', sent, text, two)?.messages).toEqual([2, 3]);
  });

  test('of a role that the element can have', () => {
    const dropped = { messages: sent.messages.toSpliced(1, 1) };
    const place = placeOf(
      'openai.chat',
      dropped,
      text.replace('[2]', '[1]'),
      given.with(1, assistantMessage(' ')),
    );
    expect(place?.messages).toEqual([2]);
  });

  test.each([
    ['after', [given[0], picture], [sent.messages[0], sent.messages[2]], 1],
    ['before', [picture, given[0]], [sent.messages[2], sent.messages[0]], 0],
  ])('%s a message of the same role', (_, messagesOf, elements, index) => {
    const body = { messages: elements };
    const place = placeOf('openai.chat', body, text.replace('[2]', `[${index}]`), messagesOf as Message[]);
    expect(place?.messages).toEqual([index]);
  });

  test('a text that does not occur as often as in the messages tells nothing', () => {
    const body = {
      messages: [
        { role: 'user', content: 'changed' },
        { role: 'user', content: 'yes' },
      ],
    };
    const twice = [userMessage('yes'), userMessage('yes')];
    expect(placeOf('openai.chat', body, "Invalid 'messages[1].content': odd", twice)?.messages).toEqual([
      0, 1,
    ]);
  });

  test('a part beside the text of its message', () => {
    const content = [{ type: 'text', text: 'four' }, ...(sent.messages[2]?.content ?? [])];
    const joined = { messages: sent.messages.with(2, { role: 'user', content } as never) };
    const named = [{ type: 'text', text: 'four' } as const, ...picture.content];
    const place = placeOf(
      'openai.chat',
      joined,
      text.replace('[0]', '[1]'),
      given.with(2, userMessage(named)),
    );
    expect(place?.messages).toEqual([2]);
  });
});

test('an error of no provider has no place', () => {
  const error = new InvalidCallError('Unknown reasoning level "extreme".');
  expect(
    refusedPlaceOf(error, { provider: 'openai.chat', modelId: 'm' }, request(conversation)),
  ).toBeUndefined();
});

test('an error inside a stream names no message', () => {
  const error = { error: { type: 'invalid_request_error', message: 'messages.1: odd' } };
  const place = refusedPlaceOf(
    error,
    { provider: 'anthropic.messages', modelId: 'm' },
    request(conversation),
  );
  expect(place).toEqual({ messages: [] });
});

/** The place in the error of a call of OpenAI. */
async function refusedBy(text: string, given: ReturnType<typeof request>): Promise<unknown> {
  const error = { message: text, type: 'invalid_request_error', param: null, code: null };
  const server = await localServer({ status: 400, json: { error } });
  const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'key-1' }).chat('gpt-5');
  return rejection(aiSdkDriver({ model, maxRetries: 0 }).infer(given, quietly()));
}

test('the error of a call has the place', async () => {
  const given = request(conversation, { systemPrompt: 'Be kind.' });
  expect(await refusedBy("Invalid 'messages[5].content': odd", given)).toMatchObject({
    kind: 'invalidRequest',
    refused: { path: 'messages[5].content', messages: [3] },
  });
});

test('5,000 messages are told apart', async () => {
  const long = Array.from({ length: 2_500 }, () => [userMessage('yes'), assistantMessage('no')]).flat();
  const failed = await refusedBy("Invalid 'messages[4321].content': odd", request(long));
  expect(failed).toMatchObject({ refused: { messages: [4321] } });
});
