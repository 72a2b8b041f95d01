import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AgentState,
  AgentStep,
  StateFormatError,
  ToolExecution,
  userMessage,
  type ExecutionStatus,
} from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import { isTerminal, snapshotVersion, stopSignal } from '@holdfast/core/engine';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import {
  expectDeeplyFrozen,
  expectRoundTrip,
  reachableStates,
  START as T,
} from '../../support/arbitraries.ts';

const runs = cases(1_500);
type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Path = readonly (string | number)[];

// Ways to break a document

const JUNK: readonly Json[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e21,
  1e300,
  -5e-324,
  '',
  'x',
  '1',
  '__proto__',
  '2026-11-21',
  [],
  {},
  [[]],
  [null],
  [0],
  { a: 1 },
  { type: 'text' },
  { from: 0, to: 1 },
  { section: 'messages', from: 0, to: 1 },
  { toString: 1 },
  'completed',
  'suspended',
];

function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [
    path,
    ...Object.keys(value).flatMap((key) =>
      pathsOf((value as Record<string, Json>)[key] as Json, [
        ...path,
        Array.isArray(value) ? Number(key) : key,
      ]),
    ),
  ];
}

function at(document: Json, path: Path): Json {
  return path.reduce<Json>((value, key) => (value as Record<string | number, Json>)[key] as Json, document);
}

function put(holder: Json, key: string | number, value: Json): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

interface Break {
  readonly kind: 'drop' | 'junk' | 'twice' | 'insert' | 'shift' | 'swap' | 'retype' | 'proto';
  readonly where: number;
  readonly other: number;
  readonly junk: Json;
}
const breaks: fc.Arbitrary<Break> = fc.record({
  kind: fc.constantFrom('drop', 'junk', 'twice', 'insert', 'shift', 'swap', 'retype', 'proto'),
  where: fc.nat(),
  other: fc.nat(),
  junk: fc.constantFrom(...JUNK),
});

/** Changes the document in place; the envelope is left to tests of its own. */
function breakDocument(document: Json, { kind, where, other, ...rest }: Break): void {
  const junk = structuredClone(rest.junk);
  const paths = pathsOf(document).filter((path) => path.length > 0);
  const path = paths[where % paths.length];
  const second = paths[other % paths.length];
  if (path === undefined || second === undefined) return;
  const [holder, key] = [at(document, path.slice(0, -1)), path.at(-1) as string | number];
  const value = at(document, path);
  switch (kind) {
    case 'drop':
      if (Array.isArray(holder)) holder.splice(key as number, 1);
      else delete (holder as Record<string, Json>)[key];
      return;
    case 'junk':
      return put(holder, key, junk);
    case 'twice':
      if (Array.isArray(holder)) holder.splice(key as number, 0, structuredClone(value));
      else put(holder, `${key}2`, structuredClone(value));
      return;
    case 'insert':
      if (Array.isArray(value)) value.push(junk);
      else if (typeof value === 'object' && value !== null)
        put(value, ['extra', 'constructor', 'id', 'type', 'errors', 'output'][other % 6] as string, junk);
      else put(holder, key, [value]);
      return;
    case 'shift':
      put(holder, key, typeof value === 'number' ? value + ((other % 7) - 3) : JSON.stringify(value));
      return;
    case 'swap':
      return put(holder, key, structuredClone(at(document, second)));
    case 'retype':
      put(holder, key, typeof value === 'string' ? Number(value) || 7 : JSON.stringify(value));
      return;
    case 'proto':
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) put(value, '__proto__', junk);
      return;
  }
}

const REFERENCES = new Set(['input', 'output', 'otherMessages', 'continuation', 'request']);

/**
 * The document but for its version, and how it refers to messages, signals and requests: the same may be said in more than
 * one way.
 */
function withoutReferences(document: { readonly [name: string]: Json }): Json {
  const { version: _, ...body } = document;
  return JSON.parse(JSON.stringify(body, (name, value) => (REFERENCES.has(name) ? undefined : value)));
}

