import { deepStrictEqual } from 'node:assert/strict';
import {
  AgentState,
  createAgentLoop,
  tool,
  type AgentEvent,
  type AgentLoop,
  type AgentLoopOptions,
  type Clock,
  type Hook,
  type Instant,
  type JsonValue,
  type Message,
  type RunOptions,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { toolCallsOf, type Driver } from '@holdfast/core/driver';
import { ExecutionId, isTerminal, type HookPoint } from '@holdfast/core/engine';
import {
  scriptedDriver,
  steppedClock,
  type ScriptedAnswer,
  type ScriptedDriver,
} from '@holdfast/core/testing';
import { expect } from 'vitest';
import { HOOK_POINTS } from '../../src/loop/hooks/hook-chain.ts';

// Invariants

/**
 * What holds for every state, whatever made it: frozen all the way down, the same after a round trip through JSON,
 * times in order, `completedAt` exactly when it is over. Returns the state, so that it can wrap an expression.
 */
export function expectSound(state: AgentState): AgentState {
  expectFrozen(state, 'state', new Set());
  const copy = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
  expect(copy).toEqual(state);
  deepStrictEqual(copy, state);
  const { execution } = state;
  expect(execution?.completedAt !== undefined).toBe(isTerminal(state.status));
  expect(execution === undefined).toBe(state.status === undefined);
  expect(state.updatedAt).toBeGreaterThanOrEqual(state.createdAt);
  return state;
}

function expectFrozen(value: unknown, path: string, seen: Set<unknown>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (!Object.isFrozen(value)) throw new Error(`${path} is not frozen`);
  for (const [key, member] of Object.entries(value)) expectFrozen(member, `${path}.${key}`, seen);
}

/** Does the work and asserts that it did not touch the state. */
export async function untouched<T>(state: AgentState, work: () => T | Promise<T>): Promise<T> {
  const before = JSON.stringify(state);
  const result = await work();
  expect(JSON.stringify(state)).toBe(before);
  return result;
}

/** Every call is followed by its result, and every result follows its call: what providers demand of a list. */
export function expectPaired(messages: Iterable<Message>): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') {
      expect(open, 'calls without a result').toEqual([]);
      open = toolCallsOf(message).map((call) => call.toolCallId);
      continue;
    }
    for (const { toolCallId } of message.content) {
      expect(open, 'calls that wait for a result').toContain(toolCallId);
      open.splice(open.indexOf(toolCallId), 1);
    }
  }
  expect(open, 'calls without a result').toEqual([]);
}

function isPaired(messages: Iterable<Message>): boolean {
  try {
    expectPaired(messages);
    return true;
  } catch {
    return false;
  }
}

// States, tools, promises

/** The state as another process reads it: equal, and nothing is known of it. */
export function readBack(state: AgentState): AgentState {
  return AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
}

export const HOUR = 3_600_000;

let starts: Instant = 0;

/** A time for each run of a test file, so that no two have the same ids. */
export function nextStart(): Instant {
  return (starts += 1_000_000_000);
}

/** An agent that was told one thing, at 0 by the clock, with ids that count up. */
export function told(text = 'Go', clock: Clock = steppedClock()): AgentState {
  return AgentState.empty({ agentId: clock.newId(), at: clock.now() }).withUserMessage(
    text,
    { clock },
    clock.now(),
  );
}

/** A tool that takes anything and does what the function does. */
export function does(
  name: string,
  execute: (args: unknown, context: ToolContext) => unknown = () => name,
): Tool {
  return tool({ name, description: name, inputSchema: { type: 'object' }, execute });
}

/** An answer that calls these tools, each without arguments. */
export function call(...names: string[]): ScriptedAnswer {
  return { calls: names.map((name) => [name, {}] as const) };
}

/** For places that take an expression. */
export function throwIt(error: unknown): never {
  throw error;
}

export const never: Promise<never> = new Promise(() => {});

/** A promise and the means to settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export function deferred<T = void>(): Deferred<T> {
  return Promise.withResolvers<T>();
}

// Loops under observation

/** What a loop was seen to do. */
export interface Observation {
  readonly state: AgentState;
  /** Hooks by their names, events in short (`+step`, `+tool add`), in order. */
  readonly trace: readonly string[];
  readonly events: readonly AgentEvent[];
  readonly driver: ScriptedDriver;
}

