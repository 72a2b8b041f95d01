import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import {
  AgentStep,
  assistantMessage,
  ToolExecution,
  userMessage,
  type ToolCallPart,
  type ToolOutcome,
} from '@holdfast/core';
import { InferenceResponse, List, type AssistantPart, type ToolOutput } from '@holdfast/core/driver';
import { START as T } from '../../support/arbitraries.ts';
import { addCall, endedBy, someError, throughText } from '../../support/step-parts.ts';

describe('step types', () => {
  const step = AgentStep.create(List.empty());
  const asking = step.withResponse(InferenceResponse.of({ content: [addCall] }));
  const end = (outcome: ToolOutcome) =>
    asking.withToolExecution(ToolExecution.start(addCall, T).withOutcome(outcome, T));
  const provider: AssistantPart = { ...addCall, providerExecuted: true };
  const rows: readonly (readonly [name: string, step: AgentStep, type: string])[] = [
    ['nothing', step, 'finalResponse'],
    ['a final response', step.withResponse(InferenceResponse.of({ text: 'a' })), 'finalResponse'],
    [
      'a call that the provider runs',
      step.withResponse(InferenceResponse.of({ content: [provider] })),
      'finalResponse',
    ],
    ['a call', asking, 'toolExecution'],
    ['a call that runs', asking.withToolExecution(ToolExecution.start(addCall, T)), 'toolExecution'],
    ['a call that succeeded', end({ type: 'succeeded', value: 1 }), 'toolExecution'],
    ['a call that failed', end(endedBy('failed')), 'error'],
    ['a call that was blocked', end(endedBy('blocked')), 'error'],
    ['a call that was denied', end(endedBy('denied')), 'error'],
    ['a call that was interrupted', end(endedBy('interrupted')), 'error'],
    ['an error without a response', step.withError(someError), 'error'],
    ['an error and a call', asking.withError(someError), 'error'],
  ];
  test.for(rows)('%s', ([, one, type]) => expect(one.type).toBe(type));

  test('results are in call order for every order of completion', () => {
    const calls = ['a', 'b', 'c'].map((toolCallId): ToolCallPart => ({ ...addCall, toolCallId }));
    const wide = step.withResponse(
      InferenceResponse.of({ content: [{ type: 'text', text: 'so' }, ...calls] }),
    );
    const executions = calls.map((one) => ToolExecution.start(one, T));
    const finished = [2, 0].reduce((one, index) => {
      const running = executions[index] as ToolExecution;
      return one
        .withToolExecution(running)
        .withToolExecution(running.withOutcome({ type: 'succeeded', value: index }, T));
    }, wide);
    expect(finished.toolExecutions.map(({ value }) => value)).toEqual([0, 2]);
    expect(finished.pendingToolCalls.map(({ toolCallId }) => toolCallId)).toEqual(['b']);
    const [said, results] = finished.withOutput().output;
    expect(said?.content).toEqual([{ type: 'text', text: 'so' }, ...calls]);
    expect(results?.content.map((part) => 'output' in part && part.output)).toEqual([
      { type: 'json', value: 0 },
      { type: 'error-text', value: 'Not run: the execution stopped.' },
      { type: 'json', value: 2 },
    ]);
    expect(finished.withOutput().withOutput().output).toHaveLength(2);
  });
  test.for(['length', 'content-filter', 'aborted'] as const)(
    'calls of a response with finish reason %s get a result that states the reason',
    (finishReason) => {
      const cut = step.withResponse(InferenceResponse.of({ content: [addCall], finishReason })).withOutput();
      expect(cut.output.at(-1)?.content[0]).toMatchObject({
        output: {
          type: 'error-text',
          value: expect.stringContaining(finishReason === 'length' ? 'output limit' : finishReason),
        },
      });
    },
  );
  test('results have the provider options of their calls', () => {
    const providerOptions = { openai: { caller: { type: 'program', callerId: 'p' } } };
    const calls = ['a', 'b', 'c'].map((toolCallId) => ({ ...addCall, toolCallId, providerOptions }));
    const [a, b] = calls.map((one) => ToolExecution.start(one, T)) as [ToolExecution, ToolExecution];
    const closed = step
      .withResponse(InferenceResponse.of({ content: calls }))
      .withToolExecution(a.withOutcome({ type: 'succeeded', value: 1 }, T))
      .withToolExecution(b.withOutcome({ type: 'failed', error: { name: 'Error', message: 'no luck' } }, T))
      .withOutput();
    expect(closed.output.at(-1)?.content.map((part) => part.providerOptions)).toEqual(
      calls.map(() => providerOptions),
    );
    expect(AgentStep.fromJSON(JSON.parse(JSON.stringify(closed)))).toEqual(closed);
  });
  test('a failed response adds nothing to the conversation', () => {
    expect(
      step.withResponse(InferenceResponse.of({ text: 'hal', finishReason: 'error' })).withOutput().output,
    ).toEqual([]);
    expect(step.withOutput().output).toEqual([]);
  });
});

