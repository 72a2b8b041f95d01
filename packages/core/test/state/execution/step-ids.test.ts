import { describe, expect, test } from 'vitest';
import { AgentState, AgentStep, ToolExecution, userMessage, type ToolCallPart } from '@holdfast/core';
import { InferenceResponse, List } from '@holdfast/core/driver';
import { StepId, ToolExecutionId, type ExecutionState, type StepExecution } from '@holdfast/core/engine';
import { steppedClock } from '@holdfast/core/testing';
import { expectRoundTrip, START as T } from '../../support/arbitraries.ts';

const clock = steppedClock(T);
const call = (toolCallId: string): ToolCallPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'add',
  input: {},
});
const response = InferenceResponse.of({ content: [call('a'), call('b')] });
const intended = (toolCallId = 'a', id = ToolExecutionId.create(clock)): ToolExecution =>
  ToolExecution.create(
    response.toolCalls.find((one) => one.toolCallId === toolCallId) ?? call(toolCallId),
    id,
  );
const stepOf = (tools: readonly ToolExecution[] = [intended()], id = StepId.create(clock)): AgentStep =>
  tools.reduce(
    (step, tool) => step.withToolExecution(tool),
    AgentStep.create(List.empty(), id).withResponse(response),
  );
const taken = (state: AgentState, step: AgentStep): AgentState =>
  state.withCurrentStep(step, T).withCurrentStepCompleted(T);

const begun = AgentState.empty({ at: T }).withExecutionStatus('inProgress', T);
const [first, second, third] = [stepOf(), stepOf([intended('a'), intended('b')]), stepOf()];
const two = taken(taken(begun, first), second);
const three = two.withCurrentStep(third, T);
const restored = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
const refused = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
const toolOf = (step: AgentStep, nth = 0): ToolExecution => step.toolExecutions[nth] as ToolExecution;

type Json = Record<string, never>;
/** The document of `three` with one place of its execution set to what stands in another. */
function copied(from: string, to: string): object {
  const document = JSON.parse(JSON.stringify(three)) as { execution: Json };
  const at = (path: readonly string[]): Json =>
    path.reduce<Json>((value, key) => value[key] as never, document.execution);
  const [target, source] = [to.split('.'), from.split('.')];
  Object.assign(at(target.slice(0, -1)), { [target.at(-1) as string]: at(source) });
  return document;
}

describe('a document with a repeated id is refused', () => {
  test.for([
    ['steps.0.id', 'steps.1.id', '$.execution.steps[1].id'],
    ['steps.0.id', 'currentStep.id', '$.execution.currentStep.id'],
    [
      'steps.0.toolExecutions.0.id',
      'steps.1.toolExecutions.1.id',
      '$.execution.steps[1].toolExecutions[1].id',
    ],
    [
      'steps.1.toolExecutions.1.id',
      'currentStep.toolExecutions.0.id',
      '$.execution.currentStep.toolExecutions[0].id',
    ],
    [
      'steps.1.toolExecutions.0.id',
      'steps.1.toolExecutions.1.id',
      '$.execution.steps[1].toolExecutions[1].id',
    ],
    [
      'steps.1.toolExecutions.0.toolCallId',
      'steps.1.toolExecutions.1.toolCallId',
      '$.execution.steps[1].toolExecutions[1]',
    ],
  ] as const)('%s as %s', ([from, to, path]) => {
    expectRoundTrip(three);
    expect(() => AgentState.fromJSON(copied(from, to))).toThrow(
      expect.objectContaining({ code: 'STATE_FORMAT', path }),
    );
  });

  test('a repeated id in a separate step is refused too', () => {
    const document = JSON.parse(JSON.stringify(second)) as {
      toolExecutions: { id: string; toolCallId: string }[];
    };
    for (const tool of document.toolExecutions) tool.id = toolOf(first).id;
    expect(() => AgentStep.fromJSON(document)).toThrow(
      expect.objectContaining({ path: '$.toolExecutions[1].id' }),
    );
  });

  test('a step and a tool execution can have the same id', () => {
    expect(AgentState.fromJSON(copied('steps.0.id', 'steps.1.toolExecutions.0.id')).stepCount).toBe(3);
  });
});

