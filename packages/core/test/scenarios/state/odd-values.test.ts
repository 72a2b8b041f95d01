import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import {
  AgentState,
  AgentStep,
  assistantMessage,
  ToolExecution,
  userMessage,
  type JsonValue,
  type Message,
  type ToolCallPart,
  type ToolOutcome,
} from '@holdfast/core';
import { InferenceResponse, List, toolMessage, type AssistantPart } from '@holdfast/core/driver';
import { applyOutcome, stopSignal, newStepMessageIds } from '@holdfast/core/engine';
import { steppedClock } from '@holdfast/core/testing';
import { expectRoundTrip, START as T, storeOf } from '../../support/arbitraries.ts';

const blank = AgentState.empty({ at: T });
const calling = (
  ...calls: readonly (Partial<ToolCallPart> & { readonly toolCallId: string })[]
): InferenceResponse =>
  InferenceResponse.of({
    content: calls.map((call): AssistantPart => ({ type: 'tool-call', toolName: 'add', input: {}, ...call })),
  });
const begin = (
  state: AgentState,
  response: InferenceResponse,
  input: List<Message> = List.empty(),
): AgentState =>
  state
    .withExecutionStatus('inProgress', T)
    .withCurrentStep(AgentStep.create(input).withResponse(response), T);
const close = (state: AgentState): AgentState =>
  applyOutcome(state, { type: 'stepClosed', messageIds: newStepMessageIds(steppedClock(T)), at: T });
/** Runs the nth call of the current step to this end. */
const ran = (state: AgentState, outcome: ToolOutcome, nth = 0): AgentState => {
  const call = state.currentStep?.requestedToolCalls[nth];
  if (call === undefined || state.currentStep === undefined) throw new RangeError('There is no such call.');
  const execution = ToolExecution.start(call, T).withOutcome(outcome, T);
  return state.withCurrentStep(state.currentStep.withToolExecution(execution), T);
};
const withValue = (value: JsonValue): AgentState =>
  close(ran(begin(blank, calling({ toolCallId: 'a' })), { type: 'succeeded', value }));

const proto = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') as JsonValue;
const values: readonly (readonly [name: string, value: JsonValue])[] = [
  ['an empty array', []],
  ['an empty object', {}],
  ['empty things inside', { a: [], b: {}, c: [[], {}], d: '' }],
  ['__proto__', proto],
  ['half surrogates', ['\ud800', 'a\udc00b', '\udc00\ud800']],
  ['NUL', '\0a\0'],
  ['emoji', '👩‍👩‍👧‍👦🏳️‍🌈'],
  ['separators of lines', '\u2028\u2029\r\n'],
  ['64-bit integers as text', { id: '9223372036854775807' }],
  [
    'the largest and smallest numbers',
    [Number.MAX_VALUE, Number.MIN_VALUE, Number.MAX_SAFE_INTEGER, 0.1 + 0.2, 1e-7, 1e21],
  ],
  ['minus zero, which JSON has not', { a: -0, b: [-0] }],
  ['a megabyte of text', 'ä'.repeat(1 << 19)],
  ['names that are numbers', { 10: 'ten', 9: 'nine', a: 1 }],
  ['text that looks like ours', { type: 'text', value: 'x' }],
  ['null', null],
  ['false', false],
  ['zero', 0],
  ['empty text', ''],
  ['1,000 levels', JSON.parse(`${'{"a":['.repeat(500)}${']}'.repeat(500)}`) as JsonValue],
];

