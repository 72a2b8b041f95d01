import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { generateText, isStepCount, streamText, tool, type ModelMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { evaluate } from '../src/arithmetic.ts';
import { createOfflineModel } from '../src/offline-model.ts';
import { allTools, ask, model, textOf, user } from './offline-prompts.ts';

async function partsOf(options: LanguageModelV4CallOptions): Promise<readonly LanguageModelV4StreamPart[]> {
  const { stream } = await model.doStream(options);
  return collect(stream);
}

async function collect<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

function joined(
  parts: readonly LanguageModelV4StreamPart[],
  type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta',
) {
  return parts.map((part) => (part.type === type ? part.delta : '')).join('');
}

describe('the stream', () => {
  test.each(['hello there', 'what is 2+2?', 'summarise'])(
    'of "%s" carries what doGenerate returns',
    async (message) => {
      const options = { prompt: [user(message)], tools: allTools };
      const [generated, parts] = [await model.doGenerate(options), await partsOf(options)];
      const reasoning = generated.content
        .map((part) => (part.type === 'reasoning' ? part.text : ''))
        .join('');
      const inputs = generated.content.map((part) => (part.type === 'tool-call' ? part.input : '')).join('');
      expect(joined(parts, 'text-delta')).toBe(textOf(generated.content));
      expect(joined(parts, 'reasoning-delta')).toBe(reasoning);
      expect(joined(parts, 'tool-input-delta')).toBe(inputs);
      expect(parts.at(-1)).toEqual({
        type: 'finish',
        usage: generated.usage,
        finishReason: generated.finishReason,
      });
    },
  );

  test('arrives word by word, reasoning before text', async () => {
    const parts = await partsOf({ prompt: [user('who are you?')] });
    const kinds = parts.map((part) => part.type).filter((type, index, all) => type !== all[index - 1]);
    const opening = [
      'stream-start',
      'response-metadata',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
    ];
    expect(kinds).toEqual([...opening, 'text-start', 'text-delta', 'text-end', 'finish']);
    const deltas = parts.filter((part) => part.type === 'text-delta');
    expect(deltas.every((part) => part.delta.trim().split(/\s+/).length === 1)).toBe(true);
  });

  test('omits reasoning if the option says so', async () => {
    const { content } = await createOfflineModel({ delayMs: 0, reasoning: false }).doGenerate({
      prompt: [user('hello')],
    });
    expect(content.map((part) => part.type)).toEqual(['text']);
  });

  test('gives every call an id of its own', async () => {
    const made = [await ask('what is 2+2 and what time is it'), await ask('what is 2+2 and what time is it')];
    const ids = made.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === 'tool-call' ? part.toolCallId : [])),
    );
    expect(new Set(ids).size).toBe(4);
  });
});

describe('an abort', () => {
  const slow = createOfflineModel({ delayMs: 60_000 });
  const reason = new Error('enough');

  test('ends doGenerate at once, with the reason', async () => {
    const controller = new AbortController();
    const answer = slow.doGenerate({ prompt: [user('hello')], abortSignal: controller.signal });
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
  });

  test('ends the stream at once, with the reason', async () => {
    const controller = new AbortController();
    const { stream } = await slow.doStream({ prompt: [user('hello')], abortSignal: controller.signal });
    const rest = collect(stream);
    controller.abort(reason);
    await expect(rest).rejects.toBe(reason);
  });

  test('ends the stream between two deltas', async () => {
    const controller = new AbortController();
    const { stream } = await model.doStream({ prompt: [user('hello')], abortSignal: controller.signal });
    const reader = stream.getReader();
    expect((await reader.read()).value?.type).toBe('stream-start');
    controller.abort(reason);
    await expect(reader.read()).rejects.toBe(reason);
  });

  test('before the start prevents the call', async () => {
    const options = { prompt: [user('hello')], abortSignal: AbortSignal.abort(reason) };
    await expect(model.doGenerate(options)).rejects.toBe(reason);
    await expect(model.doStream(options)).rejects.toBe(reason);
  });
});

