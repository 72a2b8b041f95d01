import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { assistantMessage, userMessage, type Message } from '@holdfast/core';
import { List, toolMessage, type FileData } from '@holdfast/core/driver';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { createGateway, wrapLanguageModel } from 'ai';
import { afterEach, describe, expect, test } from 'vitest';
import { listening, quietly, request, usage } from '../builders.ts';
import { localServer, stopLocalServers, type Body, type LocalServer, type Reply } from './local-server.ts';

/** Tests the driver with the provider of the AI Gateway, over HTTP. The provider writes to file parts. */

afterEach(stopLocalServers);

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk';
const image = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } } as const;
const file = (data: FileData) => ({ type: 'file', mediaType: 'text/plain', data }) as const;

const picture = userMessage([{ type: 'text', text: 'what is this?' }, image]);
const drawing = assistantMessage([image]);
const bytes = userMessage([file({ type: 'url', url: 'data:text/plain,caf%C3%A9' })]);
/** The bytes in the form that the gateway writes. */
const base64 = 'Y2Fmw6k=';
const linked = userMessage([file({ type: 'url', url: 'https://a.example/a.txt' })]);
const call = assistantMessage([{ type: 'tool-call', toolCallId: '1', toolName: 'look', input: {} }]);
const seen = toolMessage([
  {
    type: 'tool-result',
    toolCallId: '1',
    toolName: 'look',
    output: { type: 'content', value: [{ type: 'text', text: 'see' }, image] },
  },
]);

const conversations: [string, readonly Message[]][] = [
  ['an image of a user', [picture]],
  ['an image of the model', [userMessage('draw'), drawing, userMessage('again')]],
  ['bytes', [bytes]],
  ['a URL', [linked]],
  ['an image in the result of a tool', [userMessage('look'), call, seen]],
  ['all of them', [picture, drawing, bytes, linked, call, seen, userMessage('so?')]],
];

const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
const answers: Record<'generated' | 'streamed', Reply> = {
  generated: {
    json: { content: [{ type: 'text', text: 'A cat.' }], finishReason: finish.finishReason, usage },
  },
  streamed: {
    events: [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'A cat.' },
      { type: 'text-end', id: '0' },
      finish,
    ],
  },
};
const overloaded: Reply = {
  status: 503,
  json: { error: { message: 'overloaded', type: 'internal_server_error' } },
};

function gatewayAt({ url }: LocalServer) {
  return createGateway({ baseURL: url, apiKey: 'key' })('openai/gpt-5');
}

/** The prompt of a request, as the gateway receives it. */
function promptOf(body: Body | undefined): LanguageModelV4Prompt {
  return (body?.['prompt'] ?? []) as unknown as LanguageModelV4Prompt;
}

describe.each([
  ['generated', quietly],
  ['streamed', listening],
] as const)('%s', (how, inference) => {
  test.each(conversations)('%s, twice, and after a failed attempt', async (_, messages) => {
    const server = await localServer(answers[how], overloaded, answers[how]);
    const driver = aiSdkDriver({ model: gatewayAt(server), wait: async () => undefined });
    const asked = List.from(messages);
    for (const more of [asked, asked.append(assistantMessage('A cat.'), userMessage('sure?'))])
      expect(await driver.infer(request(more), inference())).toMatchObject({ text: 'A cat.' });
    const [first, failed, second] = server.bodies.map(promptOf);
    expect(first).toHaveLength(messages.length);
    expect(JSON.stringify(first)).toMatch(/iVBORw0K|Y2Fmw6k=|a\.example/);
    expect(failed).toEqual(second);
    expect(second?.slice(0, messages.length)).toEqual(first);
  });
});

test('the gateway writes to its own copy of a file only', async () => {
  const server = await localServer(answers.generated, answers.generated);
  const isWritten: boolean[] = [];
  const model = wrapLanguageModel({
    model: gatewayAt(server),
    middleware: {
      transformParams: async ({ params }) => {
        isWritten.push(JSON.stringify(params.prompt).includes(base64));
        return params;
      },
    },
  });
  const driver = aiSdkDriver({ model });
  for (let count = 0; count < 2; count++) await driver.infer(request([bytes]), quietly());
  expect(isWritten).toEqual([false, false]);
  for (const body of server.bodies) expect(JSON.stringify(promptOf(body))).toContain(base64);
});
