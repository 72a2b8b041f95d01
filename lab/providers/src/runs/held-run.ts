import {
  AgentState,
  allSections,
  createAgentLoop,
  structuredOutput,
  systemClock,
  tool,
  toolResult,
  type AgentStep,
  type Clock,
  type JsonObject,
  type Tool,
  type UserPart,
} from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { wrapLanguageModel } from 'ai';
import type { Scenario, Turn } from '../scenarios/scenario.ts';
import type { ScenarioTool } from '../scenarios/tools.ts';
import type { Provider } from '../wire.ts';
import { MAX_OUTPUT_TOKENS, SYSTEM_PROMPT, type Mode, type StepFacts } from './outcome.ts';

/** Takes one step of a state in the form of JSON, and returns the new state as JSON. */
export type TakeStep = (json: JsonObject) => Promise<JsonObject>;

/** Runs a scenario step by step. Between two steps, only JSON is left of the agent. */
export async function runHeld(
  provider: Provider,
  scenario: Scenario,
  takeStep: TakeStep,
): Promise<readonly StepFacts[]> {
  let json = copyOf(firstState(provider).toJSON());
  const steps: StepFacts[] = [];
  for (const turn of scenario.turns) {
    let state = withTurn(AgentState.fromJSON(json), turn);
    do {
      json = await takeStep(copyOf(state.toJSON()));
      state = AgentState.fromJSON(json);
    } while (!isEnded(state));
    if (state.status !== 'completed') throw endedWrongly(state);
    steps.push(...state.steps.map(factsOf));
  }
  return steps;
}

/** Takes one step in this process, with a new provider, driver and loop. */
export function takeStepHere(provider: Provider, scenario: Scenario, mode: Mode, url: string): TakeStep {
  return async (json) => {
    const onEvent = mode === 'streamed' ? () => undefined : undefined;
    for await (const state of loopOf(provider, scenario, url).iterate(AgentState.fromJSON(json), { onEvent }))
      return copyOf(state.toJSON());
    throw new Error('The loop yielded no state.');
  };
}

/** A clock whose pauses end at once. Google requests a pause of 22 seconds before a call is repeated. */
const impatientClock: Clock = {
  ...systemClock,
  after(_, callback) {
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  },
};

/** A new loop with a new driver and a new provider. */
export function loopOf(provider: Provider, scenario: Scenario, url: string) {
  return createAgentLoop({
    driver: aiSdkDriver({ model: modelOf(provider, scenario, url), maxRetries: 0 }),
    tools: scenario.tools.map(toolOf),
    compiler: allSections(),
    clock: impatientClock,
    inferenceRetry: { maxPauseSeconds: 60 },
    ...(scenario.output && { hooks: [structuredOutput(scenario.output)] }),
  });
}

/** The state before the first turn. */
export function firstState({ options }: Provider): AgentState {
  return AgentState.empty()
    .withSystemPrompt(SYSTEM_PROMPT)
    .withLlmConfig({ maxOutputTokens: MAX_OUTPUT_TOKENS, ...(options && { providerOptions: options }) });
}

/** The state with the user's message. */
export function withTurn(state: AgentState, { text, pictures = [] }: Turn): AgentState {
  const files = pictures.map(({ mediaType, base64 }): UserPart => ({
    type: 'file',
    mediaType,
    data: { type: 'data', data: base64 },
  }));
  return state.withUserMessage(files.length > 0 ? [{ type: 'text', text }, ...files] : text);
}

function isEnded({ status }: AgentState): boolean {
  return status !== 'pending' && status !== 'inProgress';
}

function endedWrongly({ status, errors }: AgentState): Error {
  return new Error(`The execution ended ${status}: ${JSON.stringify(errors)}`);
}

/** The model. A middleware declares the tool that the provider runs. */
function modelOf({ model, providerTool }: Provider, { needs }: Scenario, url: string) {
  if (!providerTool || !needs.includes('provider-calls')) return model(url);
  return wrapLanguageModel({
    model: model(url),
    middleware: {
      transformParams: async ({ params }) => ({ ...params, tools: [...(params.tools ?? []), providerTool] }),
    },
  });
}

function toolOf({ name, description, inputSchema, execute, picture }: ScenarioTool): Tool {
  return tool({
    name,
    description,
    inputSchema,
    execute: (input) => {
      const value = execute(input as { city: string });
      if (!picture) return value;
      const { mediaType, base64 } = picture;
      return toolResult({
        value,
        modelOutput: {
          type: 'content',
          value: [
            { type: 'text', text: String(value) },
            { type: 'file', mediaType, data: { type: 'data', data: base64 } },
          ],
        },
      });
    },
  });
}

/** The facts of a step. */
export function factsOf({ response }: AgentStep): StepFacts {
  if (!response) throw new Error('A step has no response.');
  const { text, reasoning, finishReason, rawFinishReason, usage, content } = response;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    text,
    reasoning,
    finishReason,
    rawFinishReason,
    usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens },
    calls: content
      .filter((part) => part.type === 'tool-call')
      .map(({ toolName, input }) => `${toolName} ${JSON.stringify(input)}`),
    sources: content
      .filter((part) => part.type === 'source')
      .map(({ source }) => source['url'] ?? source['title']),
    files: content.filter(({ type }) => type === 'file').length,
  };
}

/** The value as another process reads it from JSON. */
export function copyOf(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