/** A broken document is refused with the place, or it is a document of some state: nothing repaired, nothing ignored. */
function expectRefusedOrExact(document: Json): 'refused' | 'accepted' {
  const text = JSON.stringify(document);
  let state: AgentState;
  try {
    state = AgentState.fromJSON(document);
  } catch (error) {
    if (!(error instanceof StateFormatError)) throw error;
    assert.match(error.path, /^\$/);
    assert.ok(error.message.includes(error.path));
    assert.equal(JSON.stringify(document), text);
    return 'refused';
  }
  const written = JSON.stringify(state);
  assert.deepStrictEqual(withoutReferences(JSON.parse(written)), withoutReferences(JSON.parse(text)));
  expectDeeplyFrozen(state);
  const again = AgentState.fromJSON(JSON.parse(written));
  assert.deepStrictEqual(again, state);
  assert.equal(JSON.stringify(again), written);
  return 'accepted';
}

/** Version 1 allowed an open step in an execution that is over; it is closed when it is read. */
function isRepaired({
  version,
  execution,
}: {
  readonly version: number;
  readonly execution?: Json;
}): boolean {
  const { status, currentStep } = (execution ?? {}) as { readonly [name: string]: Json };
  return version === 1 && currentStep !== undefined && isTerminal(status as ExecutionStatus);
}

test('a broken document is refused with its place, or is a document', () => {
  const seen = { refused: 0, accepted: 0 };
  fc.assert(
    fc.property(reachableStates, fc.array(breaks, { minLength: 1, maxLength: 3 }), (state, mutations) => {
      const document = JSON.parse(JSON.stringify(state)) as Json;
      const body = Object.fromEntries(
        Object.entries(document as object).filter(([name]) => name !== 'format' && name !== 'version'),
      ) as Json;
      for (const mutation of mutations) breakDocument(body, mutation);
      if (body === null || typeof body !== 'object') return;
      const { version } = document as { readonly version: number };
      const broken = { format: 'holdfast/agent-state', version, ...body };
      if (!isRepaired(broken)) seen[expectRefusedOrExact(broken)]++;
    }),
    runs,
  );
  expect(seen.refused).toBeGreaterThan(runs.numRuns / 5);
  expect(seen.accepted).toBeGreaterThan(runs.numRuns / 15);
});

test('text that is cut short is refused by JSON itself, and what still parses by the reader', () => {
  fc.assert(
    fc.property(reachableStates, fc.nat(), (state, cut) => {
      const text = JSON.stringify(state);
      const start = text.slice(0, cut % text.length);
      expect(() => AgentState.fromJSON(JSON.parse(start))).toThrow(SyntaxError);
    }),
    cases(100),
  );
});

test('anything at all is refused with a format error', () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSparseArray: true,
        withTypedArray: true,
      }),
      (value) => {
        expect(() => AgentState.fromJSON(value)).toThrow(StateFormatError);
        const document = { ...AgentState.empty({ at: T }).toJSON(), context: value };
        expect(() => AgentState.fromJSON(document)).toThrow(StateFormatError);
      },
    ),
    cases(300),
  );
});

// Documents by hand

const call = { type: 'tool-call', toolCallId: 'call_1', toolName: 'add', input: {} } as const;
const step = AgentStep.create().withResponse(
  InferenceResponse.of({ content: [call], usage: { inputTokens: 1, outputTokens: 1 } }),
);
const open = step.withToolExecution(ToolExecution.start(call, T));
const ran = step.withToolExecution(
  ToolExecution.start(call, T).withOutcome({ type: 'succeeded', value: { a: 1 } }, T + 5),
);
const running = AgentState.empty({ at: T })
  .withMessages([userMessage('a'), userMessage('b')], T)
  .withExecutionStatus('inProgress', T);
