import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AgentStep,
  assistantMessage,
  ExecutionBudget,
  MessageStore,
  systemMessage,
  textOf,
  ToolExecution,
  Usage,
  userMessage,
} from '@holdfast/core';
import { InferenceResponse, List, reasoningOf, toolMessage } from '@holdfast/core/driver';
import {
  AgentId,
  ExecutionId,
  MessageId,
  OUTCOME_RULES,
  SessionId,
  StepId,
  ToolExecutionId,
} from '@holdfast/core/engine';
import type { BudgetLimits, ErrorRecord, ToolCallPart, ToolOutcome } from '@holdfast/core';
import type { AssistantPart, ToolOutput } from '@holdfast/core/driver';
import type { ToolOutcomeType } from '@holdfast/core/engine';
import { expectDeeplyFrozen, outcomes, cases, START as T, storeOf, usages } from '../support/arbitraries.ts';

const runs = cases(200);
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const call: ToolCallPart = { type: 'tool-call', toolCallId: 'call_1', toolName: 'add', input: { a: 1 } };
const error: ErrorRecord = { name: 'Error', message: 'no' };
const failed = (type: Exclude<ToolOutcomeType, 'succeeded'>): ToolOutcome => ({ type, error });

describe('ids', () => {
  const uuid = '01234567-89ab-cdef-0123-456789abcdef';
  const bad = [
    '',
    'x',
    `${uuid} `,
    `${uuid}\n`,
    uuid.replace('0', 'g'),
    uuid.replaceAll('-', ''),
    uuid.replaceAll('-', '_'),
    5,
    null,
    undefined,
    {},
    [uuid],
  ];
  test.for([AgentId, ExecutionId, StepId, ToolExecutionId])('a kind of UUIDs refuses all else', (kind) => {
    expect(kind.parse(uuid)).toBe(uuid);
    expect([kind.parse(uuid.toUpperCase()), kind.is(uuid.toUpperCase())]).toEqual([uuid, false]);
    expect(kind.is(kind.create())).toBe(true);
    expect(kind.create({ now: () => 0, newId: () => uuid })).toBe(uuid);
    for (const value of bad) {
      expect(kind.is(value)).toBe(false);
      expect(() => kind.parse(value)).toThrow(expect.objectContaining({ code: 'ID_INVALID' }));
    }
    expect(() => kind.create({ now: () => 0, newId: () => 'not one' })).toThrow(
      expect.objectContaining({ code: 'ID_INVALID' }),
    );
  });
  test.for<[unknown, boolean]>([
    ['a', true],
    ['/../ ü \u0000 👩', true],
    ['x'.repeat(1_000), true],
    ['x'.repeat(1_001), false],
    ['', false],
    ['\ud800', false],
    [7, false],
  ])('%j as the id of a session or a message: %s', ([value, valid]) => {
    expect([SessionId.is(value), MessageId.is(value)]).toEqual([valid, valid]);
  });
});

