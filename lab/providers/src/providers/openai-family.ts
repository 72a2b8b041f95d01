import { createDeepSeek } from '@ai-sdk/deepseek';
import { createGroq } from '@ai-sdk/groq';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createXai } from '@ai-sdk/xai';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import type { Provider } from '../wire.ts';
import {
  compatibleChatWire,
  deepSeekWire,
  groqWire,
  mistralWire,
  openAiChatWire,
  openRouterWire,
} from '../wires/chat-dialects.ts';
import { responsesWire, xaiWire } from '../wires/responses.ts';
import { chatFeatures, features, responsesFeatures } from './features.ts';

const apiKey = 'key-1';

function openai(baseUrl: string) {
  return createOpenAI({ apiKey, baseURL: `${baseUrl}/v1` });
}

/** The driver lets OpenAI store nothing, unless the options demand it. */
export const openAiResponses: Provider = {
  name: 'openai (Responses)',
  package: '@ai-sdk/openai',
  wire: responsesWire,
  features: features(...responsesFeatures, 'program-calls'),
  providerTool: { type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} },
  defaults: { openai: { store: false } },
  model: (baseUrl) => openai(baseUrl)('gpt-5'),
};

/** OpenAI stores the answers, and the requests refer to them. */
export const openAiStored: Provider = {
  ...openAiResponses,
  name: 'openai (stored)',
  options: { openai: { store: true } },
};

export const openAiChat: Provider = {
  name: 'openai (Chat)',
  package: '@ai-sdk/openai',
  wire: openAiChatWire,
  features: features(
    'parallel-calls',
    'files-in',
    'sources',
    'cache-usage',
    'reasoning-usage',
    'structured-output',
  ),
  model: (baseUrl) => openai(baseUrl).chat('gpt-4.1'),
};

export const openAiCompatible: Provider = {
  name: 'openai-compatible',
  package: '@ai-sdk/openai-compatible',
  wire: compatibleChatWire,
  features: features(...chatFeatures),
  model: (baseUrl) =>
    createOpenAICompatible({
      name: 'local',
      apiKey,
      baseURL: `${baseUrl}/v1`,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })('model-1'),
};

export const groq: Provider = {
  name: 'groq',
  package: '@ai-sdk/groq',
  wire: groqWire,
  features: features(...chatFeatures),
  model: (baseUrl) => createGroq({ apiKey, baseURL: baseUrl })('openai/gpt-oss-120b'),
};

export const deepSeek: Provider = {
  name: 'deepseek',
  package: '@ai-sdk/deepseek',
  wire: deepSeekWire,
  features: features(...chatFeatures),
  model: (baseUrl) => createDeepSeek({ apiKey, baseURL: baseUrl })('deepseek-reasoner'),
};

export const mistral: Provider = {
  name: 'mistral',
  package: '@ai-sdk/mistral',
  wire: mistralWire,
  features: features('reasoning', 'parallel-calls', 'files-in', 'cache-usage', 'structured-output'),
  model: (baseUrl) => createMistral({ apiKey, baseURL: baseUrl })('magistral-medium-latest'),
};

export const xai: Provider = {
  name: 'xai',
  package: '@ai-sdk/xai',
  wire: xaiWire,
  features: features(...responsesFeatures),
  providerTool: { type: 'provider', id: 'xai.web_search', name: 'web_search', args: {} },
  model: (baseUrl) => createXai({ apiKey, baseURL: baseUrl })('grok-4'),
};

export const openRouter: Provider = {
  name: 'openrouter',
  package: '@openrouter/ai-sdk-provider',
  wire: openRouterWire,
  features: features(
    'reasoning',
    'signature',
    'parallel-calls',
    'picture-results',
    'files-in',
    'files-out',
    'sources',
    'cache-usage',
    'reasoning-usage',
    'structured-output',
  ),
  model: (baseUrl) =>
    createOpenRouter({ apiKey, baseURL: baseUrl, compatibility: 'strict' })('anthropic/claude-sonnet-4.5'),
};
