import type { AnswerUsage, WireFailure } from '../wire.ts';
import { chatWire, choiceOf, type ChatDialect } from './chat.ts';
import { jsonResponse } from './event-stream.ts';
import { openAiFailure, openAiStatus } from './openai-failures.ts';
import { refusedByDeepSeek, refusedByGroq, refusedByMistral } from './vendor-failures.ts';

function usageOfOpenAi({ input, output, cacheRead = 0, reasoning = 0 }: AnswerUsage) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/** Chat Completions of OpenAI. The protocol has no reasoning. */
export const openAiChatWire = chatWire({ usage: usageOfOpenAi });

/** Chat Completions of other servers, such as vLLM: the reasoning is in `reasoning_content`. */
export const compatibleChatWire = chatWire({
  reasoning: (text) => ({ reasoning_content: text }),
  usage: usageOfOpenAi,
});

/** Groq sends the usage with the finish reason, in a member of its own. */
export const groqWire = chatWire({
  reasoning: (text) => ({ reasoning: text }),
  usage: usageOfOpenAi,
  end: (frame, finishReason, usage) => [
    { ...frame, choices: [choiceOf({}, finishReason)], x_groq: { id: 'req_1', usage } },
  ],
  refused: refusedByGroq,
});

/** DeepSeek counts cached tokens in members of its own, and sends the usage with the finish reason. */
export const deepSeekWire = chatWire({
  reasoning: (text) => ({ reasoning_content: text }),
  usage: ({ input, output, cacheRead = 0, reasoning = 0 }) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_cache_hit_tokens: cacheRead,
    prompt_cache_miss_tokens: input - cacheRead,
    completion_tokens_details: { reasoning_tokens: reasoning },
  }),
  end: endWithUsage,
  refused: refusedByDeepSeek,
});

/** Mistral has reasoning as a part of the content, and sends each call in one chunk. Its streams report no failure. */
export const mistralWire = chatWire({
  reasoning: (text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }),
  text: (text) => ({ content: [{ type: 'text', text }] }),
  usage: ({ input, output, cacheRead }) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cacheRead === undefined ? {} : { num_cached_tokens: cacheRead }),
  }),
  end: endWithUsage,
  hasWholeCalls: true,
  refused: refusedByMistral,
  failureEvent: null,
});

/** OpenRouter keeps the reasoning of each vendor in `reasoning_details`, reports costs, and sends pictures. */
export const openRouterWire = chatWire({
  reasoning: (text, signature) => ({
    reasoning: text,
    reasoning_details: [
      {
        type: 'reasoning.text',
        text,
        index: 0,
        format: 'anthropic-claude-v1',
        ...(signature && { signature }),
      },
    ],
  }),
  files: (files) => ({
    images: files.map(({ mediaType, base64 }) => ({
      type: 'image_url',
      image_url: { url: `data:${mediaType};base64,${base64}` },
    })),
  }),
  usage: ({ cacheWrite = 0, ...usage }) => {
    const counted = usageOfOpenAi(usage);
    return {
      ...counted,
      prompt_tokens_details: { ...counted.prompt_tokens_details, cache_write_tokens: cacheWrite },
      cost: 0.0015,
    };
  },
  refused: (failure) =>
    jsonResponse({ error: failureOfOpenRouter(failure) }, failureOfOpenRouter(failure).code),
  failureEvent: (failure) => ({
    id: 'gen-1',
    object: 'chat.completion.chunk',
    model: 'model-1',
    provider: 'Anthropic',
    error: failureOfOpenRouter(failure),
    choices: [choiceOf({ content: '' }, 'error')],
  }),
});

function failureOfOpenRouter(failure: WireFailure) {
  const { message } = openAiFailure(failure);
  return failure === 'quotaExceeded'
    ? { code: 402, message: 'This request requires more credits, or fewer max_tokens.' }
    : { code: openAiStatus(failure), message };
}

function endWithUsage(...[frame, finishReason, usage]: Parameters<NonNullable<ChatDialect['end']>>) {
  return [{ ...frame, choices: [choiceOf({}, finishReason)], usage }];
}