test.for(values)('%s, everywhere a JSON value may stand', ([, value]) => {
  const object = { value };
  expectRoundTrip(blank.withMetadata('key', value, T).withMetadata('__proto__', value, T));
  expectRoundTrip(
    blank.withUserMessage(
      [{ type: 'text', text: 'a', providerOptions: object }],
      { providerOptions: object, metadata: object },
      T,
    ),
  );
  expectRoundTrip(withValue(value));
  expectRoundTrip(close(begin(blank, calling({ toolCallId: 'a', input: value, providerOptions: object }))));
  expectRoundTrip(
    blank.withError(
      Object.assign(new Error('no', { cause: Object.assign(new Error('why'), { data: value }) }), {
        data: value,
      }),
      T,
    ),
  );
  expectRoundTrip(blank.withStopSignal(stopSignal({ reason: 'unknown', context: object }), T));
  expectRoundTrip(
    blank
      .withLlmConfig({ providerOptions: object }, T)
      .withResponseFormat({ type: 'json', schema: object }, T),
  );
  expectRoundTrip(begin(blank, InferenceResponse.of({ text: 'a', providerMetadata: object })));
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test.for(values)('%s is the value a tool returned, after as before', ([, value]) => {
  const before = withValue(value).lastToolExecution?.value;
  assert.deepStrictEqual(expectRoundTrip(withValue(value)).lastToolExecution?.value, before);
});

test('the order of provider options is kept', () => {
  const providerOptions = { z: { b: 1, a: 2 }, a: {}, m: [{ y: 1, x: 2 }] };
  const state = expectRoundTrip(blank.withUserMessage([{ type: 'text', text: 'a', providerOptions }], {}, T));
  expect(JSON.stringify(state.messages.at(0)?.content[0]?.providerOptions)).toBe(
    JSON.stringify(providerOptions),
  );
});

test('an error keeps name, message, code, data and eight causes, but no stack', () => {
  let error: Error = new Error('0');
  for (let depth = 1; depth < 12; depth++)
    error = Object.assign(new Error(String(depth), { cause: error }), { code: `E${depth}`, data: { depth } });
  let record = expectRoundTrip(blank.withError(error, T)).errors[0];
  for (let depth = 11; depth >= 3; depth--, record = record?.cause) {
    expect(record).toMatchObject({
      name: 'Error',
      message: String(depth),
      code: `E${depth}`,
      data: { depth },
    });
    expect(record).not.toHaveProperty('stack');
  }
  expect(record).toBeUndefined();
});

const hostile = {
  toJSON() {
    throw new TypeError('no');
  },
  toString() {
    throw new TypeError('no');
  },
};
const cycle = new Error('round');
cycle.cause = cycle;
test.for<[name: string, thrown: unknown, message: string]>([
  ['text', 'no', 'no'],
  ['nothing', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a BigInt', 10n, 'The thrown value is not an error: bigint 10.'],
  ['a symbol', Symbol('x'), 'Symbol(x)'],
  ['an object', { a: 1 }, '{"a":1}'],
  ['something like an error', { message: 'no', code: 'E', name: 5 }, 'no'],
  ['an error whose data is no JSON', Object.assign(new Error('no'), { data: 1n, code: 5 }), 'no'],
  ['an error whose name is no text', Object.assign(new Error('no'), { name: 7 }), 'no'],
  ['an error that caused itself', cycle, 'round'],
  ['something that cannot be shown', hostile, 'The thrown value is not an error: an object.'],
])('%s can be thrown', ([, thrown, message]) => {
  const [error] = expectRoundTrip(blank.withFailure(thrown, T)).errors;
  expect(error?.message).toBe(message);
  expect(typeof error?.name).toBe('string');
});

test('two calls of one id in one answer keep their own arguments and values', () => {
  const calls = calling({ toolCallId: 'a', input: { n: 1 } }, { toolCallId: 'a', input: { n: 2 } });
  const both = ran(
    ran(begin(blank, calls), { type: 'succeeded', value: { of: 1 } }, 0),
    { type: 'succeeded', value: { of: 2 } },
    1,
  );
  for (const state of [both, close(both)]) {
    const executions = (expectRoundTrip(state).currentStep ?? state.lastStep)?.toolExecutions ?? [];
    expect(executions.map(({ args, value }) => [args, value])).toEqual([
      [{ n: 1 }, { of: 1 }],
      [{ n: 2 }, { of: 2 }],
    ]);
  }
});

test('a call that a hook changed, and one that the provider runs itself, come back as they were', () => {
  const response = InferenceResponse.of({
    content: [
      { type: 'tool-call', toolCallId: 'a', toolName: 'add', input: { n: 1 } },
      { type: 'tool-call', toolCallId: 'b', toolName: 'web', input: {}, providerExecuted: true },
    ],
  });
  const step = AgentStep.create().withResponse(response);
  const changed = ToolExecution.start(
    { type: 'tool-call', toolCallId: 'a', toolName: 'add', input: { n: 2 } },
    T,
  );
  const [, providers] = response.content;
  const state = blank.withCurrentStep(
    step.withToolExecution(changed).withToolExecution(ToolExecution.start(providers as ToolCallPart, T)),
    T,
  );
  expect(expectRoundTrip(state).currentStep?.toolExecutions.map(({ args }) => args)).toEqual([{ n: 2 }, {}]);
});

test('a value that is equal to what the model read, but not the same, is kept beside it', () => {
  const value = { list: [1, 2] };
  const output = { type: 'json', value: { list: [1, 2] } } as const;
  const state = expectRoundTrip(
    close(ran(begin(blank, calling({ toolCallId: 'a' })), { type: 'succeeded', value, modelOutput: output })),
  );
  expect(state.lastToolExecution).toMatchObject({ value, outcome: { modelOutput: output } });
});

test('a text that is JSON and a JSON value that is text are not mixed up', () => {
  const text = close(
    ran(begin(blank, calling({ toolCallId: 'a' })), { type: 'succeeded', value: '{"a":1}' }),
  );
  const output = { type: 'json', value: 'x' } as const;
  const shown = close(
    ran(begin(blank, calling({ toolCallId: 'a' })), { type: 'succeeded', value: 'x', modelOutput: output }),
  );
  expect(expectRoundTrip(text).lastToolExecution?.value).toBe('{"a":1}');
  expect(expectRoundTrip(shown).lastToolExecution?.outcome).toEqual({
    type: 'succeeded',
    value: 'x',
    modelOutput: output,
  });
});

test('a step whose input is nothing the store has', () => {
  const input = List.from<Message>([userMessage('summary of it all'), assistantMessage('ok')]);
  const first = close(begin(blank.withUserMessage('Hello', {}, T), calling({ toolCallId: 'a' }), input));
  const second = expectRoundTrip(
    begin(first, InferenceResponse.of({ text: 'x' }), input.append(...first.messages)),
  );
  expect(second.currentStep?.input.length).toBe(5);
  expect(second.currentStep?.input.commonLength(second.lastStep?.input ?? List.empty())).toBe(2);
});

test('steps that refer to messages that were taken out of the conversation meanwhile', () => {
  const asked = blank.withUserMessage('Hello', {}, T);
  const worked = close(begin(asked, calling({ toolCallId: 'a' }), asked.messages));
  const cut = expectRoundTrip(worked.withMessages([userMessage('new')], T));
  expect([cut.messages.length, cut.lastStep?.input.length, cut.lastStep?.output.length]).toEqual([1, 1, 2]);
  const half = expectRoundTrip(worked.withMessages(worked.messages.slice(0, 2), T));
  expect(half.lastStep?.output.map(({ role }) => role)).toEqual(['assistant', 'tool']);
  const moved = worked.withMessageStore(
    worked.store.append('summary', worked.messages.slice()).withoutSection('messages'),
    T,
  );
  expect(expectRoundTrip(moved).lastStep?.output).toEqual(worked.lastStep?.output);
  expect(expectRoundTrip(expectRoundTrip(cut).withUserMessage('more', {}, T)).messages.length).toBe(2);
});

test('the same message twice in a section, in two sections, and twice in an input', () => {
  const [a, b] = [userMessage('a'), userMessage('b')];
  const state = blank.withMessageStore(storeOf({ messages: [a, b, a], summary: [a], '': [a, a] }), T);
  const begun = begin(state, InferenceResponse.of({ text: 'x' }), List.from([a, a, b, a]));
  const texts = expectRoundTrip(close(expectRoundTrip(begun)))
    .lastStep?.input.toArray()
    .map(({ id }) => id);
  expect(texts).toEqual([a.id, a.id, b.id, a.id]);
});

test('a message of which another, equal one is in the store', () => {
  const a = userMessage('a');
  const twin = userMessage('a', { id: a.id });
  expect(
    expectRoundTrip(
      begin(blank.withMessages([a], T), InferenceResponse.of({ content: [] }), List.from([twin, a])),
    ).currentStep?.input.length,
  ).toBe(2);
});

test.each(['step_id', 'execution_id', 'agent_id', 'is_trace'])(
  'the tag %s is not a caller’s to set',
  (name) => {
    expect(() => userMessage('a', { metadata: { [name]: true } })).toThrow(
      expect.objectContaining({ code: 'CONTEXT_INVALID' }),
    );
  },
);

test.for(['', '__proto__', 'messages', 'constructor', 'toString', '\ud800', 'a.b[0]'])(
  'a section named %j',
  (name) => {
    const state = blank.withMessageStore(
      storeOf({ first: [userMessage('x')] }).append(name, [userMessage('a'), userMessage('b')]),
      T,
    );
    const section = state.store.section(name);
    const begun = expectRoundTrip(begin(state, InferenceResponse.of({ text: 'x' }), section));
    expect(begun.store.names).toEqual(['first', name]);
    expect(begun.currentStep?.input.length).toBe(2);
    expect(begun.store.section('other').length).toBe(0);
  },
);

test('an answer of every kind of part, and one of none', () => {
  const result = {
    type: 'tool-result',
    toolCallId: 'p',
    toolName: 'web',
    output: { type: 'content', value: [{ type: 'text', text: 'x' }] },
  } as const;
  const content: AssistantPart[] = [
    { type: 'reasoning', text: '', providerOptions: { anthropic: { signature: 'c2ln' } } },
    { type: 'text', text: '' },
    { type: 'tool-call', toolCallId: 'p', toolName: 'web', input: 'raw', providerExecuted: true },
    result,
    { type: 'tool-call', toolCallId: 'a', toolName: 'add', input: '{"a":', invalid: 'Unexpected end' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' }, filename: 'a.png' },
    { type: 'source', source: { url: 'https://example.com' } },
    { type: 'custom', kind: 'compaction', providerOptions: { openai: { itemId: 'x' } } },
  ];
  expect(
    expectRoundTrip(close(begin(blank, InferenceResponse.of({ content })))).lastStep?.response?.content,
  ).toEqual(content);
  expect(expectRoundTrip(close(begin(blank, InferenceResponse.of({ content: [] })))).messages.length).toBe(0);
  expect(
    expectRoundTrip(begin(blank, InferenceResponse.of({ content: [] }), List.from([toolMessage([result])])))
      .stepCount,
  ).toBe(1);
});
