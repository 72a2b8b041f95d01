import type { AgentState, Clock, Tool, ToolExecution } from '@holdfast/core';
import { manualClock } from '@holdfast/core/testing';
import { call, nextStart, observe, type Observation, type Scenario } from './builders.ts';

/** One call of a tool, and what the model says then. */
export async function used(made: Tool, scenario: Scenario = {}): Promise<Observation> {
  return observe({ script: [call(made.name), 'Done.'], tools: [made], ...scenario });
}

export function executionsOf(state: AgentState): ToolExecution[] {
  return state.steps.flatMap(({ toolExecutions }) => toolExecutions);
}

/** What the tools of finished steps came to: their names and the types of their outcomes, in order. */
export function outcomesIn(state: AgentState): string[] {
  return executionsOf(state).map(({ name, outcome }) => `${name} ${outcome?.type}`);
}

/** What the model reads of the tools, in order. */
export function resultsOf(state: AgentState): unknown[] {
  return [...state.messages].flatMap((message) =>
    message.role === 'tool'
      ? message.content.map(({ output }) => ('value' in output ? output.value : output))
      : [],
  );
}

/** Once all that can go on without a timer has. */
export function tick(): Promise<void> {
  return new Promise(setImmediate);
}

export function noLuck(): never {
  throw new Error('no luck');
}

/** A clock in which every time-out passes as soon as nothing else happens. */
export interface ImpatientClock extends Clock {
  /** How long each was, in seconds. */
  readonly waits: number[];
  /** Those that have neither passed nor been called off. */
  readonly pending: Set<unknown>;
}

export function impatientClock(): ImpatientClock {
  const clock = manualClock(nextStart());
  const [waits, pending]: [number[], Set<unknown>] = [[], new Set()];
  return {
    ...clock,
    waits,
    pending,
    after(milliseconds, callback) {
      waits.push(milliseconds / 1_000);
      const timer = setImmediate(() => {
        pending.delete(timer);
        clock.advance(milliseconds);
        callback();
      });
      pending.add(timer);
      return () => {
        clearImmediate(timer);
        pending.delete(timer);
      };
    },
  };
}