describe('usage and limits', () => {
  test('usage counts four characters a token and says that it is an estimate', async () => {
    const options = { prompt: [user('12345678')], tools: [] };
    const { usage, content } = await model.doGenerate(options);
    const text = Math.ceil(textOf(content).length / 4);
    expect(usage.inputTokens).toEqual({ total: 2, noCache: 2, cacheRead: 0, cacheWrite: 0 });
    expect(usage.outputTokens).toMatchObject({ text, total: text + (usage.outputTokens.reasoning ?? 0) });
    expect(usage.raw).toEqual({ isEstimate: true, charactersPerToken: 4 });
  });

  test('maxOutputTokens truncates the text', async () => {
    const { text, finishReason } = await ask('hello', { maxOutputTokens: 3 });
    expect(text).toBe('Hello! I am ');
    expect(finishReason.unified).toBe('length');
  });

  test('a JSON response format is answered with a warning', async () => {
    const { warnings } = await ask('hello', { responseFormat: { type: 'json' } });
    expect(warnings).toMatchObject([{ type: 'unsupported', feature: 'responseFormat' }]);
  });
});

/** Tools that work, on a notebook of their own. */
function workingTools(notebook: Map<string, string>) {
  return {
    calculator: tool({
      inputSchema: z.object({ expression: z.string() }),
      execute: ({ expression }) => ({ expression, value: evaluate(expression) }),
    }),
    notebook_write: tool({
      inputSchema: z.object({ name: z.string().regex(/^[a-z0-9-]+$/), text: z.string() }),
      execute: ({ name, text }) => {
        notebook.set(name, text);
        return { name, bytes: text.length };
      },
    }),
    notebook_read: tool({
      inputSchema: z.object({ name: z.string().optional() }),
      execute: ({ name }) => ({
        notes: [...notebook]
          .map(([key, text]) => ({ name: key, text }))
          .filter((note) => name === undefined || note.name === name),
      }),
    }),
  };
}

describe('through the AI SDK', () => {
  test('it works out, remembers, and recalls in another conversation', async () => {
    const tools = workingTools(new Map());
    const settings = { model, tools, stopWhen: isStepCount(5) };
    const first = await generateText({ ...settings, prompt: 'what is 17 * 23? remember it' });
    expect(first.steps.map((step) => step.toolCalls.map((call) => call.toolName))).toEqual([
      ['calculator'],
      ['notebook_write'],
      [],
    ]);
    expect(first.text).toContain('17 * 23 = 391');
    expect(first.steps[0]?.reasoningText).toContain('Rule “arithmetic” matched the expression “17 * 23”');

    const second = await generateText({ ...settings, prompt: 'what was the result?' });
    expect(second.steps[0]?.toolCalls.map((call) => call.toolName)).toEqual(['notebook_read']);
    expect(second.text).toBe('I noted: 17 * 23 = 391.');
  });

  test('a conversation continues from its messages', async () => {
    const settings = { model, tools: workingTools(new Map()), stopWhen: isStepCount(5) };
    const messages: ModelMessage[] = [{ role: 'user', content: 'what is 6 * 7?' }];
    messages.push(...(await generateText({ ...settings, messages })).responseMessages);
    messages.push({ role: 'user', content: 'double it, and remember that' });
    const { text, steps } = await generateText({ ...settings, messages });
    expect(text).toBe('42 * 2 = 84. I noted “42 * 2 = 84” under the name “42-times-2-is-84”.');
    expect(steps).toHaveLength(3);
  });

  test('the error of a tool is in the answer', async () => {
    const settings = { model, tools: workingTools(new Map()), stopWhen: isStepCount(5) };
    const { text, steps } = await generateText({ ...settings, prompt: 'what is 1 / 0?' });
    expect(text).toContain('Cannot divide by zero in "1 / 0"');
    expect(steps).toHaveLength(2);
  });

  test('it streams', async () => {
    const settings = { model, tools: workingTools(new Map()), stopWhen: isStepCount(5) };
    const { textStream } = streamText({ ...settings, prompt: 'what is 17 * 23?' });
    expect((await collect(textStream)).join('')).toBe('17 * 23 = 391.');
  });
});
