import { createOpenAI } from '@ai-sdk/openai';
import {
  AgentState,
  createAgentLoop,
  pendingQuestions,
  tool as ownTool,
  type AgentEvent,
  type JsonObject,
  type Tool,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { fromAiSdkTools } from '@holdfast/driver-ai-sdk/tools';
import { dynamicTool, jsonSchema, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const inputSchema = z.object({ city: z.string(), days: z.number().default(3) });
const named = { description: 'The weather.', inputSchema };

/** The outcome and the result of one call of the tool `weather`. */
async function called(
  tools: Parameters<typeof fromAiSdkTools>[0],
  input: JsonObject = { city: 'Riga' },
  runContext?: unknown,
) {
  const driver = scriptedDriver({ calls: { weather: input } }, 'Done.');
  const events: AgentEvent[] = [];
  const loop = createAgentLoop({ driver, tools: await fromAiSdkTools(tools) });
  const state = await loop.run(AgentState.empty().withUserMessage('Hi.'), {
    runContext,
    onEvent: (event) => void events.push(event),
  });
  const [execution] = state.steps[0]?.toolExecutions ?? [];
  return { state, events, outcome: execution?.outcome, shown: execution?.toResultPart().output };
}

async function converted(tools: Parameters<typeof fromAiSdkTools>[0]): Promise<Tool | undefined> {
  return (await fromAiSdkTools(tools))[0];
}

describe('a tool of the AI SDK', () => {
  test('is described as the AI SDK describes it', async () => {
    const weather = tool({
      ...named,
      strict: true,
      providerOptions: { anthropic: { deferLoading: true } },
      inputExamples: [{ input: { city: 'Riga', days: 1 } }],
      execute: () => 'dry',
    });
    expect(await converted({ weather })).toMatchObject({
      name: 'weather',
      description: 'The weather.',
      inputSchema: { type: 'object', additionalProperties: false, required: ['city'] },
      strict: true,
      providerOptions: { anthropic: { deferLoading: true } },
      inputExamples: [{ input: { city: 'Riga', days: 1 } }],
      effect: 'once',
    });
  });

  test('receives its checked arguments, the messages before the call, and the run context', async () => {
    const calls: unknown[] = [];
    const weather = tool({
      ...named,
      contextSchema: z.object({ unit: z.string() }),
      execute: (input, { toolCallId, messages, context, abortSignal }) => {
        calls.push([input, toolCallId, messages, context, abortSignal?.aborted]);
        return 'dry';
      },
    });
    const { shown } = await called({ weather }, { city: 'Riga' }, { unit: 'C' });
    const said = { role: 'user', content: [{ type: 'text', text: 'Hi.' }] };
    expect(calls).toEqual([[{ city: 'Riga', days: 3 }, 'call_1_1', [said], { unit: 'C' }, false]]);
    expect(shown).toEqual({ type: 'text', value: 'dry' });
  });

  test('refuses a run context that does not fit', async () => {
    const weather = tool({ ...named, contextSchema: z.object({ unit: z.string() }), execute: () => 'dry' });
    const { outcome } = await called({ weather }, { city: 'Riga' }, { unit: 5 });
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'ARGUMENT_INVALID' } });
  });

  test('refuses invalid arguments', async () => {
    const { outcome } = await called({ weather: tool({ ...named, execute: () => 'dry' }) }, { days: 1 });
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'TOOL_ARGUMENTS_INVALID' } });
  });

  test('may have a schema that is created late, and a schema without a check', async () => {
    const schema = jsonSchema<{ city: string }>(async () => ({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }));
    const weather = dynamicTool({ description: '', inputSchema: () => schema, execute: async () => 'dry' });
    expect((await called({ weather })).shown).toEqual({ type: 'text', value: 'dry' });
    expect((await called({ weather }, {})).outcome).toMatchObject({
      error: { code: 'TOOL_ARGUMENTS_INVALID' },
    });
  });

  test('may yield: the last value is the result, the values before it are progress', async () => {
    const weather = tool({
      ...named,
      async *execute() {
        yield 'wet';
        yield { sky: 'grey' };
        yield 'dry';
      },
    });
    const { shown, events } = await called({ weather });
    const progress = events.filter((event) => event.type === 'tool-progress');
    expect(progress.map(({ toolExecution }) => toolExecution.progress)).toEqual(['wet', { sky: 'grey' }]);
    expect(shown).toEqual({ type: 'text', value: 'dry' });
  });

  test('may throw', async () => {
    const weather = tool({
      ...named,
      execute: (): string => {
        throw new Error('No satellite.');
      },
    });
    expect((await called({ weather })).shown).toEqual({ type: 'error-text', value: 'No satellite.' });
  });

  test('has a model output, from the checked input', async () => {
    const weather = tool({
      ...named,
      execute: () => ({ mm: 0 }),
      toModelOutput: async ({ toolCallId, input: { days }, output: { mm } }) => ({
        type: 'text',
        value: `${toolCallId}: ${mm} mm in ${days} days`,
      }),
    });
    const { shown, outcome } = await called({ weather });
    expect(shown).toEqual({ type: 'text', value: 'call_1_1: 0 mm in 3 days' });
    expect(outcome).toMatchObject({ value: { mm: 0 } });
  });

  test('has files in its model output, in every form of the AI SDK, however long its value is', async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const weather = tool({
      ...named,
      execute: () => 'x'.repeat(200_000),
      toModelOutput: () => ({
        type: 'content',
        value: [
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: bytes } },
          {
            type: 'file',
            mediaType: 'image/png',
            data: { type: 'url', url: new URL('https://a.example/b') },
          },
          { type: 'file-data', mediaType: 'image/png', data: 'AQID', filename: 'a.png' },
          { type: 'image-url', url: 'https://a.example/c' },
          { type: 'file-id', fileId: { openai: 'file_1' } },
        ],
      }),
    });
    expect((await called({ weather })).shown).toEqual({
      type: 'content',
      value: [
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
        { type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'https://a.example/b' } },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' }, filename: 'a.png' },
        { type: 'file', mediaType: 'image', data: { type: 'url', url: 'https://a.example/c' } },
        {
          type: 'file',
          mediaType: 'application/octet-stream',
          data: { type: 'reference', reference: { openai: 'file_1' } },
        },
      ],
    });
  });

  test('needs approval by its own rule, or by the option', async () => {
    const weather = tool({
      ...named,
      needsApproval: ({ city }, { messages }) => city === 'Riga' && messages.length === 1,
      execute: () => 'dry',
    });
    expect((await called({ weather })).state.status).toBe('suspended');
    expect((await called({ weather }, { city: 'Oslo' })).state.status).toBe('completed');
    const [always] = await fromAiSdkTools(
      { weather: tool({ ...named, execute: () => 1 }) },
      { needsApproval: true },
    );
    expect(always).toHaveProperty('needsApproval');
  });

  test('waits for an answer when it has no execute', async () => {
    const weather = tool({ ...named, outputSchema: z.string() });
    const { state } = await called({ weather });
    expect(pendingQuestions(state).map(({ name }) => name)).toEqual(['weather']);
  });
});

