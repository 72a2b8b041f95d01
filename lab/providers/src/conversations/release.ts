import {
  allSections,
  conversationWithCurrentToolTrace,
  createAgentLoop,
  summarize,
  type AgentLoop,
  type Clock,
  type Hook,
  type JsonObject,
  type LlmConfig,
} from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import type { StrictProfile } from '../strict/index.ts';
import type { Dice } from './dice.ts';
import type { Kind } from './kinds.ts';
import { toolsOf, type Declarations } from './tools.ts';

/** A release of an agent: a deploy replaces one by another. */
export interface Release {
  readonly loop: AgentLoop;
  readonly declarations: Declarations;
}

/** The parts that all releases of a conversation share. */
export interface ReleaseContext {
  readonly dice: Dice;
  readonly driver: Driver;
  readonly clock: Clock;
  readonly profiles: readonly StrictProfile[];
  readonly saw: (kind: Kind) => void;
}

/** The settings that call the model of a profile. */
export function settingsOf({ name, options }: StrictProfile): LlmConfig & { readonly model: string } {
  return { model: name, maxOutputTokens: 4_000, ...(options && { providerOptions: options as JsonObject }) };
}

/** A random release with these tools. */
export function oddRelease(context: ReleaseContext, declarations: Declarations): Release {
  const { dice, driver, clock, profiles } = context;
  const chosen = dice.chance(0.7) ? conversationWithCurrentToolTrace() : allSections();
  const [first, second] = profiles;
  const summaries =
    first && dice.chance(0.2)
      ? summarize({ driver, llmConfig: settingsOf(first), maxTokens: 400, compiler: chosen })
      : undefined;
  const loop = createAgentLoop({
    driver,
    clock,
    tools: toolsOf(dice, declarations),
    hooks: [...(summaries ? [summaries.hook] : []), continuing(context)],
    compiler: summaries?.compiler ?? chosen,
    budget: { maxSteps: dice.number(3, 6) },
    inferenceRetry: { maxElapsedSeconds: 0, onExhausted: 'fail' },
    ...(second && dice.chance(0.5) && { fallback: { models: [settingsOf(second)], forSeconds: 1 } }),
    ...(dice.chance(0.5) && { finalStep: 'answer' as const }),
  });
  return { loop, declarations };
}

/** Asks for another step after some answers, which are then the last messages of a request. */
function continuing({ dice, clock, saw }: ReleaseContext): Hook {
  return {
    afterStep(state) {
      if (!state.currentStep?.isFinalResponse || !dice.chance(0.12)) return undefined;
      saw('step after an answer');
      return state.withContinuationRequested(clock.now());
    },
  };
}
