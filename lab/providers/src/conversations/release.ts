import {
  allSections,
  conversationWithCurrentToolTrace,
  createAgentLoop,
  summarize,
  tool,
  toolResult,
  type AgentLoop,
  type Clock,
  type JsonObject,
  type LlmConfig,
  type Tool,
  type ToolEffect,
} from '@holdfast/core';
import type { Driver, ToolOutput } from '@holdfast/core/driver';
import type { StrictProfile } from '../strict/index.ts';
import { z } from 'zod';
import type { Dice } from './dice.ts';
import { oddFile, oddText, oddValue, TOOL_NAMES } from './values.ts';

/** A release of an agent: a deploy replaces one by another. */
export interface Release {
  readonly loop: AgentLoop;
  readonly tools: readonly string[];
}

/** The parts that all releases of a conversation share. */
export interface ReleaseContext {
  readonly driver: Driver;
  readonly clock: Clock;
  readonly profiles: readonly StrictProfile[];
}

/** The settings that call the model of a profile. */
export function settingsOf({ name, options }: StrictProfile): LlmConfig & { readonly model: string } {
  return { model: name, maxOutputTokens: 4_000, ...(options && { providerOptions: options as JsonObject }) };
}

/** A random release. */
export function oddRelease(dice: Dice, { driver, clock, profiles }: ReleaseContext): Release {
  const tools = oddTools(dice);
  const chosen = dice.chance(0.7) ? conversationWithCurrentToolTrace() : allSections();
  const [first, second] = profiles;
  const summaries =
    first && dice.chance(0.2)
      ? summarize({ driver, llmConfig: settingsOf(first), maxTokens: 400, compiler: chosen })
      : undefined;
  const loop = createAgentLoop({
    driver,
    clock,
    tools,
    hooks: summaries ? [summaries.hook] : [],
    compiler: summaries?.compiler ?? chosen,
    budget: { maxSteps: 6 },
    inferenceRetry: { maxElapsedSeconds: 0, onExhausted: 'fail' },
    ...(second && dice.chance(0.5) && { fallback: { models: [settingsOf(second)], forSeconds: 1 } }),
    ...(dice.chance(0.3) && { finalStep: 'answer' as const }),
  });
  return { loop, tools: tools.map(({ name }) => name) };
}

function oddTools(dice: Dice): readonly Tool[] {
  const names = new Set(dice.list(0, 3, () => dice.of(TOOL_NAMES)));
  return [...names].map((name) =>
    tool({
      name,
      description: oddText(dice) || 'A tool.',
      inputSchema: z.object({ city: z.string().optional() }),
      effect: dice.of<ToolEffect>(['readOnly', 'idempotent', 'once']),
      execute: () => oddResult(dice),
    }),
  ) as readonly Tool[];
}

function oddResult(dice: Dice) {
  if (dice.chance(0.1)) throw new Error(oddText(dice));
  if (dice.chance(0.75)) return oddValue(dice);
  const modelOutput = oddOutput(dice);
  return toolResult({ value: 'A result.', modelOutput });
}

function oddOutput(dice: Dice): ToolOutput {
  switch (dice.number(0, 3)) {
    case 0:
      return { type: 'text', value: oddText(dice) };
    case 1:
      return { type: 'error-text', value: oddText(dice) };
    case 2:
      return { type: 'json', value: oddValue(dice) };
    default:
      return {
        type: 'content',
        value: dice.list(0, 3, () =>
          dice.chance(0.5) ? oddFile(dice) : { type: 'text' as const, text: oddText(dice) },
        ),
      };
  }
}