describe('budgets', () => {
  const budget = ExecutionBudget.of({ maxSteps: 20, maxTokens: 10_000, maxSeconds: 60 });
  const limits = ({ maxSteps, maxTokens, maxSeconds, maxCost, deadline }: ExecutionBudget) => [
    maxSteps,
    maxTokens,
    maxSeconds,
    maxCost,
    deadline,
  ];
  test('what remains', () => {
    expect(limits(budget.remaining({ steps: 5, tokens: 3_000 }))).toEqual([
      15,
      7_000,
      60,
      undefined,
      undefined,
    ]);
    expect(limits(budget.remaining({ steps: 50, tokens: 1e9, seconds: 60, cost: 5 }))).toEqual([
      0,
      0,
      0,
      undefined,
      undefined,
    ]);
    expect(limits(ExecutionBudget.of({ maxCost: 1, deadline: T }).remaining({ cost: 0.25 }))).toEqual([
      undefined,
      undefined,
      undefined,
      0.75,
      T,
    ]);
    expect(ExecutionBudget.unlimited().remaining({ steps: 5 })).toBe(ExecutionBudget.unlimited());
  });
  test('the tighter of two', () => {
    expect(budget.cappedBy(ExecutionBudget.of({ maxSteps: 10 })).maxSteps).toBe(10);
    expect(limits(budget.cappedBy(ExecutionBudget.of({ maxSteps: 30, maxCost: 1, deadline: T })))).toEqual([
      20,
      10_000,
      60,
      1,
      T,
    ]);
    const [early, late] = [ExecutionBudget.of({ deadline: T }), ExecutionBudget.of({ deadline: T + 1 })];
    expect([early.cappedBy(late).deadline, late.cappedBy(early).deadline]).toEqual([T, T]);
    expect(ExecutionBudget.unlimited().cappedBy(budget)).toEqual(budget);
  });
  const exhausted: readonly (readonly [BudgetLimits, boolean])[] = [
    [{}, false],
    [{ maxSteps: 0 }, true],
    [{ maxTokens: 0 }, true],
    [{ maxSeconds: 0 }, true],
    [{ maxCost: 0 }, true],
    [{ maxSteps: 1, maxCost: 0.01 }, false],
    [{ deadline: T }, true],
    [{ deadline: T + 1 }, false],
    [{ maxSteps: 1, deadline: T - 1 }, true],
    [{ maxSteps: 1, maxTokens: 0, deadline: T + 1 }, true],
  ];
  test.for(exhausted)('%j is exhausted: %s', ([init, is]) =>
    expect(ExecutionBudget.of(init).isExhausted(T)).toBe(is),
  );
  test('a deadline is a moment, whatever number it is', () => {
    expect(ExecutionBudget.of({ deadline: 0 }).isExhausted(-1)).toBe(false);
    expect(ExecutionBudget.of({ deadline: 0 }).isExhausted(0)).toBe(true);
  });
  test('no limit, and Infinity, is unlimited', () => {
    expect([ExecutionBudget.unlimited().isEmpty, budget.isEmpty]).toEqual([true, false]);
    expect(ExecutionBudget.of({ maxSteps: Infinity })).toBe(ExecutionBudget.unlimited());
    expect(ExecutionBudget.of(budget)).toBe(budget);
  });
  test('any number of steps is another thing than no word about steps', () => {
    const [unsaid, unlimited] = [ExecutionBudget.of({}), ExecutionBudget.unlimited()];
    expect([unsaid.maxSteps, unlimited.maxSteps]).toEqual([undefined, Infinity]);
    expect([unsaid.isEmpty, unlimited.isEmpty]).toEqual([true, true]);
    expect([unsaid.isExhausted(T), unlimited.isExhausted(T)]).toEqual([false, false]);
    expect(unlimited.remaining({ steps: 1e6 }).maxSteps).toBe(Infinity);
    expect(unlimited.cappedBy(ExecutionBudget.of({ maxSteps: 3 })).maxSteps).toBe(3);
    expect([unsaid.toJSON(), unlimited.toJSON()]).toEqual([{}, { maxSteps: Number.MAX_SAFE_INTEGER }]);
  });
  test('comes back from JSON', () => {
    for (const one of [
      budget,
      ExecutionBudget.unlimited(),
      ExecutionBudget.of({}),
      ExecutionBudget.of({ maxSteps: Infinity, maxTokens: 5 }),
      ExecutionBudget.of({ maxCost: 0, deadline: T, maxTokens: Infinity }),
    ]) {
      assert.deepStrictEqual(ExecutionBudget.fromJSON(json(one)), one);
    }
    expectDeeplyFrozen(budget);
    for (const bad of [{ maxSteps: -1 }, { maxSteps: '1' }, { max: 1 }, { deadline: 1.5 }, null]) {
      expect(() => ExecutionBudget.fromJSON(bad)).toThrow(expect.objectContaining({ code: 'STATE_FORMAT' }));
    }
  });
  test('an unknown limit is refused by name', () => {
    expect(() => ExecutionBudget.of({ maxStep: 5 } as BudgetLimits)).toThrow(/"maxStep"/);
  });
  test.for([-1, Number.NaN, '5'])('%j is not a limit', (limit) => {
    expect(() => ExecutionBudget.of({ maxSteps: limit as number })).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });
});

