import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createCohere } from '@ai-sdk/cohere';
import { createGateway } from '@ai-sdk/gateway';
import { createGoogle } from '@ai-sdk/google';
import { createGoogleVertex } from '@ai-sdk/google-vertex';
import { createGoogleVertexAnthropic } from '@ai-sdk/google-vertex/anthropic';
import { createOllama } from 'ollama-ai-provider-v2';
import { features } from '../../providers/features.ts';
import type { StrictProfile } from '../profile.ts';
import {
  anthropicStrict,
  bedrockStrict,
  cohereStrict,
  gatewayStrict,
  googleStrict,
  ollamaStrict,
} from '../wires.ts';

const apiKey = 'key-1';
const signedFeatures = features('reasoning', 'signature', 'parallel-calls', 'picture-results', 'files-in');
const searchFeatures = features(...signedFeatures, 'provider-calls');
const BUDGET = { type: 'enabled', budgetTokens: 1024 };

function claude(name: string, modelId: string, dialects = ['anthropic']): StrictProfile {
  return {
    name,
    package: '@ai-sdk/anthropic',
    wire: anthropicStrict,
    dialects,
    features: searchFeatures,
    model: (baseUrl) => createAnthropic({ apiKey, baseURL: `${baseUrl}/v1` })(modelId),
  };
}

function gemini(name: string, modelId: string): StrictProfile {
  return {
    name,
    package: '@ai-sdk/google',
    wire: googleStrict,
    dialects: ['google'],
    features: searchFeatures,
    model: (baseUrl) => createGoogle({ apiKey, baseURL: `${baseUrl}/v1beta` })(modelId),
  };
}

function bedrock(name: string, modelId: string, given = signedFeatures): StrictProfile {
  return {
    name,
    package: '@ai-sdk/amazon-bedrock',
    wire: bedrockStrict,
    dialects: ['bedrock'],
    features: given,
    model: (baseUrl) => createAmazonBedrock({ region: 'us-east-1', apiKey, baseURL: baseUrl })(modelId),
  };
}

function ollama(name: string, modelId: string, given: StrictProfile['features']): StrictProfile {
  return {
    name,
    package: 'ollama-ai-provider-v2',
    wire: ollamaStrict,
    dialects: ['ollama'],
    features: given,
    model: (baseUrl) => createOllama({ baseURL: `${baseUrl}/api` })(modelId),
  };
}

const plain = features('parallel-calls', 'files-in');

/** The providers with a protocol of their own. */
export const nativeProfiles: readonly StrictProfile[] = [
  claude('anthropic', 'claude-sonnet-4-5'),
  {
    ...claude('anthropic (budget)', 'claude-sonnet-4-5'),
    options: { anthropic: { thinking: BUDGET } },
  },
  claude('anthropic (no prefill)', 'claude-opus-4-8'),
  claude('anthropic (bound thinking)', 'claude-opus-5-5'),
  claude('anthropic (proxy)', 'claude-sonnet-4-5', ['anthropic', 'anthropic-proxy']),
  {
    ...claude('deepseek (Messages)', 'deepseek-v4-pro', ['deepseek-anthropic']),
    features: signedFeatures,
    reasons: true,
  },
  gemini('google', 'gemini-3-pro-preview'),
  gemini('google (2.5)', 'gemini-2.5-flash'),
  gemini('google (3.6)', 'gemini-3.6-flash'),
  {
    ...gemini('google-vertex', 'gemini-3-pro-preview'),
    package: '@ai-sdk/google-vertex',
    dialects: ['vertex'],
    model: (baseUrl) =>
      createGoogleVertex({ apiKey, baseURL: `${baseUrl}/v1/publishers/google` })('gemini-3-pro-preview'),
  },
  {
    ...claude('google-vertex (Anthropic)', 'claude-sonnet-4-5', ['anthropic', 'vertex-anthropic']),
    package: '@ai-sdk/google-vertex',
    model: (baseUrl) =>
      createGoogleVertexAnthropic({
        project: 'project-1',
        location: 'us-east5',
        baseURL: `${baseUrl}/v1/publishers/anthropic/models`,
        generateAuthToken: () => Promise.resolve('token-1'),
      })('claude-sonnet-4-5'),
  },
  bedrock('amazon-bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'),
  {
    ...bedrock('amazon-bedrock (budget)', 'anthropic.claude-sonnet-4-5-20250929-v1:0'),
    options: { bedrock: { reasoningConfig: BUDGET }, amazonBedrock: { reasoningConfig: BUDGET } },
  },
  bedrock('amazon-bedrock (bound thinking)', 'anthropic.claude-opus-5-5-v1:0'),
  bedrock(
    'amazon-bedrock (Nova)',
    'amazon.nova-pro-v1:0',
    features('reasoning', 'parallel-calls', 'files-in'),
  ),
  bedrock('amazon-bedrock (Mistral)', 'mistral.mistral-large-2407-v1:0', plain),
  {
    name: 'cohere',
    package: '@ai-sdk/cohere',
    wire: cohereStrict,
    dialects: ['cohere'],
    features: features('reasoning', 'parallel-calls', 'files-in'),
    model: (baseUrl) => createCohere({ apiKey, baseURL: `${baseUrl}/v2` })('command-a-reasoning-08-2025'),
  },
  ollama('ollama', 'qwen3', features('reasoning', 'parallel-calls', 'files-in')),
  ollama('ollama (Mistral)', 'devstral-small-2:24b', plain),
  {
    name: 'gateway',
    package: '@ai-sdk/gateway',
    wire: gatewayStrict,
    dialects: ['gateway'],
    features: signedFeatures,
    model: (baseUrl) => createGateway({ apiKey, baseURL: `${baseUrl}/v4/ai` })('anthropic/claude-sonnet-4.5'),
  },
];
