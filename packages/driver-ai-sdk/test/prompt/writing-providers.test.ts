import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import {
  AgentState,
  assistantMessage,
  createAgentLoop,
  systemMessage,
  tool,
  userMessage,
  type Message,
} from '@holdfast/core';
import { List, toolMessage } from '@holdfast/core/driver';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { answer } from '../builders.ts';

/** Writes into each object and array at every level, and counts them. Values that nobody can write into are left. */
function writeEverywhere(value: unknown): number {
  if (Array.isArray(value)) {
    value.push(value.pop());
    return value.reduce((count: number, item) => count + writeEverywhere(item), 1);
  }
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof Uint8Array || value instanceof URL || value instanceof AbortSignal) return 0;
  const members = Object.values(value);
  Object.assign(value, { written: true });
  if ('description' in value) value.description = 'written';
  if ('text' in value) value.text = String(value.text);
  return members.reduce((count: number, member) => count + writeEverywhere(member), 1);
}

const options = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;
const nested = { deep: [{ list: [1, { more: 'x' }] }] };

const history: readonly Message[] = [
  systemMessage('Be brief.', { providerOptions: options }),
  userMessage([
    { type: 'text', text: 'Look.', providerOptions: options },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQI=' } },
  ]),
  assistantMessage([
    { type: 'text', text: 'I see.', providerOptions: options },
    { type: 'reasoning', text: 'Hm.', providerOptions: options },
    { type: 'tool-call', toolCallId: 'c', toolName: 'find', input: nested, providerOptions: options },
  ]),
  toolMessage([
    {
      type: 'tool-result',
      toolCallId: 'c',
      toolName: 'find',
      output: { type: 'json', value: nested, providerOptions: options },
      providerOptions: options,
    },
  ]),
  userMessage('And now?'),
];

test.each(['off', 'auto'] as const)(
  'a provider may write into all that it gets, promptCache %s',
  async (promptCache) => {
    const counts: number[] = [];
    const texts: string[] = [];
    let calls = 0;
    const model = new MockLanguageModelV4({
      provider: 'anthropic.messages',
      doGenerate: async (given: LanguageModelV4CallOptions) => {
        texts.push(JSON.stringify(given.tools?.[0]));
        counts.push(writeEverywhere(given));
        return calls++ === 0
          ? answer([{ type: 'tool-call', toolCallId: `call ${calls}`, toolName: 'find', input: '{}' }])
          : answer('Done.');
      },
    });
    const inputSchema = {
      type: 'object',
      properties: { what: { type: 'array', items: { enum: ['a', 'b'] } } },
    } as const;
    const find = tool({ name: 'find', description: 'Finds.', inputSchema, execute: () => nested });
    const loop = createAgentLoop({ driver: aiSdkDriver({ model, promptCache }), tools: [find] });
    const state = AgentState.empty()
      .withSystemPrompt('Be kind.')
      .withMessages(List.from(history).slice())
      .withLlmConfig({ providerOptions: { openai: { nested } }, stopSequences: ['STOP'] })
      .withResponseFormat({
        type: 'json',
        schema: { type: 'object', properties: { a: { type: 'string' } } },
      });
    const before = JSON.stringify(state);
    const after = await loop.run(state);
    expect(after.errors).toEqual([]);
    expect([after.status, after.finalResponse]).toEqual(['completed', 'Done.']);
    expect(JSON.stringify(state)).toBe(before);
    expect(JSON.stringify(after)).not.toContain('written');
    expect(JSON.stringify(find.inputSchema)).toBe(JSON.stringify(inputSchema));
    expect(counts).toHaveLength(2);
    expect(counts[0]).toBeGreaterThan(50);
    expect(texts[0]).not.toContain('written');
  },
);