describe('usage', () => {
  const [known, unknown] = [Usage.of({ inputTokens: 3, outputTokens: 4, cost: 1 }), Usage.unreported];
  test('a number that nobody knows stays unknown, and is counted as unreported', () => {
    const sum = known.plus(unknown).plus(Usage.of({ inputTokens: 5 }));
    expect(sum.toJSON()).toEqual({
      inputTokens: 8,
      outputTokens: 4,
      cost: 1,
      unreportedCalls: 2,
      unpricedCalls: 2,
    });
    expect([sum.totalTokens, sum.isComplete, known.isComplete, sum.reasoningTokens]).toEqual([
      12,
      false,
      true,
      undefined,
    ]);
    expect([sum.isPriced, known.isPriced, unknown.withCost(1).isPriced, Usage.none.isPriced]).toEqual([
      false,
      true,
      true,
      true,
    ]);
    expect(unknown.plus(unknown).toJSON()).toEqual({ unreportedCalls: 2, unpricedCalls: 2 });
    expect(Usage.of({})).toEqual(Usage.unreported);
    expect([Usage.of({ inputTokens: 1 }).isComplete, Usage.of({ outputTokens: 1 }).isComplete]).toEqual([
      false,
      false,
    ]);
  });
  test('nothing added is the same', () => {
    expect([known.plus(Usage.none), Usage.none.plus(known), known.withCost(1)]).toEqual([
      known,
      known,
      known,
    ]);
    expect([known.plus(Usage.none) === known, Usage.none.plus(known) === known]).toEqual([true, true]);
    expect(known.withCost(1)).toBe(known);
    expect(known.plus(unknown).withCost(1).toJSON()).toEqual({
      inputTokens: 3,
      outputTokens: 4,
      cost: 1,
      unreportedCalls: 1,
    });
    expect(known.withCost(2).cost).toBe(2);
    expect(unknown.withCost(2).cost).toBe(2);
  });
  test('sums in any grouping agree, and come back from JSON', () => {
    fc.assert(
      fc.property(usages, usages, usages, (...fields) => {
        const [a, b, c] = fields.map((one) => Usage.of({ ...one, cost: undefined })) as [Usage, Usage, Usage];
        assert.deepStrictEqual(a.plus(b).plus(c), a.plus(b.plus(c)));
        assert.deepStrictEqual(Usage.fromJSON(json(a.plus(b))), a.plus(b));
        expectDeeplyFrozen(a.plus(b));
      }),
      runs,
    );
  });
  test.for([
    { inputTokens: 1.5 },
    { outputTokens: -1 },
    { inputTokens: Number.NaN },
    { cost: Infinity },
    { cost: -1 },
    { tokens: 1 },
  ])('%j is not usage', (fields) => {
    expect(() => Usage.of(fields as object)).toThrow(expect.objectContaining({ code: 'CONTEXT_INVALID' }));
  });
});

