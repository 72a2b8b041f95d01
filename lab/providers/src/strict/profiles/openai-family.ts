import { createDeepSeek } from '@ai-sdk/deepseek';
import { createGroq } from '@ai-sdk/groq';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createXai } from '@ai-sdk/xai';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { features } from '../../providers/features.ts';
import {
  deepSeekWire,
  groqWire,
  mistralWire,
  openAiChatWire,
  openRouterWire,
} from '../../wires/chat-dialects.ts';
import type { StrictProfile } from '../profile.ts';
import { mistralError, openRouterError, xaiError } from '../refusal.ts';
import { chatStrict, responsesStrict } from '../wires.ts';

const apiKey = 'key-1';
const plain = features('parallel-calls', 'files-in');
const reasoning = features('reasoning', 'parallel-calls', 'files-in');
const signedFeatures = features('reasoning', 'signature', 'parallel-calls', 'picture-results', 'files-in');
const searchFeatures = features(...signedFeatures, 'provider-calls');

/** A server with the Responses protocol, called by the package of OpenAI under this name. */
function responses(
  name: string,
  provider: string,
  modelId: string,
  dialects: readonly string[],
): StrictProfile {
  return {
    name,
    package: '@ai-sdk/openai',
    wire: responsesStrict,
    dialects,
    features: searchFeatures,
    model: (baseUrl) => createOpenAI({ name: provider, apiKey, baseURL: `${baseUrl}/v1` })(modelId),
  };
}

/** A server with Chat Completions, called by the package of OpenAI under this name. */
function chat(name: string, provider: string, dialects: readonly string[]): StrictProfile {
  return {
    name,
    package: '@ai-sdk/openai',
    wire: chatStrict(openAiChatWire),
    dialects: ['chat', ...dialects],
    features: plain,
    model: (baseUrl) => createOpenAI({ name: provider, apiKey, baseURL: `${baseUrl}/v1` }).chat('gpt-4.1'),
  };
}

function deepSeek(name: string, modelId: string): StrictProfile {
  return {
    name,
    package: '@ai-sdk/deepseek',
    wire: chatStrict(deepSeekWire),
    dialects: ['chat', 'deepseek'],
    features: features('reasoning', 'parallel-calls'),
    reasons: true,
    model: (baseUrl) => createDeepSeek({ apiKey, baseURL: baseUrl })(modelId),
  };
}

function groq(name: string, modelId: string, given = reasoning): StrictProfile {
  return {
    name,
    package: '@ai-sdk/groq',
    wire: chatStrict(groqWire),
    dialects: ['chat', 'groq'],
    features: given,
    model: (baseUrl) => createGroq({ apiKey, baseURL: baseUrl })(modelId),
  };
}

const stored = responses('openai (stored)', 'openai', 'gpt-5', ['openai-responses']);

/** OpenAI, and the providers with a package of their own that speak its protocols. */
export const openAiProfiles: readonly StrictProfile[] = [
  { ...stored, name: 'openai (Responses)', options: { openai: { store: false } } },
  { ...stored, options: { openai: { store: true } } },
  responses('azure (Responses)', 'azure', 'gpt-5', ['openai-responses']),
  responses('other server (Responses)', 'acme', 'model-1', ['compatible-responses', 'openai-responses']),
  {
    ...responses('deepseek (Responses)', 'deepseek', 'deepseek-v4-pro', ['deepseek-responses']),
    features: signedFeatures,
  },
  chat('openai (Chat)', 'openai', ['openai-chat']),
  chat('azure (Chat)', 'azure', ['openai-chat', 'azure-chat']),
  {
    name: 'xai',
    package: '@ai-sdk/xai',
    wire: { ...responsesStrict, refuse: xaiError },
    dialects: ['xai-responses'],
    features: searchFeatures,
    model: (baseUrl) => createXai({ apiKey, baseURL: baseUrl })('grok-4'),
  },
  groq('groq', 'openai/gpt-oss-120b'),
  groq('groq (no reasoning)', 'llama-3.3-70b-versatile', plain),
  deepSeek('deepseek', 'deepseek-reasoner'),
  deepSeek('deepseek (V4)', 'deepseek-v4-pro'),
  {
    name: 'mistral',
    package: '@ai-sdk/mistral',
    wire: chatStrict(mistralWire, mistralError),
    dialects: ['chat', 'mistral'],
    features: reasoning,
    model: (baseUrl) => createMistral({ apiKey, baseURL: baseUrl })('magistral-medium-latest'),
  },
  {
    name: 'openrouter',
    package: '@openrouter/ai-sdk-provider',
    wire: chatStrict(openRouterWire, openRouterError),
    dialects: ['chat', 'openrouter'],
    features: signedFeatures,
    model: (baseUrl) =>
      createOpenRouter({ apiKey, baseURL: baseUrl, compatibility: 'strict' })('anthropic/claude-sonnet-4.5'),
  },
];
