import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelPrices } from '@holdfast/core';
import {
  markedCache,
  prefixCache,
  type Block,
  type CountedInput,
  type PromptCacheRule,
} from './cache-rules.ts';
import { anthropicBlocks, googleBlocks, openAiBlocks, type Json } from './prompt-blocks.ts';
import type { ScriptedAnswer } from './script.ts';

type Fetch = typeof globalThis.fetch;

/** The tokens that a response reports. */
interface Counted extends CountedInput {
  readonly output: number;
}

/** A provider package, the cache of its provider, and the form of its responses. */
export interface CachingProvider {
  readonly name: string;
  model(fetch: Fetch): LanguageModelV4;
  cache(): PromptCacheRule;
  blocks(body: Json): readonly Block[];
  response(answer: ScriptedAnswer, counted: Counted): Json;
}

/** US dollars for a million tokens. */
export const PRICES: ModelPrices = {
  'claude-sonnet-4-5': { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  'gpt-5': { input: 1.25, output: 10, cacheRead: 0.125 },
  'gemini-2.5-pro': { input: 1.25, output: 10, cacheRead: 0.125 },
};

const settings = { apiKey: 'test', baseURL: 'http://provider.test' };

export const anthropic: CachingProvider = {
  name: 'Anthropic',
  model: (fetch) => createAnthropic({ ...settings, fetch })('claude-sonnet-4-5'),
  cache: () => markedCache(),
  blocks: anthropicBlocks,
  response: (answer, { fresh, cacheRead, cacheWrite, output }) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content:
      typeof answer === 'string'
        ? [{ type: 'text', text: answer }]
        : answer.map((call) => ({ type: 'tool_use', ...call })),
    stop_reason: typeof answer === 'string' ? 'end_turn' : 'tool_use',
    usage: {
      input_tokens: fresh,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite,
      output_tokens: output,
    },
  }),
};

export const openAi: CachingProvider = {
  name: 'OpenAI',
  model: (fetch) => createOpenAI({ ...settings, fetch }).chat('gpt-5'),
  cache: () => prefixCache(1_024, 128),
  blocks: openAiBlocks,
  response: (answer, { fresh, cacheRead, output }) => ({
    id: 'chatcmpl-1',
    model: 'gpt-5',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', ...openAiContent(answer) },
        finish_reason: typeof answer === 'string' ? 'stop' : 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: fresh + cacheRead,
      completion_tokens: output,
      total_tokens: fresh + cacheRead + output,
      prompt_tokens_details: { cached_tokens: cacheRead },
    },
  }),
};

function openAiContent(answer: ScriptedAnswer): Json {
  if (typeof answer === 'string') return { content: answer };
  const calls = answer.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  return { content: null, tool_calls: calls };
}

export const google: CachingProvider = {
  name: 'Google',
  model: (fetch) => createGoogle({ ...settings, fetch })('gemini-2.5-pro'),
  cache: () => prefixCache(4_096, 1),
  blocks: googleBlocks,
  response: (answer, { fresh, cacheRead, output }) => ({
    modelVersion: 'gemini-2.5-pro',
    candidates: [
      {
        content: { role: 'model', parts: googleParts(answer) },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: fresh + cacheRead,
      cachedContentTokenCount: cacheRead,
      candidatesTokenCount: output,
      totalTokenCount: fresh + cacheRead + output,
    },
  }),
};

function googleParts(answer: ScriptedAnswer): readonly Json[] {
  if (typeof answer === 'string') return [{ text: answer }];
  return answer.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }));
}

export const CACHING_PROVIDERS: readonly CachingProvider[] = [anthropic, openAi, google];