describe('options', () => {
  const sets = {
    read: tool({ ...named, execute: () => 1 }),
    write: tool({ ...named, execute: () => 1 }),
  };
  const effects = (tools: readonly Tool[]) => tools.map(({ effect }) => effect);

  test('effects are by name, with a default', async () => {
    expect(effects(await fromAiSdkTools(sets))).toEqual(['once', 'once']);
    expect(effects(await fromAiSdkTools(sets, { effects: { read: 'readOnly' } }))).toEqual([
      'readOnly',
      'once',
    ]);
    expect(effects(await fromAiSdkTools(sets, { defaultEffect: 'ask' }))).toEqual(['ask', 'ask']);
  });

  test('annotations of MCP servers count only when the caller trusts them', async () => {
    const annotated = (annotations: object) => ({ ...sets.read, metadata: { clientName: 'c', annotations } });
    const tools = {
      look: annotated({ readOnlyHint: true }),
      put: annotated({ idempotentHint: true }),
      other: annotated({ destructiveHint: false }),
    };
    expect(effects(await fromAiSdkTools(tools))).toEqual(['once', 'once', 'once']);
    expect(effects(await fromAiSdkTools(tools, { effects: 'annotations' }))).toEqual([
      'readOnly',
      'idempotent',
      'once',
    ]);
  });

  test.each([
    [{ retries: 2 }, 'fromAiSdkTools has no option "retries"'],
    [
      { effects: { read: 'twice' } },
      '"read" in effects of fromAiSdkTools must be one of readOnly, idempotent, ask, once, found string "twice".',
    ],
    [{ effects: 'all' }, 'effects of fromAiSdkTools must be effects by the name of the tool'],
    [{ effects: { raed: 'readOnly' } }, '"effects" names the unknown tool "raed".'],
    [{ needsApproval: { raed: true } }, '"needsApproval" names the unknown tool "raed".'],
    [
      { needsApproval: { read: 'yes' } },
      '"read" in needsApproval of fromAiSdkTools must be true or false, found string "yes".',
    ],
  ])('%j is refused', async (options, message) => {
    const refusal = { code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) };
    await expect(fromAiSdkTools(sets, options as never)).rejects.toMatchObject(refusal);
  });

  test.each([
    [jsonSchema(() => Promise.reject(new Error('No such file.'))), 'has no JSON Schema form: No such file.'],
    [jsonSchema({ type: 'string' }), 'must be of type "object", found "string"'],
  ])('a schema that no model can read is refused', async (inputSchema, message) => {
    const refused = fromAiSdkTools({ weather: { ...tool({ ...named, execute: () => 1 }), inputSchema } });
    const refusal = { code: 'TOOL_SCHEMA_INVALID', message: expect.stringContaining(message) };
    await expect(refused).rejects.toMatchObject(refusal);
  });

  test.each([
    ['a promise', Promise.resolve(sets)],
    ['an array', [sets.read]],
    ['nothing', undefined],
  ])('%s is no tool set', async (_, given) => {
    await expect(fromAiSdkTools(given as never)).rejects.toThrow('fromAiSdkTools(await client.tools())');
  });

  test('a description that is a function is refused', async () => {
    const weather = tool({ ...named, description: () => 'Now.', execute: () => 1 });
    await expect(fromAiSdkTools({ weather })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  });
});

