import type { LanguageModelV4ProviderTool } from '@ai-sdk/provider';
import {
  generateText,
  isStepCount,
  jsonSchema,
  Output,
  streamText,
  tool,
  type ModelMessage,
  type StepResult,
  type ToolSet,
} from 'ai';
import type { Scenario, Turn } from '../scenarios/scenario.ts';
import type { ScenarioTool } from '../scenarios/tools.ts';
import type { Provider } from '../wire.ts';
import { MAX_OUTPUT_TOKENS, SYSTEM_PROMPT, type Mode, type StepFacts } from './outcome.ts';

/** Runs a scenario with `generateText` or `streamText`, and returns its steps. */
export async function runWithSdk(
  provider: Provider,
  scenario: Scenario,
  mode: Mode,
  url: string,
): Promise<readonly StepFacts[]> {
  const messages: ModelMessage[] = [];
  const steps: StepFacts[] = [];
  for (const turn of scenario.turns) {
    messages.push(userMessageOf(turn));
    const result = await runTurn(provider, scenario, mode, url, messages);
    messages.push(...result.responseMessages);
    steps.push(...result.steps.map(factsOf));
  }
  return steps;
}

interface TurnResult {
  readonly responseMessages: readonly ModelMessage[];
  readonly steps: readonly StepResult<ToolSet>[];
}

async function runTurn(
  provider: Provider,
  scenario: Scenario,
  mode: Mode,
  url: string,
  messages: readonly ModelMessage[],
): Promise<TurnResult> {
  const options = {
    model: provider.model(url),
    instructions: SYSTEM_PROMPT,
    messages: [...messages],
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    maxRetries: 0,
    stopWhen: isStepCount(20),
    tools: toolsOf(provider, scenario),
    ...((provider.options ?? provider.defaults) && {
      providerOptions: { ...provider.defaults, ...provider.options },
    }),
    ...(scenario.output && { output: Output.object({ schema: scenario.output }) }),
  };
  if (mode === 'generated') return generateText(options);
  const result = streamText({ ...options, onError: () => undefined });
  return { steps: await result.steps, responseMessages: await result.responseMessages };
}

function toolsOf({ providerTool }: Provider, { tools, needs }: Scenario): ToolSet {
  const own = Object.fromEntries(tools.map((each) => [each.name, toolOf(each)]));
  if (!providerTool || !needs.includes('provider-calls')) return own;
  return { ...own, [providerTool.name]: providerToolOf(providerTool) };
}

function toolOf({ description, inputSchema, execute, picture }: ScenarioTool): ToolSet[string] {
  return tool({
    description,
    inputSchema,
    execute: async (input) => execute(input as { city: string }),
    ...(picture && {
      toModelOutput: ({ output }) => ({
        type: 'content',
        value: [
          { type: 'text', text: String(output) },
          { type: 'file', mediaType: picture.mediaType, data: { type: 'data', data: picture.base64 } },
        ],
      }),
    }),
  });
}

function providerToolOf({ id, args }: LanguageModelV4ProviderTool): ToolSet[string] {
  return tool({ type: 'provider', id, args, isProviderExecuted: true, inputSchema: jsonSchema({}) });
}

function userMessageOf({ text, pictures = [] }: Turn): ModelMessage {
  const files = pictures.map(({ mediaType, base64 }) => ({
    type: 'file' as const,
    mediaType,
    data: { type: 'data' as const, data: base64 },
  }));
  return { role: 'user', content: files.length > 0 ? [{ type: 'text', text }, ...files] : text };
}

function factsOf(step: StepResult<ToolSet>): StepFacts {
  const { inputTokens, outputTokens, inputTokenDetails, outputTokenDetails } = step.usage;
  return {
    text: step.text,
    reasoning: step.reasoning.map((part) => ('text' in part ? part.text : '')).join(''),
    finishReason: step.finishReason,
    rawFinishReason: step.rawFinishReason,
    usage: {
      inputTokens,
      outputTokens,
      cacheReadTokens: inputTokenDetails.cacheReadTokens,
      cacheWriteTokens: inputTokenDetails.cacheWriteTokens,
      reasoningTokens: outputTokenDetails.reasoningTokens,
    },
    calls: step.toolCalls.map(({ toolName, input }) => `${toolName} ${JSON.stringify(input)}`),
    sources: step.sources.map((source) => (source.sourceType === 'url' ? source.url : source.title)),
    files: step.files.length,
  };
}
