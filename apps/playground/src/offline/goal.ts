import type { JSONObject } from '@ai-sdk/provider';
import type { Turn } from './conversation.ts';

/** A finished tool call whose value later goals of the same message may build on. */
export interface Result {
  readonly tool: string;
  readonly input: JSONObject;
  readonly value: unknown;
}

/** A text for the user that needs no tool. */
interface Remark {
  readonly kind: 'remark';
  /** The words of the message that led to it, to complete the sentence "the rule matched …". */
  readonly because: string;
  readonly text: string;
}

/** A goal that needs a tool. */
export interface Errand {
  readonly kind: 'errand';
  /** The words of the message that led to it, to complete the sentence "the rule matched …". */
  readonly because: string;
  readonly tool: string;
  /** The tools whose errands earlier in the same message must be settled before this one. */
  readonly after: readonly string[];
  /** The input for the tool, from the results of earlier errands; `undefined` if they are not enough. */
  prepare(earlier: readonly Result[]): JSONObject | undefined;
  /** The text for the user when `prepare` returns nothing. */
  readonly otherwise: string;
  /** Clauses without a rule that this errand takes care of. */
  readonly covers?: readonly string[];
  /** The answer to the user, from the result of the tool. */
  say(result: Result): string;
}

/** One thing that a message asks for. */
export type Goal = Remark | Errand;

/** The input of a rule. */
export interface Reading {
  readonly clause: string;
  /** The turns before this one, oldest first. */
  readonly past: readonly Turn[];
  /** The names of the tools on offer. */
  readonly tools: readonly string[];
  /** A sentence with the abilities of the tools. */
  readonly abilities: string;
  /** The goals of the clauses before this one. */
  readonly goals: readonly Goal[];
  /** The clauses before this one that no rule matched. */
  readonly unread: readonly string[];
  /** Whether the message has no other clause. */
  readonly isAlone: boolean;
}

/** An ability of the offline model. */
export interface Rule {
  readonly name: string;
  /** The tool that it requires. */
  readonly tool?: string;
  /** Its ability, with an example, to complete the sentence "I can …". */
  readonly ability?: string;
  /** The goals that it reads from the clause; none when it does not match. */
  read(reading: Reading): readonly Goal[];
}

/** The goals that are errands. */
export function errandsIn(goals: readonly Goal[]): readonly Errand[] {
  return goals.filter((goal) => goal.kind === 'errand');
}
