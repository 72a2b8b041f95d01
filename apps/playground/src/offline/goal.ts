import type { JSONObject } from '@ai-sdk/provider';
import type { Turn } from './conversation.ts';

/** A finished tool call whose value later goals of the same message may build on. */
export interface Result {
  readonly tool: string;
  readonly input: JSONObject;
  readonly value: unknown;
}

/** Something to say that needs no tool. */
interface Remark {
  readonly kind: 'remark';
  /** What in the message led to it, to complete the sentence "the rule matched …". */
  readonly because: string;
  readonly text: string;
}

/** Something that a tool has to do. */
export interface Errand {
  readonly kind: 'errand';
  /** What in the message led to it, to complete the sentence "the rule matched …". */
  readonly because: string;
  readonly tool: string;
  /** The tools whose errands earlier in the same message must be settled before this one. */
  readonly after: readonly string[];
  /** The input for the tool, from what the earlier errands gave; `undefined` when they gave too little. */
  prepare(earlier: readonly Result[]): JSONObject | undefined;
  /** What to say when `prepare` gave nothing. */
  readonly otherwise: string;
  /** Clauses without a rule that this errand takes care of. */
  readonly covers?: readonly string[];
  /** The answer to the user, from what the tool returned. */
  say(result: Result): string;
}

/** One thing that a message asks for. */
export type Goal = Remark | Errand;

/** What a rule may look at. */
export interface Reading {
  readonly clause: string;
  /** The turns before this one, oldest first. */
  readonly past: readonly Turn[];
  /** The names of the tools on offer. */
  readonly tools: readonly string[];
  /** What can be done with them, in a sentence. */
  readonly abilities: string;
  /** What the clauses before this one ask for. */
  readonly goals: readonly Goal[];
  /** The clauses before this one that no rule matched. */
  readonly unread: readonly string[];
  /** Whether the message has no other clause. */
  readonly isAlone: boolean;
}

/** One thing the offline model can do. */
export interface Rule {
  readonly name: string;
  /** The tool that it cannot do without. */
  readonly tool?: string;
  /** What it does, with an example, to complete the sentence "I can …". */
  readonly ability?: string;
  /** The goals that it reads from the clause; none when it does not match. */
  read(reading: Reading): readonly Goal[];
}

/** The goals that are errands. */
export function errandsIn(goals: readonly Goal[]): readonly Errand[] {
  return goals.filter((goal) => goal.kind === 'errand');
}