/** A loop of a script: what the model says, and whatever else a loop is made of. */
export interface Scenario extends Partial<AgentLoopOptions> {
  readonly script?: readonly ScriptedAnswer[];
  readonly state?: AgentState;
  readonly run?: RunOptions;
}

/** Every point at which hooks are called. */
export const POINTS = HOOK_POINTS;

/** Each observed run has a time of its own, and so ids of its own. */
let runs = 0;

/** Runs a scenario to its end and checks every state on the way. */
export async function observe(scenario: Scenario): Promise<Observation> {
  const { script = [], state = told(), run = {}, hooks = [], listeners = [], ...options } = scenario;
  const [trace, events]: [string[], AgentEvent[]] = [[], []];
  const listener = (event: AgentEvent): void => {
    events.push(event);
    const line = inShort(event);
    if (line) trace.push(line);
  };
  const driver = scriptedDriver(...script);
  const loop = createAgentLoop({
    clock: steppedClock((runs += 1_000)),
    driver,
    ...options,
    hooks: [recorder((point, subject) => trace.push(hookInShort(point, subject))), ...hooks],
    listeners: [listener, ...listeners],
  });
  const last = await untouched(state, () => loop.run(state, run));
  for (const event of events) expectSound(event.state);
  expectSound(last);
  if (isPaired(state.messages)) expectPaired(last.messages);
  return { state: last, trace, events, driver };
}

/** A hook that tells of every call of every point and changes nothing. */
export function recorder(record: (point: HookPoint, subject: unknown) => void): Hook {
  const entries = POINTS.map((point) => [
    point,
    (subject: unknown) => {
      record(point, subject);
    },
  ]);
  return { name: 'recorder', ...(Object.fromEntries(entries) as Hook) };
}

function hookInShort(point: HookPoint, subject: unknown): string {
  if (point === 'beforeToolUse') return `${point} ${(subject as { readonly toolName: string }).toolName}`;
  if (point === 'afterToolUse') return `${point} ${(subject as { readonly name: string }).name}`;
  return point;
}

function inShort(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'inference-delta':
    case 'usage-updated':
      return undefined;
    case 'tool-started':
      return `+started ${event.toolExecution.name}`;
    case 'tool-waiting':
      return `+waiting ${event.toolExecution.name}`;
    case 'tool-progress':
      return `+progress ${event.toolExecution.name}`;
    case 'tool-completed':
      return `+${event.toolExecution.outcome?.type ?? ''} ${event.toolExecution.name}`;
    case 'tool-blocked':
      return `+blocked ${event.toolExecution.name}`;
    case 'continuation-evaluated':
      return event.shouldStop ? '+stop' : '+continue';
    case 'stop-signal-raised':
      return `+signal ${event.signal.reason}`;
    case 'step-started':
      return `+step ${event.stepNumber}`;
    case 'step-completed':
      return `+step-done ${event.stepNumber}`;
    case 'inference-started':
      return '+infer';
    case 'inference-completed':
      return `+answer ${event.response.finishReason}`;
    default:
      return `+${event.type.replace('execution-', '')}`;
  }
}

/** A loop with a scripted driver and a stepped clock. */
export function scriptedLoop(
  script: readonly ScriptedAnswer[],
  options: Partial<AgentLoopOptions> = {},
): AgentLoop {
  return createAgentLoop({ clock: steppedClock(1_000), driver: scriptedDriver(...script), ...options });
}

/** A driver from a function. */
export function driverOf(infer: Driver['infer']): Driver {
  return { infer };
}

// What to compare

/** What a conversation says: roles and content, without ids and tags. */
export function saidIn(messages: Iterable<Message>): JsonValue {
  return [...messages].map(({ role, content }) => ({ role, content: content as unknown as JsonValue }));
}

/** What a run came to, but for times and ids. */
export function cameTo(state: AgentState): object {
  return {
    status: state.status,
    executionCount: state.executionCount,
    stopReason: state.stopReason,
    said: saidIn(state.messages),
    steps: state.steps.map((step) => ({
      type: step.type,
      input: saidIn(step.input),
      outcomes: step.toolExecutions.map(({ name, outcome }) => ({ name, outcome })),
      errors: step.errors,
    })),
    errors: state.errors,
    usage: state.usage.toJSON(),
    metadata: state.metadata.values,
  };
}

/** An event that a tool reports by hand. */
export const emitted = (state: AgentState, at = 1): AgentEvent => ({
  type: 'execution-started',
  at,
  state,
  executionId: ExecutionId.create(),
  attempt: 1,
});