const two = [
  ran,
  AgentStep.create(running.messages).withResponse(InferenceResponse.of({ text: 'Hi' })),
].reduce(
  (state, one) => state.withCurrentStep(one.withOutput(), T + 1).withCurrentStepCompleted(T + 2),
  running,
);
const suspended = running.withExecutionStatus('suspended', T, [{ type: 'until', until: T + 9 }]);
const ended = two.withStopSignal(stopSignal({ reason: 'unknown' }), T + 3).withExecutionCompleted(T + 3);

/** A place of the document, as in `execution.steps.0.input`, set to a value; `undefined` removes it. */
function edited(state: AgentState, edits: Readonly<Record<string, unknown>>): Json {
  const document = JSON.parse(JSON.stringify(state)) as Json;
  for (const [place, value] of Object.entries(edits)) {
    const path = place.split('.');
    const holder = at(document, path.slice(0, -1)) as Record<string, Json>;
    if (value === undefined) delete holder[path.at(-1) as string];
    else put(holder, path.at(-1) as string, value as Json);
  }
  return document;
}

const refusals: readonly (readonly [
  name: string,
  state: AgentState,
  edits: Readonly<Record<string, unknown>>,
  path: string,
])[] = [
  ['an unknown member', running, { extra: 1 }, '$.extra'],
  ['an unknown member inside', running, { 'execution.extra': 1 }, '$.execution.extra'],
  ['a member that is missing', running, { agentId: undefined }, '$.agentId'],
  ['null for a member', running, { execution: null }, '$.execution'],
  ['an id that is none', running, { 'execution.executionId': 'x' }, '$.execution.executionId'],
  ['a status that is none', running, { 'execution.status': 'done' }, '$.execution.status'],
  ['updated before it was created', running, { updatedAt: T - 1 }, '$'],
  ['half a count', running, { executionCount: 1.5 }, '$.executionCount'],
  ['a negative count', running, { executionCount: -1 }, '$.executionCount'],
  ['terminal without an end', ended, { 'execution.completedAt': undefined }, '$.execution'],
  ['an end without being terminal', running, { 'execution.completedAt': T }, '$.execution'],
  ['an end before the start', ended, { 'execution.completedAt': T - 1 }, '$.execution'],
  [
    'a step that ended before it began',
    ended,
    { 'execution.steps.0.completedAt': T - 1 },
    '$.execution.steps[0]',
  ],
  [
    'a tool that ended before it began',
    ended,
    { 'execution.steps.0.toolExecutions.0.completedAt': T - 1 },
    '$.execution.steps[0].toolExecutions[0]',
  ],
  ['waiting while in progress', running, { 'execution.waiting': [{ type: 'input' }] }, '$.execution'],
  [
    'waiting for what is unknown',
    suspended,
    { 'execution.waiting.0.type': 'rain' },
    '$.execution.waiting[0].type',
  ],
  [
    'waiting for two things in one',
    suspended,
    { 'execution.waiting.0.sessionId': 'a' },
    '$.execution.waiting[0].sessionId',
  ],
  ['negative time worked', running, { 'execution.workedSeconds': -1 }, '$.execution.workedSeconds'],
  [
    'a current step without its start',
    running.withCurrentStep(step, T),
    { 'execution.currentStepStartedAt': undefined },
    '$.execution',
  ],
  ['a start without a current step', running, { 'execution.currentStepStartedAt': T }, '$.execution'],
  [
    'more overruled than there are',
    ended,
    { 'execution.continuation.overruledSignals': 2 },
    '$.execution.continuation',
  ],
  [
    'a reason that is none',
    ended,
    { 'execution.continuation.signals.0.reason': 'bored' },
    '$.execution.continuation.signals[0].reason',
  ],
  [
    'two sections of one name',
    running,
    {
      'context.sections': [
        { name: 'a', messages: [] },
        { name: 'a', messages: [] },
      ],
    },
    '$.context.sections',
  ],
  [
    'a part of another role',
    running,
    { 'context.sections.0.messages.0.content.0': call },
    '$.context.sections[0].messages[0].content[0].type',
  ],
  [
    'a range past the end',
    two,
    { 'execution.steps.1.input.ranges.0.to': 99 },
    '$.execution.steps[1].input.ranges[0]',
  ],
  [
    'a range of nothing',
    two,
    { 'execution.steps.1.input.ranges.0.to': 0 },
    '$.execution.steps[1].input.ranges[0]',
  ],
  [
    'a range backwards',
    two,
    { 'execution.steps.1.input.ranges.0': { section: 'messages', from: 2, to: 1 } },
    '$.execution.steps[1].input.ranges[0]',
  ],
  [
    'a negative range',
    two,
    { 'execution.steps.1.input.ranges.0.from': -1 },
    '$.execution.steps[1].input.ranges[0].from',
  ],
  [
    'a range of a section that is not there',
    two,
    { 'execution.steps.1.input.ranges.0.section': 'x' },
    '$.execution.steps[1].input.ranges[0]',
  ],
  [
    'a range of a section named __proto__',
    two,
    { 'execution.steps.1.input.ranges.0.section': '__proto__' },
    '$.execution.steps[1].input.ranges[0]',
  ],
  ['continuing no step', two, { 'execution.steps.0.input.continues': true }, '$.execution.steps[0].input'],
  [
    'a call that the response does not have',
    two,
    { 'execution.steps.0.toolExecutions.0.call': 'call_9' },
    '$.execution.steps[0].toolExecutions[0].call',
  ],
  [
    'an outcome that is nowhere',
    two,
    { 'execution.steps.0.output': undefined, 'execution.steps.0.response.content': [call] },
    '$.execution.steps[0].toolExecutions[0].outcome.value',
  ],
  [
    'a response without content',
    two,
    { 'execution.steps.0.output': undefined },
    '$.execution.steps[0].response',
  ],
  [
    'an outcome without an end',
    two,
    {
      'execution.steps.0.toolExecutions.0.completedAt': undefined,
      'execution.steps.0.toolExecutions.0.outcome': { type: 'succeeded', value: 1 },
    },
    '$.execution.steps[0].toolExecutions[0]',
  ],
  [
    'a first attempt that says so',
    two,
    { 'execution.steps.0.toolExecutions.0.attempt': 1 },
    '$.execution.steps[0].toolExecutions[0].attempt',
  ],
  [
    'an attempt before the first',
    two,
    { 'execution.steps.0.toolExecutions.0.attempt': 0 },
    '$.execution.steps[0].toolExecutions[0].attempt',
  ],
  [
    'a request in version 1',
    two,
    { 'execution.steps.0.request': { model: 'a' } },
    '$.execution.steps[0].request',
  ],
  ['settings of steps in version 1', two, { 'execution.llmConfig': {} }, '$.execution.llmConfig'],
  [
    'what a call waits for in version 1',
    running.withCurrentStep(open, T),
    { 'execution.currentStep.toolExecutions.0.waitingInside': [{ type: 'input' }] },
    '$.execution.currentStep.toolExecutions[0].waitingInside',
  ],
  [
    'a call that waits and has ended',
    two,
    { version: 2, 'execution.steps.0.toolExecutions.0.waitingInside': [{ type: 'input' }] },
    '$.execution.steps[0].toolExecutions[0]',
  ],
  [
    'an unknown setting of a request',
    two,
    { version: 2, 'execution.steps.0.request': { llmConfig: { apiKey: 'secret' } } },
    '$.execution.steps[0].request.llmConfig.apiKey',
  ],
  [
    'an unknown member of a request',
    two,
    { version: 2, 'execution.steps.0.request': { secret: 1 } },
    '$.execution.steps[0].request.secret',
  ],
  [
    'a tool choice that says nothing',
    two,
    { version: 2, 'execution.steps.0.request': { toolChoice: 'auto' } },
    '$.execution.steps[0].request.toolChoice',
  ],
  [
    'an open step in an execution that is over',
    running.withCurrentStep(open, T),
    { version: 2, 'execution.status': 'stopped', 'execution.completedAt': T + 9 },
    '$.execution',
  ],
  [
    'half a token',
    two,
    { 'execution.steps.0.response.usage.inputTokens': 0.5 },
    '$.execution.steps[0].response.usage.inputTokens',
  ],
  ['an empty list that says nothing', two, { 'execution.errors': [] }, '$.execution.errors'],
  ['empty metadata that says nothing', running, { 'context.metadata': {} }, '$.context.metadata'],
];

