import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { features } from '../../providers/features.ts';
import type { StrictProfile } from '../profile.ts';
import { compatibleChatWire } from '../../wires/chat-dialects.ts';
import { xaiError } from '../refusal.ts';
import { chatStrict } from '../wires.ts';

/** A server that follows OpenAI's Chat Completions, called under the name of the provider. */
function server(
  provider: string,
  modelId: string,
  dialects: readonly string[],
  reasons = false,
): StrictProfile {
  return {
    name: provider,
    package: '@ai-sdk/openai-compatible',
    wire: chatStrict(),
    dialects: ['chat', ...dialects],
    reasons,
    features: features('reasoning', 'parallel-calls', 'files-in'),
    model: (baseUrl) =>
      createOpenAICompatible({
        name: provider,
        apiKey: 'key-1',
        baseURL: `${baseUrl}/v1`,
        includeUsage: true,
      })(modelId),
  };
}

/** The servers behind `@ai-sdk/openai-compatible`. `acme` is a server without rules of its own: it refuses what any other refuses. */
export const compatibleProfiles: readonly StrictProfile[] = [
  server('acme', 'model-1', ['strict-chat']),
  {
    ...server('xai', 'grok-4', ['xai-chat']),
    name: 'xai (Chat)',
    wire: chatStrict(compatibleChatWire, xaiError),
  },
  server('moonshotai', 'kimi-k2.5', ['moonshot'], true),
  server('cerebras', 'zai-glm-4.7', ['cerebras']),
  server('togetherai', 'meta-llama/Llama-4-Maverick', ['strict-chat']),
  server('fireworks', 'accounts/fireworks/models/glm-4p7', ['strict-chat']),
  server('zai', 'glm-4.7', ['zhipu']),
  server('dashscope', 'qwen3-max', ['dashscope'], true),
  server('minimax', 'MiniMax-M2', ['minimax']),
  server('vllm', 'Qwen/Qwen3-32B', ['vllm']),
  server('llama.cpp', 'qwen3-8b', ['llama.cpp'], true),
  server('lmstudio', 'qwen3-8b', ['lm-studio']),
  server('vllm-mistral', 'mistralai/Devstral-Small-2-24B-Instruct-2512', ['mistral-local']),
  server('vllm-gemma', 'google/gemma-3-27b-it', ['gemma-local']),
  server('litellm', 'claude-sonnet-4-5', ['litellm']),
];