describe('a tool of a provider', () => {
  const { tools: openai } = createOpenAI({ apiKey: 'none' });

  test.each([{ effects: { search: 'readOnly' } }, { needsApproval: { search: true } }] as const)(
    'refuses what the loop cannot apply: %o',
    async (options) => {
      const refused = fromAiSdkTools({ search: openai.webSearch({}) }, options);
      await expect(refused).rejects.toThrow('names the tool "search", which the provider runs');
    },
  );

  test('is declared by its id, and the provider runs it', async () => {
    const webSearch = openai.webSearch({ searchContextSize: 'low' });
    const [search] = await fromAiSdkTools({ search: webSearch });
    expect(search).toMatchObject({
      name: 'search',
      providerTool: {
        id: 'openai.web_search',
        args: { searchContextSize: 'low' },
        isProviderExecuted: true,
      },
    });
    expect(() => search?.execute({}, undefined as never)).toThrow(/the provider runs it/);
  });

  test('runs in the loop when it has an execute', async () => {
    const weather = openai.localShell({ execute: async () => ({ output: 'ok' }) });
    const action = { type: 'exec', command: ['ls'], env: {} };
    const { shown } = await called({ weather }, { action });
    expect(shown).toEqual({ type: 'json', value: { output: 'ok' } });
    expect(await converted({ weather })).toMatchObject({
      providerTool: { id: 'openai.local_shell', isProviderExecuted: false },
    });
  });
});

test('a tool with the name of a member of every object has the options of the others', async () => {
  const tools = { constructor: tool({ ...named, execute: () => 'dry' }) };
  const [converted] = await fromAiSdkTools(tools as never, { effects: {} });
  expect(converted).toMatchObject({ name: 'constructor', effect: 'once' });
});

test('a tool of this library is refused in words', async () => {
  const own = ownTool({ name: 'search', description: 'Searches.', inputSchema, execute: () => 1 });
  await expect(fromAiSdkTools({ search: own as never })).rejects.toThrow(
    expect.objectContaining({
      code: 'ARGUMENT_INVALID',
      message:
        '"search" in fromAiSdkTools is a tool of Holdfast: pass it to the loop as it is, as in tools: [search].',
    }),
  );
});