describe('a document is refused for', () => {
  test.for(refusals)('%s', ([, state, edits, path]) => {
    expectRoundTrip(state);
    const document = edited(state, edits);
    const text = JSON.stringify(document);
    expect(() => AgentState.fromJSON(document)).toThrow(
      expect.objectContaining({ code: 'STATE_FORMAT', path }),
    );
    expect(JSON.stringify(document)).toBe(text);
  });

  test('numbers that JSON text can hold and JavaScript cannot', () => {
    const text = JSON.stringify(running).replace(`"executionCount":1`, '"executionCount":1e999');
    expect(() => AgentState.fromJSON(JSON.parse(text))).toThrow(
      expect.objectContaining({ path: '$.executionCount' }),
    );
  });
});

describe('the envelope', () => {
  const document = (envelope: object): unknown => ({ ...running.toJSON(), ...envelope });
  test('names the format and its version', () => {
    expect(running.toJSON()).toMatchObject({
      format: 'holdfast/agent-state',
      version: 1,
    });
    expect(snapshotVersion('holdfast/agent-state')).toBe(2);
    const settled = two.withLlmConfig({ model: 'other' }, T);
    expect(settled.toJSON()).toMatchObject({ version: 2 });
  });
  test.for([3, 4, 1_000, Number.MAX_SAFE_INTEGER])(
    'a newer version, %i, is refused and left as it is',
    (version) => {
      const newer = { ...running.toJSON(), version, invented: { later: true } };
      const text = JSON.stringify(newer);
      expect(() => AgentState.fromJSON(newer)).toThrow(
        expect.objectContaining({
          code: 'STATE_VERSION',
          path: '$.version',
          message: expect.stringContaining('newer release') as string,
        }),
      );
      expect(JSON.stringify(newer)).toBe(text);
    },
  );
  test.for([0, -1, 1.5, '1', null, undefined, true, [1], {}, 1e300, Number.NaN])(
    '%j is not a version',
    (version) => {
      expect(() => AgentState.fromJSON(document({ version }))).toThrow(
        expect.objectContaining({ code: 'STATE_FORMAT', path: '$.version' }),
      );
    },
  );
  test.for(['', 'holdfast/session', 'Holdfast/agent-state', null, undefined, 1, ['holdfast/agent-state']])(
    '%j is not the format',
    (format) => {
      expect(() => AgentState.fromJSON(document({ format }))).toThrow(
        expect.objectContaining({ code: 'STATE_FORMAT', path: '$.format' }),
      );
    },
  );
  test.for([null, undefined, 1, 'x', [], () => 1, Symbol('x')])('%o is not a document', (value) => {
    expect(() => AgentState.fromJSON(value)).toThrow(
      expect.objectContaining({ code: 'STATE_FORMAT', path: '$' }),
    );
  });
  test('text that was not parsed is not a document', () => {
    expect(() => AgentState.fromJSON(JSON.stringify(running))).toThrow(StateFormatError);
  });
  test.for(['__proto__', 'constructor', 'prototype'])(
    'a member %s is refused and pollutes nothing',
    (name) => {
      const hostile = JSON.parse(
        JSON.stringify(running).replace('{', `{"${name}":{"polluted":true},`),
      ) as unknown;
      expect(() => AgentState.fromJSON(hostile)).toThrow(StateFormatError);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );
});