describe('responses', () => {
  test('have the finish reason that their content calls for', () => {
    expect(InferenceResponse.of({ text: 'a' }).finishReason).toBe('stop');
    expect(InferenceResponse.of({ content: [call] }).finishReason).toBe('tool-calls');
    expect(InferenceResponse.of({ content: [{ ...call, providerExecuted: true }] }).finishReason).toBe(
      'stop',
    );
    expect(InferenceResponse.of({ content: [call], finishReason: 'length' }).finishReason).toBe('length');
    expect(InferenceResponse.of({ content: [] }).content).toEqual([]);
  });
  const bad: readonly object[] = [
    { content: 'text' },
    { content: [{ type: 'text' }] },
    { content: [{ type: 'image', data: '' }] },
    { text: 'a', finishReason: 'bored' },
    { text: 'a', modelId: 5 },
    { text: 'a', rawFinishReason: null },
    { text: 'a', responseId: {} },
    { text: 'a', providerMetadata: 'x' },
  ];
  test.for(bad)('%j is refused, not stored', (init) => {
    expect(() => InferenceResponse.of(init)).toThrow(expect.objectContaining({ code: 'INFERENCE_INVALID' }));
  });
  test('come back from JSON', () => {
    const response = InferenceResponse.of({
      content: [call],
      rawFinishReason: 'x',
      modelId: 'm',
      responseId: 'r',
      providerMetadata: { a: { b: 1 } },
    });
    assert.deepStrictEqual(InferenceResponse.fromJSON(json(response)), response);
    expectDeeplyFrozen(response);
    expect(response.withUsage(response.usage)).toBe(response);
  });
});

describe('what a tool outcome means', () => {
  const yes = true;
  const rows: readonly (readonly [
    ToolOutcomeType,
    hasError: boolean,
    makesStepError: boolean,
    countsAsFailure: boolean,
    canFailExecution: boolean,
    needsStart: boolean,
  ])[] = [
    ['succeeded', false, false, false, false, yes],
    ['failed', yes, yes, yes, yes, false],
    ['blocked', yes, yes, yes, false, false],
    ['denied', yes, yes, false, false, false],
    ['interrupted', yes, yes, false, yes, yes],
  ];
  test.for(rows)('%s', ([type, ...rule]) => {
    const [hasError, makesStepError, countsAsFailure, canFailExecution, needsStart] = rule;
    const all = { hasError, makesStepError, countsAsFailure, canFailExecution, needsStart };
    expect(OUTCOME_RULES[type]).toEqual(all);
    const unstarted = ToolExecution.create(call).withOutcome(
      type === 'succeeded' ? { type, value: 1 } : failed(type),
      T,
    );
    expect(unstarted.startedAt).toBe(needsStart ? T : undefined);
    const outcome = type === 'succeeded' ? { type, value: null } : failed(type);
    const execution = ToolExecution.start(call, T).withOutcome(outcome, T + 500);
    expect([execution.hasError, execution.wasBlocked, execution.duration]).toEqual([
      hasError,
      type === 'blocked',
      0.5,
    ]);
    expect([execution.error !== undefined, execution.value]).toEqual([hasError, hasError ? undefined : null]);
    const step = AgentStep.create()
      .withResponse(InferenceResponse.of({ content: [call] }))
      .withToolExecution(execution);
    expect([step.type, step.hasErrors]).toEqual([makesStepError ? 'error' : 'toolExecution', hasError]);
    expect(step.executedToolCalls).toHaveLength(type === 'blocked' || type === 'denied' ? 0 : 1);
  });
  test('those are all', () => expect(Object.keys(OUTCOME_RULES)).toEqual(rows.map(([type]) => type)));

  test('a running call has no outcome; another attempt keeps the key', () => {
    const first = ToolExecution.start(call, T);
    expect([first.isRunning, first.rule, first.hasError, first.duration, first.attempt]).toEqual([
      true,
      undefined,
      false,
      0,
      1,
    ]);
    const second = first.withOutcome(failed('interrupted'), T).withNextAttempt(T + 9);
    expect([second.attempt, second.isRunning, second.idempotencyKey, second.startedAt]).toEqual([
      2,
      true,
      first.idempotencyKey,
      T + 9,
    ]);
    expect([second.name, second.args]).toEqual(['add', { a: 1 }]);
    expect(first.idempotencyKey).toBe(first.id);
    expect(first.withOutcome({ type: 'succeeded', value: 1 }, T)).toMatchObject({
      isRunning: false,
      error: undefined,
    });
    expect([first.wasBlocked, first.error]).toEqual([false, undefined]);
    expect(first.toResultPart().output).toEqual({
      type: 'error-text',
      value: 'The call was started and its outcome is unknown.',
    });
  });
  test('ending before it started is ending at once', () => {
    expect(ToolExecution.start(call, T).withOutcome(failed('failed'), T - 9).duration).toBe(0);
  });
  test('every outcome comes back from JSON, frozen, and is a copy', () => {
    fc.assert(
      fc.property(outcomes, (outcome) => {
        const execution = ToolExecution.start(call, T).withOutcome(outcome, T);
        assert.deepStrictEqual(ToolExecution.fromJSON(json(execution)), execution);
        expectDeeplyFrozen(execution);
        expectDeeplyFrozen(execution.toResultPart());
      }),
      runs,
    );
    const value = { list: [1] };
    const execution = ToolExecution.start(call, T).withOutcome({ type: 'succeeded', value }, T);
    value.list.push(2);
    expect(execution.value).toEqual({ list: [1] });
  });
  test('a value becomes JSON; one that cannot, and an output that is none, is refused', () => {
    const end = (outcome: object) => ToolExecution.start(call, T).withOutcome(outcome as ToolOutcome, T);
    expect(end({ type: 'succeeded', value: { at: new Date(0), f: () => 1 } }).value).toEqual({
      at: '1970-01-01T00:00:00.000Z',
    });
    expect(end({ type: 'succeeded', value: undefined }).value).toBeNull();
    expect(() => end({ type: 'succeeded', value: 1n })).toThrow(
      expect.objectContaining({ code: 'NOT_JSON' }),
    );
    expect(() => end({ type: 'succeeded', value: 1, modelOutput: { type: 'image' } })).toThrow(
      expect.objectContaining({ code: 'CONTEXT_INVALID' }),
    );
  });
});

