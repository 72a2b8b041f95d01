import { isDeepStrictEqual } from 'node:util';
import type { JSONObject } from '@ai-sdk/provider';
import type { Outcome, PastCall } from './conversation.ts';
import type { Errand, Result } from './goal.ts';
import type { RuledGoal } from './rules.ts';

/** A tool call to make, or made. */
export interface Call {
  readonly tool: string;
  readonly input: JSONObject;
}

/** How far a goal has come. */
type State =
  | { readonly kind: 'said'; readonly text: string }
  /** An earlier errand of the same message comes first; the text is for when it never gets its turn. */
  | { readonly kind: 'waiting'; readonly text: string }
  /** The earlier errands gave no input for it. */
  | { readonly kind: 'impossible'; readonly text: string }
  | { readonly kind: 'ready'; readonly call: Call }
  | { readonly kind: 'done'; readonly errand: Errand; readonly call: Call; readonly outcome: Outcome };

/** A goal with its rule and its state. */
export interface Item extends RuledGoal {
  readonly state: State;
}

/** Every goal of a message, held against the calls made since. */
export interface Settlement {
  readonly items: readonly Item[];
  /** The calls that no goal asked for. */
  readonly others: readonly PastCall[];
}

/**
 * Matches goals and calls. A call belongs to the errand that has its tool and input; when no errand of a tool
 * can still be without a call, the input no longer matters, since a host may change it before the call.
 */
export function settle(goals: readonly RuledGoal[], calls: readonly PastCall[]): Settlement {
  const items: Item[] = [];
  let others = calls;
  for (const { rule, goal } of goals) {
    const open = goal.kind === 'remark' ? said(goal.text) : opening(goal, items);
    const made = open.kind === 'ready' ? callFor(open.call, { goals, calls, others }) : undefined;
    others = others.filter((call) => call !== made);
    const state = made === undefined || goal.kind === 'remark' ? open : done(goal, made);
    items.push({ rule, goal, state });
  }
  return { items, others };
}

function said(text: string): State {
  return { kind: 'said', text };
}

/** The state of an errand as if no call had been made for it. */
function opening(errand: Errand, before: readonly Item[]): State {
  const isWaiting = before.some(
    ({ goal, state }) =>
      goal.kind === 'errand' &&
      errand.after.includes(goal.tool) &&
      (state.kind === 'ready' || state.kind === 'waiting'),
  );
  const text = errand.otherwise || `I did not get to ${errand.because}.`;
  if (isWaiting) return { kind: 'waiting', text };
  const input = errand.prepare(before.flatMap(resultOf));
  return input === undefined
    ? { kind: 'impossible', text }
    : { kind: 'ready', call: { tool: errand.tool, input } };
}

function resultOf({ state }: Item): readonly Result[] {
  const hasValue = state.kind === 'done' && state.outcome.kind === 'value';
  return hasValue && state.outcome.kind === 'value' ? [{ ...state.call, value: state.outcome.value }] : [];
}

interface Calls {
  readonly goals: readonly RuledGoal[];
  readonly calls: readonly PastCall[];
  readonly others: readonly PastCall[];
}

function callFor({ tool, input }: Call, { goals, calls, others }: Calls): PastCall | undefined {
  const candidates = others.filter((call) => call.tool === tool);
  const exact = candidates.find((call) => isDeepStrictEqual(call.input, input));
  const errands = goals.filter(({ goal }) => goal.kind === 'errand' && goal.tool === tool);
  const allAreMade = calls.filter((call) => call.tool === tool).length >= errands.length;
  return exact ?? (allAreMade ? candidates[0] : undefined);
}

function done(errand: Errand, made: PastCall): State {
  const call = { tool: made.tool, input: isObject(made.input) ? made.input : {} };
  const outcome = made.outcome ?? { kind: 'failure', message: 'it never answered' };
  return { kind: 'done', errand, call, outcome };
}

function isObject(input: unknown): input is JSONObject {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}
