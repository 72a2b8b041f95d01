import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { AgentState, createAgentLoop, structuredOutput, tool } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { asSchema, generateText, jsonSchema, Output, tool as sdkTool } from 'ai';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  localServer,
  stopLocalServers,
  type Body,
  type LocalServer,
  type Reply,
} from './http/local-server.ts';

/** Checks that schemas reach a model as the AI SDK would send them. */

afterEach(stopLocalServers);

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree);
  },
});

const schemas: Readonly<Record<string, z.ZodType>> = {
  'an object': z.object({ city: z.string().describe('Where.'), celsius: z.number() }),
  'objects in objects': z.object({ place: z.object({ at: z.object({ x: z.number() }) }) }),
  'objects in arrays': z.object({ cities: z.array(z.object({ name: z.string() })) }),
  'objects in tuples': z.object({
    pair: z.tuple([z.object({ a: z.string() }), z.object({ b: z.string() })]),
  }),
  'a union': z.object({ one: z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]) }),
  'a discriminated union': z.object({
    one: z.discriminatedUnion('type', [
      z.object({ type: z.literal('a'), a: z.string() }),
      z.object({ type: z.literal('b'), b: z.array(z.object({ c: z.string() })) }),
    ]),
  }),
  'an intersection': z.object({
    both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
  }),
  'members that may be absent or null': z.object({
    some: z.object({ a: z.string() }).optional(),
    none: z.object({ b: z.string() }).nullable(),
    given: z.object({ c: z.string().default('c') }).default({ c: 'd' }),
  }),
  'open and closed objects': z.object({
    loose: z.looseObject({ a: z.string() }),
    strict: z.strictObject({ b: z.string() }),
    rest: z.object({ c: z.string() }).catchall(z.object({ d: z.string() })),
  }),
  'a record': z.object({ byName: z.record(z.string(), z.object({ a: z.string() })) }),
  recursion: tree,
  'a transformation': z.object({ a: z.string().transform((text) => ({ length: text.length })) }),
  'names of keywords as names of members': z.object({
    properties: z.object({ items: z.object({ type: z.literal('object') }) }),
  }),
  'an array': z.array(z.object({ a: z.string() })),
  'no object': z.string(),
};

describe.each(Object.entries(schemas))('%s', (_, schema) => {
  test('is converted as by the AI SDK, for structured output and for a tool', async () => {
    const expected = await asSchema(schema).jsonSchema;
    const add = tool({ name: 'add', description: 'Adds.', inputSchema: schema, execute: () => null });
    expect(structuredOutput(schema).responseFormat).toEqual({ type: 'json', schema: expected });
    expect(add.inputSchema).toEqual(expected);
  });
});

test('a JSON Schema is sent unchanged', () => {
  const schema = { type: 'object', properties: { a: { type: 'object', properties: {} } } };
  expect(structuredOutput(schema).responseFormat).toEqual({ type: 'json', schema });
  const made = tool({ name: 'add', description: 'Adds.', inputSchema: schema, execute: () => null });
  expect(made.inputSchema).toEqual(schema);
  const beside = structuredOutput(z.object({}), { jsonSchema: schema });
  expect(beside.responseFormat).toEqual({ type: 'json', schema });
});

const text = '{"city":"Rome","stops":[]}';
const protocols: readonly (readonly [string, (server: LocalServer) => LanguageModelV4, Reply])[] = [
  [
    'responses',
    (server) => createOpenAI({ baseURL: server.url, apiKey: 'key' })('gpt-5'),
    {
      json: {
        id: 'resp_1',
        created_at: 0,
        model: 'gpt-5',
        output: [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ],
        usage: { input_tokens: 3, output_tokens: 2 },
      },
    },
  ],
  [
    'chat completions',
    (server) => createOpenAI({ baseURL: server.url, apiKey: 'key' }).chat('gpt-5'),
    {
      json: {
        id: 'chatcmpl_1',
        created: 0,
        model: 'gpt-5',
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      },
    },
  ],
];

describe.each(protocols)('OpenAI gets the request that the AI SDK sends: %s', (name, modelAt, reply) => {
  const schema = z.object({ city: z.string(), stops: z.array(z.object({ name: z.string() })) });
  const search = { name: 'search', description: 'Finds stops.' };
  const plain = { type: 'object', properties: { at: { type: 'object', properties: {} } } } as const;

  test('a strict schema for structured output, a tool with a schema and a tool with a JSON Schema', async () => {
    const server = await localServer(reply, reply);
    const model = modelAt(server);
    const route = structuredOutput(schema, { name: 'route', description: 'A route.' });
    const loop = createAgentLoop({
      driver: aiSdkDriver({ model }),
      tools: [
        tool({ ...search, inputSchema: schema, execute: () => null }),
        tool({ ...search, name: 'look', inputSchema: plain, execute: () => null }),
      ],
      hooks: [route],
    });
    const end = await loop.run(AgentState.empty().withUserMessage('A route to Rome.'));
    expect(route.read(end)).toEqual({ city: 'Rome', stops: [] });

    await generateText({
      model,
      prompt: 'A route to Rome.',
      tools: {
        search: sdkTool({ ...search, inputSchema: schema }),
        look: sdkTool({ ...search, inputSchema: jsonSchema(plain) }),
      },
      output: Output.object({ schema, name: 'route', description: 'A route.' }),
      // The driver's default for models of the Responses API; see the decision page.
      ...(name === 'responses' && { providerOptions: { openai: { store: false } } }),
    });
    const [ours, theirs] = server.bodies;
    expect(ours).toEqual(theirs);
    expect(formatOf(ours)).toMatchObject({
      strict: true,
      schema: {
        additionalProperties: false,
        properties: { stops: { items: { additionalProperties: false } } },
      },
    });
  });
});

/** The location of the response format in the requests of each protocol. */
function formatOf(body: Body | undefined): unknown {
  const { text: ofResponses, response_format: ofChat } = body as {
    readonly text?: { readonly format?: unknown };
    readonly response_format?: { readonly json_schema?: unknown };
  };
  return ofResponses?.format ?? ofChat?.json_schema;
}