describe('step types', () => {
  const step = AgentStep.create(List.empty());
  const asking = step.withResponse(InferenceResponse.of({ content: [call] }));
  const end = (outcome: ToolOutcome) =>
    asking.withToolExecution(ToolExecution.start(call, T).withOutcome(outcome, T));
  const provider: AssistantPart = { ...call, providerExecuted: true };
  const rows: readonly (readonly [name: string, step: AgentStep, type: string])[] = [
    ['nothing', step, 'finalResponse'],
    ['an answer', step.withResponse(InferenceResponse.of({ text: 'a' })), 'finalResponse'],
    [
      'a call of the provider',
      step.withResponse(InferenceResponse.of({ content: [provider] })),
      'finalResponse',
    ],
    ['a call', asking, 'toolExecution'],
    ['a call that runs', asking.withToolExecution(ToolExecution.start(call, T)), 'toolExecution'],
    ['a call that succeeded', end({ type: 'succeeded', value: 1 }), 'toolExecution'],
    ['a call that failed', end(failed('failed')), 'error'],
    ['a call that was blocked', end(failed('blocked')), 'error'],
    ['a call that was denied', end(failed('denied')), 'error'],
    ['a call that was interrupted', end(failed('interrupted')), 'error'],
    ['an error and no answer', step.withError(error), 'error'],
    ['an error and a call', asking.withError(error), 'error'],
  ];
  test.for(rows)('%s', ([, one, type]) => expect(one.type).toBe(type));

  test('results are in call order whatever order the tools finished in', () => {
    const calls = ['a', 'b', 'c'].map((toolCallId): ToolCallPart => ({ ...call, toolCallId }));
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
    'calls cut short by %s get a result that says so',
    (finishReason) => {
      const cut = step.withResponse(InferenceResponse.of({ content: [call], finishReason })).withOutput();
      expect(cut.output.at(-1)?.content[0]).toMatchObject({
        output: { type: 'error-text', value: `Not run: ${finishReason}.` },
      });
    },
  );
  test('results carry what the provider attached to their calls', () => {
    const providerOptions = { openai: { caller: { type: 'program', callerId: 'p' } } };
    const calls = ['a', 'b', 'c'].map((toolCallId) => ({ ...call, toolCallId, providerOptions }));
    const [a, b] = calls.map((one) => ToolExecution.start(one, T)) as [ToolExecution, ToolExecution];
    const error = { name: 'Error', message: 'no luck' };
    const closed = step
      .withResponse(InferenceResponse.of({ content: calls }))
      .withToolExecution(a.withOutcome({ type: 'succeeded', value: 1 }, T))
      .withToolExecution(b.withOutcome({ type: 'failed', error }, T))
      .withOutput();
    expect(closed.output.at(-1)?.content.map((part) => part.providerOptions)).toEqual(
      calls.map(() => providerOptions),
    );
    expect(AgentStep.fromJSON(JSON.parse(JSON.stringify(closed)))).toEqual(closed);
  });
  test('an answer that failed adds nothing to the conversation', () => {
    expect(
      step.withResponse(InferenceResponse.of({ text: 'hal', finishReason: 'error' })).withOutput().output,
    ).toEqual([]);
    expect(step.withOutput().output).toEqual([]);
  });
});

describe('a step that changes', () => {
  const asked = AgentStep.create().withResponse(InferenceResponse.of({ content: [call] }));
  const running = asked.withToolExecution(ToolExecution.start(call, T));

  test('stays the same where nothing does', () => {
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
  test('knows what was begun, from the start', () => {
    expect([asked.executedToolCalls, running.executedToolCalls]).toEqual([[], [call]]);
    expect([asked.pendingToolCalls, running.pendingToolCalls]).toEqual([[call], []]);
    expect(running.withError(error).hasErrors).toBe(true);
    const other = ToolExecution.start({ ...call, toolCallId: 'call_2' }, T).withOutcome(failed('failed'), T);
    expect([running.hasErrors, running.withToolExecution(other).hasErrors]).toEqual([false, true]);
  });
  /** The document of a step whose output shows something as the result of its call. */
  function shownAs(output: ToolOutput): object {
    const [execution] = running.toolExecutions;
    const done = (execution as ToolExecution).withOutcome({ type: 'succeeded', value: 1 }, T);
    const document = json(running.withToolExecution(done).withOutput()) as {
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
  test('keeps an answer that is not what it put into the conversation', () => {
    const document = { ...(json(asked.withOutput()) as object), response: json(asked.response) };
    const other = json([assistantMessage('b')]);
    const step = AgentStep.fromJSON({ ...document, otherMessages: other, output: [{ from: 0, to: 1 }] });
    assert.deepStrictEqual(AgentStep.fromJSON(json(step)), step);
    expect([step.text, step.requestedToolCalls]).toEqual(['', [call]]);
  });
  test.for<[string, ToolOutcome]>([
    ['a number', { type: 'succeeded', value: 1 }],
    ['a text', { type: 'succeeded', value: 'a' }],
    ['a value with facts', { type: 'succeeded', value: { a: 1 }, metadata: { b: 2 } }],
    ['a value shown otherwise', { type: 'succeeded', value: 1, modelOutput: { type: 'text', value: 'a' } }],
    ['a text shown as itself', { type: 'succeeded', value: 'a', modelOutput: { type: 'text', value: 'a' } }],
    ['a value shown as itself', { type: 'succeeded', value: 'a', modelOutput: { type: 'json', value: 'a' } }],
    ['a value shown as parts', { type: 'succeeded', value: 1, modelOutput: { type: 'content', value: [] } }],
    ['an error', failed('failed')],
  ])('comes back from JSON with the outcome of its tool: %s', ([, outcome]) => {
    const [execution] = running.toolExecutions;
    const ended = running.withToolExecution((execution as ToolExecution).withOutcome(outcome, T));
    for (const one of [ended, ended.withOutput()]) {
      const restored = AgentStep.fromJSON(json(one));
      assert.deepStrictEqual(restored, one);
      expect(restored.toolExecutions[0]?.outcome).toEqual(outcome);
    }
  });
});

describe('sections of messages', () => {
  const [a, b] = [userMessage('a'), assistantMessage('b')];
  test('keep the order in which they were first written', () => {
    const store = storeOf({ summary: [a], messages: [b] })
      .append('buffer', [a])
      .append('summary', [b]);
    expect(store.names).toEqual(['summary', 'messages', 'buffer']);
    expect(store.section('summary').toArray()).toEqual([a, b]);
    expect(store.withoutSection('messages').names).toEqual(['summary', 'buffer']);
    assert.deepStrictEqual(MessageStore.fromJSON(json(store)), store);
    expectDeeplyFrozen(store);
  });
  test('that do not exist are empty; those that are empty exist', () => {
    expect(MessageStore.empty.section('__proto__').length).toBe(0);
    expect(MessageStore.empty.names).toEqual([]);
    const store = storeOf({ summary: [] });
    expect(store.names).toEqual(['summary']);
    assert.deepStrictEqual(MessageStore.fromJSON(json(store)), store);
  });
  test('that hold just these messages stay as they are', () => {
    const store = MessageStore.from([a, b]);
    expect([
      store.withSection('messages', [a, b]),
      store.withSection('messages', store.messages),
      store.append('x', []),
    ]).toEqual([store, store, store]);
    expect(store.withSection('messages', [a, b])).toBe(store);
    expect(store.append('messages', [])).toBe(store);
    expect(store.withoutSection('x')).toBe(store);
    expect(store.withSection('messages', [b, a])).not.toBe(store);
    expect(store.withSection('messages', [a]).messages.toArray()).toEqual([a]);
    expect(store.withSection('messages', [a, b, a]).messages.toArray()).toEqual([a, b, a]);
    expect(store.withSection('messages', []).messages.length).toBe(0);
  });
  test('appending does not copy what was there', () => {
    const store = MessageStore.from(Array.from({ length: 1_000 }, (_, index) => userMessage(String(index))));
    const after = store.append('messages', [a]);
    expect(after.messages.commonLength(store.messages)).toBe(1_000);
    expect(after.messages.since(store.messages)).toEqual([a]);
  });
});

describe('a call that a person decides on', () => {
  const asked = ToolExecution.create(call).withApprovalRequested(T);
  const by = { by: 'ann', reason: 'Because.' };

  test('is asked about once and waits', () => {
    expect([asked.isAwaitingApproval, asked.isRunning, asked.startedAt]).toEqual([true, false, undefined]);
    expect(asked.withApprovalRequested(T + 1)).toBe(asked);
    expect(asked.toResultPart().output).toEqual({ type: 'error-text', value: 'The call was not started.' });
  });
  test('approved, it can begin, perhaps with other arguments', () => {
    const approved = asked.withDecision({ type: 'approved', at: T + 1, ...by }, { ...call, input: { a: 2 } });
    expect(approved).toMatchObject({ args: { a: 2 }, outcome: undefined, startedAt: undefined });
    expect(approved.approval).toEqual({
      requestedAt: T,
      decision: { type: 'approved', at: T + 1, ...by },
    });
    const started = approved.withStarted(T + 2);
    expect([started.isRunning, started.startedAt, started.withStarted(T + 3)]).toEqual([
      true,
      T + 2,
      started,
    ]);
    expectDeeplyFrozen(started);
    assert.deepStrictEqual(ToolExecution.fromJSON(json(started)), started);
  });
  test('denied, it has ended and says why', () => {
    const denied = asked.withDecision({ type: 'denied', at: T + 1, ...by });
    expect(denied).toMatchObject({ startedAt: undefined, completedAt: T + 1, duration: 0 });
    expect(denied.error).toEqual({ name: 'Error', code: 'TOOL_DENIED', message: 'Because.' });
    expect(denied.toResultPart().output).toEqual({ type: 'execution-denied', reason: 'Because.' });
    const silent = asked.withDecision({ type: 'denied', at: T });
    expect(silent.error?.message).toBe('The call was denied.');
    assert.deepStrictEqual(ToolExecution.fromJSON(json(denied)), denied);
  });
  test('is decided on once, and only when somebody asked', () => {
    const approved = asked.withDecision({ type: 'approved', at: T + 1 });
    expect(approved.withDecision({ type: 'denied', at: T + 2 })).toBe(approved);
    const unasked = ToolExecution.create(call);
    expect(unasked.withDecision({ type: 'approved', at: T })).toBe(unasked);
    expect(() => asked.withDecision({ type: 'maybe' as 'denied', at: T })).toThrow(
      expect.objectContaining({ code: 'CONTEXT_INVALID' }),
    );
  });
});

test('what a tool used and left for later stays over its attempts', () => {
  const first = ToolExecution.start(call, T).withUsage(known()).withProgress({ page: 3 });
  expect(first.withUsage(Usage.none)).toBe(first);
  expect(first.withProgress({ page: 3 })).toBe(first);
  const second = first.withUsage(known()).withNextAttempt(T + 5);
  expect([second.usage.inputTokens, second.progress, second.attempt]).toEqual([6, { page: 3 }, 2]);
  const step = AgentStep.create().withToolExecution(second);
  expect(step.usage.inputTokens).toBe(6);
  assert.deepStrictEqual(ToolExecution.fromJSON(json(second)), second);
  expect(() => first.withProgress(1n as never)).toThrow(expect.objectContaining({ code: 'NOT_JSON' }));

  function known(): Usage {
    return Usage.of({ inputTokens: 3, outputTokens: 4, cost: 1 });
  }
});

describe('messages', () => {
  test('say their text and their reasoning, whole or in parts', () => {
    const message = assistantMessage([
      { type: 'reasoning', text: 'h' },
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 'm' },
      { type: 'text', text: 'b' },
    ]);
    expect([textOf(message), textOf(message.content)]).toEqual(['ab', 'ab']);
    expect([reasoningOf(message), reasoningOf(message.content)]).toEqual(['hm', 'hm']);
  });
  test('of the system are text, and come back from JSON', () => {
    const message = systemMessage('Be brief.', { id: 'm', createdAt: T });
    expect(message).toEqual({
      id: 'm',
      role: 'system',
      content: [{ type: 'text', text: 'Be brief.' }],
      createdAt: T,
    });
    const store = MessageStore.from([message]);
    assert.deepStrictEqual(MessageStore.fromJSON(json(store)), store);
  });
  const bad: readonly (readonly [name: string, make: () => unknown])[] = [
    ['a call of a user', () => userMessage([call as never])],
    ['a file without data', () => userMessage([{ type: 'file', mediaType: 'image/png' } as never])],
    [
      'bytes',
      () =>
        userMessage([
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array(1) as never } },
        ]),
    ],
    [
      'file ids that are no strings',
      () =>
        userMessage([
          { type: 'file', mediaType: 'a/b', data: { type: 'reference', reference: { a: 1 as never } } },
        ]),
    ],
    ['text of a tool', () => toolMessage([{ type: 'text', text: 'a' } as never])],
    ['an unknown member', () => userMessage([{ type: 'text', text: 'a', cache: true } as never])],
    [
      'a member of another kind of data',
      () =>
        userMessage([{ type: 'file', mediaType: 'a/b', data: { type: 'url', url: 'x', data: '' } as never }]),
    ],
  ];
  test.for(bad)('refuse %s', ([, make]) => {
    expect(make).toThrow(
      expect.objectContaining({
        code: 'CONTEXT_INVALID',
        message: expect.stringContaining('$[0]') as string,
      }),
    );
  });
  test('keep the id and the time they came with, and refuse an id that is none', () => {
    expect(userMessage('a', { id: 'msg-1', createdAt: T })).toMatchObject({ id: 'msg-1', createdAt: T });
    expect(() => userMessage('a', { id: '' })).toThrow(expect.objectContaining({ code: 'ID_INVALID' }));
  });
});