describe('a transition refuses an id of a closed step', () => {
  const again = stepOf([], first.id);
  const sameTool = stepOf([intended('b', toolOf(second, 1).id)]);

  test.for<[string, AgentState]>([
    ['created here', two],
    ['read', restored(two)],
    ['in the next step', three],
  ])('in a state that was %s', ([, state]) => {
    const execution = state.execution as ExecutionState;
    for (const step of [again, sameTool]) {
      expect(() => state.withCurrentStep(step, T)).toThrow(refused);
      expect(() => execution.withStepCompleted(step, T)).toThrow(refused);
    }
    expect(() => state.withCurrentStep(again, T)).toThrow(`An earlier step has the id ${first.id}.`);
    expect(() => state.withCurrentStep(sameTool, T)).toThrow('An earlier tool execution has the id ');
    expectRoundTrip(taken(state.withCurrentStepCompleted(T), stepOf()));
  });

  test('a changed open step with an id of a closed step is refused', () => {
    const changed = third.withToolExecution(intended('b', toolOf(first).id));
    expect(() => three.withCurrentStep(changed, T)).toThrow(refused);
    expect(() => restored(three).execution?.withStepCompleted(changed, T)).toThrow(refused);
    expectRoundTrip(three.withCurrentStep(third.withToolExecution(intended('b')), T));
  });

  test('branches of a state know only their own steps', () => {
    const [left, right] = [taken(two, third), taken(two, stepOf())];
    expect(() => taken(left, third)).toThrow(refused);
    const both = taken(right, third);
    expect(() => taken(both, third)).toThrow(refused);
    expect(taken(two, third).stepCount).toBe(3);
    for (const state of [left, right, both]) expectRoundTrip(state);
    expect(() => taken(left, right.lastStep as AgentStep)).not.toThrow();
  });

  test('two executions can have the same ids', () => {
    const next = taken(two.forNextExecution(T).withExecutionStatus('inProgress', T), first);
    expect(expectRoundTrip(next).lastStep?.id).toBe(first.id);
  });

  test('the cost of a step does not depend on the number of steps', () => {
    let state = begun;
    for (let step = 0; step < 40_000; step++) state = taken(state, stepOf([]));
    let steps: List<StepExecution> = state.stepExecutions;
    expect(() => taken(state, steps.at(0)?.step as AgentStep)).toThrow(refused);
    steps = restored(state).stepExecutions;
    expect(steps.length).toBe(40_000);
  });
});

describe('a call has one execution', () => {
  test('a second execution of a call is refused, another attempt is accepted', () => {
    const step = stepOf([intended('a')]);
    expect(() => step.withToolExecution(intended('a'))).toThrow(refused);
    expect(() => step.withToolExecution(intended('a'))).toThrow(
      'Use its withNextAttempt() for another attempt.',
    );
    const retried = toolOf(step).withStarted(T).withNextAttempt(T);
    expect(step.withToolExecution(retried).toolExecutions).toEqual([retried]);
  });

  test('an execution cannot change to a call that has one', () => {
    const asked = intended('b').withApprovalRequested(T);
    const step = stepOf([intended('a'), asked]);
    const changed = asked.withDecision({ type: 'approved', at: T }, call('a'));
    expect(() => step.withToolExecution(changed)).toThrow(refused);
    const free = asked.withDecision({ type: 'approved', at: T }, call('c'));
    expect(step.withToolExecution(free).toolExecutions.map((tool) => tool.call.toolCallId)).toEqual([
      'a',
      'c',
    ]);
  });
});

describe('repetition that a document can have', () => {
  test('a message can occur twice, and two messages can have one id, because sections and compilers reuse them', () => {
    const message = userMessage('a');
    const twin = userMessage('b', { id: message.id });
    const state = begun.withMessages([message, twin, message], T);
    expect(expectRoundTrip(state).messages.length).toBe(3);
  });

  test('a pending execution can have steps, which a caller has added', () => {
    const born = taken(AgentState.empty({ at: T }), stepOf()).withCurrentStep(stepOf(), T);
    expect([expectRoundTrip(born).status, born.stepCount, born.executionCount]).toEqual(['pending', 2, 0]);
  });
});