describe('a step that changes', () => {
  const asked = AgentStep.create().withResponse(InferenceResponse.of({ content: [addCall] }));
  const running = asked.withToolExecution(ToolExecution.start(addCall, T));

  test('stays the same when nothing changes', () => {
    const input = List.from([userMessage('a')]);
    const shown = asked.withInput(input);
    expect([shown.input === input, shown.withInput(input) === shown, shown.id]).toEqual([
      true,
      true,
      asked.id,
    ]);
    expect(asked.withResponse(asked.response as InferenceResponse)).toBe(asked);
    expect(running.withToolExecution(running.toolExecutions[0] as ToolExecution)).toBe(running);
    const closed = asked.withOutput();
    expect(closed.withOutput()).toBe(closed);
  });
  test('knows its started calls', () => {
    expect([asked.executedToolCalls, running.executedToolCalls]).toEqual([[], [addCall]]);
    expect([asked.pendingToolCalls, running.pendingToolCalls]).toEqual([[addCall], []]);
    expect(running.withError(someError).hasErrors).toBe(true);
    const other = ToolExecution.start({ ...addCall, toolCallId: 'call_2' }, T).withOutcome(
      endedBy('failed'),
      T,
    );
    expect([running.hasErrors, running.withToolExecution(other).hasErrors]).toEqual([false, true]);
  });
  /** The document of a step whose output shows something as the result of its call. */
  function shownAs(output: ToolOutput): object {
    const [execution] = running.toolExecutions;
    const done = (execution as ToolExecution).withOutcome({ type: 'succeeded', value: 1 }, T);
    const document = throughText(running.withToolExecution(done).withOutput()) as {
      otherMessages: { content: object[] }[];
    };
    Object.assign(document.otherMessages[1]?.content[0] ?? {}, { output });
    return document;
  }
  test.for<ToolOutput & { value: unknown }>([
    { type: 'text', value: 'a' },
    { type: 'json', value: 2 },
  ])('is stored without a value that the result stands for: %j', (output) => {
    expect(AgentStep.fromJSON(shownAs(output)).toolExecutions[0]?.value).toBe(output.value);
  });
  test.for<ToolOutput>([
    { type: 'json', value: 'a' },
    { type: 'error-text', value: 'a' },
    { type: 'error-json', value: 1 },
  ])('is refused without a value where the result stands for none: %j', (output) => {
    expect(() => AgentStep.fromJSON(shownAs(output))).toThrow(
      expect.objectContaining({ path: '$.toolExecutions[0].outcome.value' }),
    );
  });
  test('preserves a response that differs from its output', () => {
    const document = {
      ...(throughText(asked.withOutput()) as object),
      response: throughText(asked.response),
    };
    const other = throughText([assistantMessage('b')]);
    const step = AgentStep.fromJSON({ ...document, otherMessages: other, output: [{ from: 0, to: 1 }] });
    assert.deepStrictEqual(AgentStep.fromJSON(throughText(step)), step);
    expect([step.text, step.requestedToolCalls]).toEqual(['', [addCall]]);
  });
  test.for<[string, ToolOutcome]>([
    ['a number', { type: 'succeeded', value: 1 }],
    ['a text', { type: 'succeeded', value: 'a' }],
    ['a value with metadata', { type: 'succeeded', value: { a: 1 }, metadata: { b: 2 } }],
    [
      'a value with a different model output',
      { type: 'succeeded', value: 1, modelOutput: { type: 'text', value: 'a' } },
    ],
    [
      'a text with an equal model output',
      { type: 'succeeded', value: 'a', modelOutput: { type: 'text', value: 'a' } },
    ],
    [
      'a text with an equal model output as JSON',
      { type: 'succeeded', value: 'a', modelOutput: { type: 'json', value: 'a' } },
    ],
    [
      'a value with parts as its model output',
      { type: 'succeeded', value: 1, modelOutput: { type: 'content', value: [] } },
    ],
    ['an error', endedBy('failed')],
  ])('comes back from JSON with the outcome of its tool: %s', ([, outcome]) => {
    const [execution] = running.toolExecutions;
    const ended = running.withToolExecution((execution as ToolExecution).withOutcome(outcome, T));
    for (const one of [ended, ended.withOutput()]) {
      const restored = AgentStep.fromJSON(throughText(one));
      assert.deepStrictEqual(restored, one);
      expect(restored.toolExecutions[0]?.outcome).toEqual(outcome);
    }
  });
});
