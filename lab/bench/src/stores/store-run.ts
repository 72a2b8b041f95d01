import type { AgentState } from '@holdfast/core';
import { Job } from '../peers/job.ts';
import { coreLoop, firstState } from '../peers/core.ts';
import type { RunStep } from './store-peer.ts';

/** An assistant's message with one call, and the tool's message with its result: about 1 KB each. */
const TEXT_LENGTH = 980;

/** The input of every store: the states of one run after each of its steps. */
export class StoreRun {
  /** The state before the first step. */
  readonly first: AgentState;
  private readonly states: readonly AgentState[];

  private constructor(first: AgentState, states: readonly AgentState[]) {
    this.first = first;
    this.states = states;
  }

  static async of(steps: number): Promise<StoreRun> {
    const job = new Job({ steps, textLength: TEXT_LENGTH });
    const first = firstState(job);
    const states: AgentState[] = [];
    for await (const state of coreLoop(job).iterate(first)) states.push(state);
    return new StoreRun(first, states.slice(0, steps));
  }

  /** The number of steps. */
  get length(): number {
    return this.states.length;
  }

  /** The number of messages at the end. */
  get messageCount(): number {
    return this.states.at(-1)?.messages.length ?? 0;
  }

  /** The steps, made one by one: the documents of all of them would not fit into memory. */
  *steps(): Generator<RunStep> {
    let known = 0;
    for (const [index, state] of this.states.entries()) {
      const document = state.toJSON();
      const { execution } = document as { readonly execution?: { readonly steps: readonly object[] } };
      const messages = state.messages.slice(known);
      known = state.messages.length;
      yield { index, state, messages, step: execution?.steps.at(-1) ?? {}, document };
    }
  }
}

/** The bytes of what a step adds: its messages and itself, as JSON. */
export function newBytes({ messages, step }: RunStep): number {
  return [...messages, step].reduce((sum, part) => sum + Buffer.byteLength(JSON.stringify(part)), 0);
}
