import type { StrictAnswer, StrictProfile } from '../strict/index.ts';
import { PIXEL } from '../scenarios/tools.ts';
import type { AnswerPart } from '../wire.ts';
import type { StrictStep } from '../strict/server.ts';
import type { Dice } from './dice.ts';
import { oddArguments, oddId, oddName, oddText } from './values.ts';

/** The facts that an answer depends on. */
export interface AnswerContext {
  readonly profile: StrictProfile;
  /** The names of the agent's tools. */
  readonly tools: readonly string[];
  /** True when the answer must not call a tool, so that the execution ends. */
  readonly isLast: boolean;
}

/** A random answer of a model, or a failure of its provider. */
export function oddStep(dice: Dice, context: AnswerContext): StrictStep {
  if (dice.chance(0.04)) return { failure: 'overloaded' };
  const parts = [...reasoning(dice, context), ...content(dice, context)];
  return { parts, ...ending(dice) };
}

function ending(dice: Dice): Pick<StrictAnswer, 'finish' | 'break'> {
  if (dice.chance(0.1)) return { finish: 'length' };
  if (dice.chance(0.02)) return { finish: 'content-filter' };
  if (dice.chance(0.04)) return { break: { type: dice.of(['cut', 'end']), after: dice.number(0, 6) } };
  return {};
}

function reasoning(dice: Dice, { profile }: AnswerContext): readonly AnswerPart[] {
  if (!profile.features.has('reasoning') || dice.chance(0.3)) return [];
  // A message of Chat Completions has one reasoning.
  const most = profile.wire.name === 'Chat Completions' ? 1 : 2;
  return dice.list(1, most, () => ({ type: 'reasoning', text: reasoningText(dice, profile) }));
}

/** Redacted reasoning has no text. Only the wire of Anthropic writes it. */
function reasoningText(dice: Dice, { wire }: StrictProfile): string {
  const isRedacted = dice.chance(0.2) && wire.name === 'Messages';
  return isRedacted ? '' : oddText(dice) || 'Hm.';
}

function content(dice: Dice, context: AnswerContext): readonly AnswerPart[] {
  const texts = (share: number): readonly AnswerPart[] =>
    dice.chance(share) ? [{ type: 'text', text: oddText(dice) }] : [];
  if (context.isLast) return texts(0.9);
  if (dice.chance(0.3)) return [...search(dice, context), ...texts(0.9), ...picture(dice, context)];
  return [...search(dice, context), ...texts(0.5), ...calls(dice, context), ...texts(0.1)];
}

/** A call that the provider runs itself. Its wire makes its id from this one. */
function search(dice: Dice, { profile }: AnswerContext): readonly AnswerPart[] {
  if (!profile.features.has('provider-calls') || !dice.chance(0.15)) return [];
  const id = String(dice.number(100_000, 999_999));
  return [
    { type: 'provider-call', id, query: 'Rome', result: { title: 'Rome', url: 'https://rome.example' } },
  ];
}

function picture(dice: Dice, { profile }: AnswerContext): readonly AnswerPart[] {
  if (!profile.features.has('signature') || !dice.chance(0.1)) return [];
  return [{ type: 'file', ...PIXEL }];
}

/** The protocols whose servers parse the arguments of the model: they are always an object. */
const PARSED = new Set(['Ollama', 'generateContent']);

function calls(dice: Dice, { tools, profile }: AnswerContext): readonly AnswerPart[] {
  return dice.list(1, 3, () => {
    const argumentsText = oddArguments(dice, PARSED.has(profile.wire.name));
    return { type: 'call', id: oddId(dice), name: oddName(dice, tools), input: {}, argumentsText };
  });
}
