import { expect, test } from 'vitest';
import { AgentState, ToolExecution, userMessage, type Messages } from '@holdfast/core';
import { InferenceResponse, List } from '@holdfast/core/driver';
import { applyOutcome, ExecutionId, StepId, ToolExecutionId, newStepMessageIds } from '@holdfast/core/engine';
import { steppedClock } from '@holdfast/core/testing';
import { expectRoundTrip, START as T } from '../../support/arbitraries.ts';

const clock = steppedClock(T);
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A conversation in which a tool was used in every step: 1 KB of text and 1 KB of result each. */
function afterSteps(
  count: number,
  value: unknown = 'r'.repeat(1_000),
  change: (state: AgentState) => AgentState = (state) => state,
  compile: (state: AgentState) => Messages = (state) => state.messages,
): AgentState {
  let state = applyOutcome(
    AgentState.empty({ at: T }).withMessages([userMessage('q'.repeat(1_000), { clock })], T),
    { type: 'started', executionId: ExecutionId.create(clock), at: T },
  );
  for (let step = 0; step < count; step++) {
    state = change(state);
    const call = {
      type: 'tool-call',
      toolCallId: `call_${step}`,
      toolName: 'search',
      input: { q: step },
    } as const;
    const content = [{ type: 'text', text: 't'.repeat(1_000) } as const, call];
    const response = InferenceResponse.of({ content, usage: { inputTokens: 1_000, outputTokens: 100 } });
    state = applyOutcome(state, {
      type: 'stepBegun',
      stepId: StepId.create(clock),
      input: compile(state),
      at: clock.now(),
    });
    state = applyOutcome(state, { type: 'inferred', response, at: clock.now() });
    const [requested] = state.currentStep?.pendingToolCalls ?? [];
    if (requested === undefined) throw new TypeError('There is a call.');
    const running = ToolExecution.start(requested, clock.now(), ToolExecutionId.create(clock));
    state = applyOutcome(state, { type: 'toolsAdvanced', toolExecutions: [running], at: clock.now() });
    const toolExecution = running.withOutcome({ type: 'succeeded', value: value as string }, clock.now());
    state = applyOutcome(state, { type: 'toolsAdvanced', toolExecutions: [toolExecution], at: clock.now() });
    state = applyOutcome(state, {
      type: 'stepClosed',
      messageIds: newStepMessageIds(clock),
      at: clock.now(),
    });
  }
  return state;
}

test.for([
  ['text', 'r'.repeat(1_000)],
  ['JSON', { list: ['r'.repeat(980)] }],
])('200 steps with tools that return %s cost less than three times what was said', ([, value]) => {
  const state = expectRoundTrip(afterSteps(200, value));
  const said = state.steps
    .flatMap(({ output }) => [...output])
    .reduce((sum, message) => sum + bytes(message.content), 0);
  expect(said).toBeGreaterThan(400_000);
  expect(bytes(state) / said).toBeLessThan(3);
});

test('a step costs as many bytes at the 200th as at the 20th', () => {
  const [early, late] = [20, 200].map((count) => bytes(afterSteps(count + 1)) - bytes(afterSteps(count))) as [
    number,
    number,
  ];
  expect(Math.abs(late / early - 1)).toBeLessThan(0.05);
});

/** How the bytes of a state grow when its steps are four times as many; 4 is linear. */
const growth = (after: (count: number) => AgentState): number => bytes(after(120)) / bytes(after(30));

test('signals that are overruled at every step are stored once', () => {
  const overruled = (state: AgentState): AgentState =>
    state.withStopSignal({ reason: 'unknown', message: 'm'.repeat(200) }, T).withContinuationRequested(T);
  expect(growth((count) => expectRoundTrip(afterSteps(count, 'r', overruled)))).toBeLessThan(4.4);
});

test('messages that a compiler makes anew for every step are stored once', () => {
  const shortened = (state: AgentState): Messages =>
    List.from(
      state.messages.toArray().map((message) => userMessage('short', { id: message.id, createdAt: T })),
    );
  const state = (count: number): AgentState => afterSteps(count, 'r', undefined, shortened);
  expect(growth((count) => expectRoundTrip(state(count)))).toBeLessThan(4.4);
});

test('each value and message stands once in the document', () => {
  const text = JSON.stringify(afterSteps(3, 'only once'));
  expect(text.split('only once')).toHaveLength(4);
  expect(text.split('t'.repeat(1_000))).toHaveLength(4);
});

test('a run of steps shares the conversation between its inputs', () => {
  const state = afterSteps(100);
  const [before, after] = [state.steps.at(-2), state.steps.at(-1)];
  expect(before && after?.input.commonLength(before.input)).toBe(before?.input.length);
  const restored = expectRoundTrip(state);
  expect(restored.messages.at(7)).toBe(restored.lastStep?.input.at(7));
});
