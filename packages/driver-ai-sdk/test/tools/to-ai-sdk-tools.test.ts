import { tool, toolFor, toolResult } from '@holdfast/core';
import { providerTool } from '@holdfast/core/driver';
import { fromAiSdkTools, toAiSdkTools } from '@holdfast/driver-ai-sdk/tools';
import { generateText, isStepCount, type ToolSet } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../builders.ts';

const named = {
  name: 'weather',
  description: 'The weather.',
  inputSchema: z.object({ city: z.string(), days: z.number().default(3) }),
};

/** The type of a tool set without contexts forbids the option. */
function withContext(context: object): object {
  return { toolsContext: { weather: context } };
}

/** The requests of `generateText` with a model that calls `weather` once, and its steps. */
async function generated(tools: ToolSet, input: object = { city: 'Riga' }, context: object = {}) {
  const model = new MockLanguageModelV4({
    supportedUrls: { 'image/*': [/^https:/] },
    doGenerate: [
      answer(
        [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: JSON.stringify(input) }],
        { finishReason: { unified: 'tool-calls', raw: 'tool_calls' } },
      ),
      answer('Done.'),
    ],
  });
  const { content, steps } = await generateText({
    model,
    tools,
    prompt: 'Hi.',
    stopWhen: isStepCount(2),
    ...withContext(context),
  });
  const calls = model.doGenerateCalls;
  const results = calls[1]?.prompt.findLast(({ role }) => role === 'tool')?.content;
  return { calls, results, content, steps };
}

describe('a tool as a tool of the AI SDK', () => {
  test('has the same description, and receives checked arguments and the context', async () => {
    const seen: unknown[] = [];
    const weather = tool({
      ...named,
      strict: true,
      providerOptions: { anthropic: { deferLoading: true } },
      inputExamples: [{ input: { city: 'Riga' } }],
      execute: (args, { toolCallId, signal }) => (seen.push([args, toolCallId, signal.aborted]), 'dry'),
    });
    const { calls, results } = await generated(toAiSdkTools([weather]));
    expect(calls[0]?.tools).toEqual([
      {
        type: 'function',
        name: 'weather',
        description: 'The weather.',
        inputSchema: weather.inputSchema,
        strict: true,
        providerOptions: { anthropic: { deferLoading: true } },
        inputExamples: [{ input: { city: 'Riga' } }],
      },
    ]);
    expect(seen).toEqual([[{ city: 'Riga', days: 3 }, 'call_1', false]]);
    expect(results).toMatchObject([{ output: { type: 'text', value: 'dry' } }]);
  });

  test('receives the context as its run context', async () => {
    const weather = toolFor<{ readonly unit: string }>()({
      ...named,
      execute: (_, { runContext }) => runContext.unit,
    });
    const { results } = await generated(toAiSdkTools([weather]), { city: 'Riga' }, { unit: 'C' });
    expect(results).toMatchObject([{ output: { type: 'text', value: 'C' } }]);
  });

  test('refuses invalid arguments', async () => {
    const weather = tool({ ...named, execute: () => 'dry' });
    const { results } = await generated(toAiSdkTools([weather]), { days: 1 });
    expect(results).toMatchObject([{ output: { type: 'error-text' } }]);
  });

  test('shows its model output, and that of a toolResult()', async () => {
    const file = {
      type: 'file',
      mediaType: 'image/png',
      data: { type: 'url', url: 'https://a.example/b' },
    } as const;
    const shown = tool({
      ...named,
      execute: () => 'dry',
      toModelOutput: ({ output }) => ({ type: 'text', value: `It is ${JSON.stringify(output)}.` }),
    });
    const own = tool({
      ...named,
      execute: () => toolResult({ value: 1, modelOutput: { type: 'content', value: [file] } }),
    });
    expect((await generated(toAiSdkTools([shown]))).results).toMatchObject([
      { output: { type: 'text', value: 'It is "dry".' } },
    ]);
    expect((await generated(toAiSdkTools([own]))).results).toMatchObject([
      { output: { type: 'content', value: [{ type: 'file', mediaType: 'image/png' }] } },
    ]);
  });

  test('requests approval', async () => {
    for (const needsApproval of [({ days }: { days: number }) => days > 2, () => undefined as never]) {
      const weather = tool({ ...named, needsApproval, execute: () => 'dry' });
      const { content } = await generated(toAiSdkTools([weather]));
      expect(content.map(({ type }) => type)).toContain('tool-approval-request');
    }
  });

  test('receives what its rule judged, even if the rule changes it', async () => {
    const received: unknown[] = [];
    const weather = tool({
      ...named,
      needsApproval: (args: { days: number }) => {
        args.days = 1_000;
        return false;
      },
      execute: (args) => void received.push(args),
    });
    await generated(toAiSdkTools([weather]));
    expect(received).toEqual([{ city: 'Riga', days: 3 }]);
  });

  test('has no execute when the tool waits for an answer', async () => {
    const { calls, content } = await generated(toAiSdkTools([tool(named)]));
    expect([calls.length, content.map(({ type }) => type)]).toEqual([1, ['tool-call']]);
  });

  test('is a tool of the provider again', async () => {
    const search = providerTool({
      name: 'search',
      id: 'openai.web_search',
      args: { searchContextSize: 'low' },
    });
    expect(toAiSdkTools([search])).toMatchObject({
      search: { type: 'provider', id: 'openai.web_search', args: { searchContextSize: 'low' } },
    });
    expect(await fromAiSdkTools(toAiSdkTools([search]))).toMatchObject([
      { providerTool: search.providerTool },
    ]);
  });
});
