import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createCohere } from '@ai-sdk/cohere';
import { createGateway } from '@ai-sdk/gateway';
import { createGoogle } from '@ai-sdk/google';
import { createGoogleVertex } from '@ai-sdk/google-vertex';
import { createGoogleVertexAnthropic } from '@ai-sdk/google-vertex/anthropic';
import { createOllama } from 'ollama-ai-provider-v2';
import type { Provider } from '../wire.ts';
import { anthropicWire } from '../wires/anthropic.ts';
import { bedrockWire } from '../wires/bedrock.ts';
import { cohereWire } from '../wires/cohere.ts';
import { gatewayWire } from '../wires/gateway.ts';
import { googleWire } from '../wires/google.ts';
import { ollamaWire } from '../wires/ollama.ts';
import { claudeFeatures, features, geminiFeatures } from './features.ts';

const apiKey = 'key-1';

export const anthropic: Provider = {
  name: 'anthropic',
  package: '@ai-sdk/anthropic',
  wire: anthropicWire,
  features: features(...claudeFeatures, 'structured-output'),
  providerTool: { type: 'provider', id: 'anthropic.web_search_20250305', name: 'web_search', args: {} },
  model: (baseUrl) => createAnthropic({ apiKey, baseURL: `${baseUrl}/v1` })('claude-sonnet-4-5'),
};

export const google: Provider = {
  name: 'google',
  package: '@ai-sdk/google',
  wire: googleWire,
  features: features(...geminiFeatures),
  providerTool: { type: 'provider', id: 'google.code_execution', name: 'code_execution', args: {} },
  model: (baseUrl) => createGoogle({ apiKey, baseURL: `${baseUrl}/v1beta` })('gemini-3-pro-preview'),
};

export const googleVertex: Provider = {
  ...google,
  name: 'google-vertex',
  package: '@ai-sdk/google-vertex',
  model: (baseUrl) =>
    createGoogleVertex({ apiKey, baseURL: `${baseUrl}/v1/publishers/google` })('gemini-3-pro-preview'),
};

/** Claude on Vertex AI has no structured output of its own: the package declares a tool for it. */
export const vertexAnthropic: Provider = {
  ...anthropic,
  name: 'google-vertex (Anthropic)',
  package: '@ai-sdk/google-vertex',
  features: features(...claudeFeatures),
  model: (baseUrl) =>
    createGoogleVertexAnthropic({
      project: 'project-1',
      location: 'us-east5',
      baseURL: `${baseUrl}/v1/publishers/anthropic/models`,
      generateAuthToken: () => Promise.resolve('token-1'),
    })('claude-sonnet-4-5'),
};

export const amazonBedrock: Provider = {
  name: 'amazon-bedrock',
  package: '@ai-sdk/amazon-bedrock',
  wire: bedrockWire,
  features: features(
    'reasoning',
    'signature',
    'parallel-calls',
    'picture-results',
    'files-in',
    'cache-usage',
    'structured-output',
  ),
  model: (baseUrl) =>
    createAmazonBedrock({ region: 'us-east-1', apiKey, baseURL: baseUrl })(
      'anthropic.claude-sonnet-4-5-20250929-v1:0',
    ),
};

export const cohere: Provider = {
  name: 'cohere',
  package: '@ai-sdk/cohere',
  wire: cohereWire,
  features: features('reasoning', 'parallel-calls', 'files-in', 'structured-output'),
  model: (baseUrl) => createCohere({ apiKey, baseURL: `${baseUrl}/v2` })('command-a-reasoning-08-2025'),
};

export const ollama: Provider = {
  name: 'ollama',
  package: 'ollama-ai-provider-v2',
  wire: ollamaWire,
  features: features('reasoning', 'parallel-calls', 'files-in', 'structured-output'),
  model: (baseUrl) => createOllama({ baseURL: `${baseUrl}/api` })('qwen3'),
};

export const gateway: Provider = {
  name: 'gateway',
  hasFreeOrder: true,
  package: '@ai-sdk/gateway',
  wire: gatewayWire,
  features: features(...geminiFeatures),
  providerTool: { type: 'provider', id: 'gateway.perplexity_search', name: 'perplexity_search', args: {} },
  model: (baseUrl) => createGateway({ apiKey, baseURL: `${baseUrl}/v4/ai` })('anthropic/claude-sonnet-4.5'),
};
