import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import {
  AgentState,
  AgentStep,
  ExecutionBudget,
  MessageStore,
  metadataKey,
  ToolExecution,
  Usage,
  userMessage,
} from '@holdfast/core';
import { InferenceResponse, List } from '@holdfast/core/driver';
import {
  AgentContext,
  Continuation,
  ExecutionId,
  ExecutionState,
  Metadata,
  newStepMessageIds,
  StepExecution,
  stopSignal,
  ToolExecutionId,
} from '@holdfast/core/engine';
import { expectDeeplyFrozen, START as T } from '../../support/arbitraries.ts';

// A caller without types may pass anything. What is wrong is refused with a code, and whatever is made can be read back.

const calls = ['a', 'b'].map(
  (toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'add', input: {} }) as const,
);
const [call, otherCall] = calls as [(typeof calls)[0], (typeof calls)[0]];
const response = InferenceResponse.of({ content: calls, usage: { inputTokens: 1, outputTokens: 1 } });
const intended = ToolExecution.create(call);
const asked = intended.withApprovalRequested(T);
const running = intended.withStarted(T);
const step = AgentStep.create().withResponse(response);
const usage = Usage.of({ inputTokens: 1, cost: 2 });
const signal = stopSignal({ reason: 'unknown' });
const continuation = Continuation.empty.withSignal(signal);
const message = userMessage('a');
const store = MessageStore.from([message]);
const budget = ExecutionBudget.of({ maxSteps: 5, maxCost: 1, deadline: T });
const thrown = new Error('no');
const id = ExecutionId.create();

const blank = AgentState.empty({ at: T });
const begun = blank.withUserMessage('a', {}, T).withExecutionStatus('inProgress', T).withCurrentStep(step, T);
const closed = begun.withCurrentStepCompleted(T).withStopSignal(signal, T);
const execution = closed.execution as ExecutionState;

type Act = (...args: never[]) => unknown;
type Reads = (json: unknown) => unknown;
interface Subject {
  readonly name: string;
  readonly of: readonly object[];
  readonly read: Reads;
  /** Arguments that are right, by the name of the transition; some depend on the subject. */
  readonly takes: Readonly<Record<string, readonly unknown[] | ((subject: never) => readonly unknown[])>>;
  /** Methods with such a name that are not public. */
  readonly internal?: readonly string[];
}

const subjects: readonly Subject[] = [
  {
    name: 'AgentState',
    of: [blank, begun, closed],
    read: AgentState.fromJSON,
    takes: {
      withSystemPrompt: ['a', T],
      withUserMessage: ['a', { metadata: { a: 1 }, providerOptions: { a: {} }, createdAt: T }, T],
      withMessages: [[message], T],
      withMessageStore: [store, T],
      withMetadata: ['a', 1, T],
      withoutMetadata: [metadataKey('a'), T],
      withLlmConfig: [{ model: 'm' }, T],
      withResponseFormat: [{ type: 'text' }, T],
      withCurrentStep: ({ currentStep }: AgentState) => [currentStep ?? AgentStep.create(), T, id],
      withCurrentStepCompleted: [T],
      withStopSignal: [signal, T, id],
      withContinuationRequested: [T, id],
      withoutContinuationRequested: [T],
      withError: [thrown, T, id],
      withFailure: [thrown, T, id],
      withExecutionStarted: [T, id],
      withExecutionStatus: ['suspended', T, [{ type: 'input' }]],
      withExecutionCompleted: [T, id],
      withOtherUsage: [usage, T, id],
      withTimeWorked: [1, T],
      withContext: [AgentContext.empty, T],
      forNextExecution: [T],
      fork: [{ at: T }],
    },
    internal: [
      'with',
      'withContextLimit',
      'withExecution',
      'withFinished',
      'withLastStep',
      'withNewStep',
      'withOpenStepClosed',
      'withStepClosed',
    ],
  },
  {
    name: 'ExecutionState',
    of: [ExecutionState.create({ at: T }), begun.execution as ExecutionState, execution],
    read: ExecutionState.fromJSON,
    takes: {
      withStatus: ['suspended', T, [{ type: 'input' }]],
      withCurrentStep: ({ currentStep }: ExecutionState) => [currentStep ?? AgentStep.create(), T],
      withStepCompleted: ({ currentStep }: ExecutionState) => [currentStep ?? AgentStep.create(), T, 1],
      withContinuation: [continuation],
      withStopSignal: [signal],
      withError: [thrown],
      withOtherUsage: [usage],
      withTimeWorked: [1],
    },
    internal: ['with', 'withFallback', 'withLastStep', 'withLlmConfig', 'withNewStep'],
  },
  {
    name: 'AgentStep',
    of: [AgentStep.create(), step, step.withToolExecution(running)],
    read: AgentStep.fromJSON,
    takes: {
      withInput: [List.from([message])],
      withRequest: [{ llmConfig: { model: 'm' }, model: 'n', toolChoice: 'none' }],
      withResponse: [response],
      withError: [thrown],
      withToolExecution: [ToolExecution.create(otherCall)],
      withOutput: [newStepMessageIds(), T],
    },
    internal: [
      'with',
      'withErrorsResolved',
      'withInferenceFailure',
      'withInferenceRetried',
      'withTaggedOutput',
      'withToolExecutions',
    ],
  },
  {
    name: 'ToolExecution',
    of: [intended, asked, running],
    read: ToolExecution.fromJSON,
    takes: {
      withApprovalRequested: [T],
      withApprovalRequestedFor: [{ a: 1 }, T],
      withCheckedArgs: [{ a: 1 }],
      withDecision: [{ type: 'approved', at: T }, call],
      withStarted: [T],
      withOutcome: [{ type: 'succeeded', value: 1 }, T],
      withUsage: [usage],
      withProgress: [{ a: 1 }],
      withNextAttempt: [T],
    },
    internal: [
      'with',
      'withAnswer',
      'withCheckedOutcome',
      'withEditedArgs',
      'forCall',
      'withNewProgress',
      'withWaitingInside',
    ],
  },
  {
    name: 'InferenceResponse',
    of: [response],
    read: InferenceResponse.fromJSON,
    takes: { withUsage: [usage] },
  },
  {
    name: 'Continuation',
    of: [continuation, Continuation.empty.withRequested()],
    read: Continuation.fromJSON,
    takes: { withSignal: [signal], withRequested: [], withoutRequest: [], withStepBegun: [] },
    internal: ['with', 'withChecked', 'withoutReason', 'withStopsOf'],
  },
  {
    name: 'AgentContext',
    of: [AgentContext.empty, closed.context],
    read: AgentContext.fromJSON,
    takes: { with: [{ store, systemPrompt: 'a', metadata: Metadata.empty }] },
  },
  {
    name: 'MessageStore',
    of: [MessageStore.empty, store],
    read: MessageStore.fromJSON,
    takes: { append: ['a', [message]], withSection: ['a', [message]], withoutSection: ['messages'] },
    internal: ['withChecked'],
  },
  {
    name: 'Metadata',
    of: [Metadata.empty, Metadata.from({ a: 1 })],
    read: Metadata.fromJSON,
    takes: { with: ['a', 1], without: [metadataKey('a')] },
  },
  {
    name: 'Usage',
    of: [Usage.none, usage],
    read: Usage.fromJSON,
    takes: { plus: [usage], withCost: [1] },
  },
  {
    name: 'ExecutionBudget',
    of: [budget],
    read: ExecutionBudget.fromJSON,
    takes: { remaining: [{ steps: 1, tokens: 1, seconds: 1, cost: 1 }], cappedBy: [budget] },
  },
];

const IS_TRANSITION = /^(with|for|plus|append|remaining|cappedBy)/;

test.for(subjects)('every transition of $name is in the table', ({ of, takes, internal = [] }) => {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(of[0]));
  const found = names.filter((name) => IS_TRANSITION.test(name) && !internal.includes(name));
  expect(found.toSorted()).toEqual(Object.keys(takes).toSorted());
});

const JUNK: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  -0,
  5,
  -1,
  1.5,
  Number.NaN,
  Infinity,
  -Infinity,
  1e300,
  5n,
  '',
  'x',
  Symbol('x'),
  () => 1,
  {},
  [],
  [5],
  [null],
  new Map(),
  Object.create(null),
  { type: 'x', id: 'x', reason: 'x', step: 5, clock: 5 },
  { reason: 'unknown', message: 5 },
  { reason: 'unknown', source: {} },
  { reason: 'unknown', context: null },
  { reason: 'unknown', context: '' },
  { type: 'succeeded', value: 5n },
  { assistant: '', tool: 5 },
  { store: 5 },
  { systemPrompt: 5, responseFormat: { type: 'x' } },
  { metadata: {} },
  { steps: Number.NaN },
  { cost: -1 },
  { inputTokens: 2 ** 53, outputTokens: Number.NaN },
  { name: 5 },
];

/** Fails unless the call is refused with a code, or what it makes is sound. */
function expectRefusedOrSound(act: () => unknown, read: Reads): void {
  let made: unknown;
  try {
    made = act();
  } catch (error) {
    assert.ok(error instanceof Error);
    assert.match(String((error as { code?: unknown }).code), /^(ARGUMENT|CONTEXT|ID)_INVALID$|^NOT_JSON$/);
    return;
  }
  expectDeeplyFrozen(made);
  const restored = read(JSON.parse(JSON.stringify(made)));
  assert.equal(JSON.stringify(restored), JSON.stringify(made));
}

const transitions = subjects.flatMap(({ name, of, read, takes }) =>
  Object.entries(takes).map(([method, args]) => ({ name: `${name}.${method}`, of, read, method, args })),
);

test.for(transitions)(
  '$name takes what is right, and nothing it cannot keep',
  ({ of, read, method, args: given }) => {
    for (const subject of of) {
      const args = typeof given === 'function' ? given(subject as never) : given;
      const act = (subject as Record<string, Act>)[method]?.bind(subject) as (...args: unknown[]) => unknown;
      expect(() => read(JSON.parse(JSON.stringify(act(...args))))).not.toThrow();
      for (const place of args.keys()) {
        for (const junk of JUNK) expectRefusedOrSound(() => act(...args.with(place, junk)), read);
      }
    }
  },
);

const factories: readonly (readonly [name: string, make: (junk: never) => unknown, read: Reads])[] = [
  ['AgentState.empty', AgentState.empty, AgentState.fromJSON],
  ['AgentState.empty, an id', (agentId) => AgentState.empty({ agentId }), AgentState.fromJSON],
  ['ExecutionState.create', ExecutionState.create, ExecutionState.fromJSON],
  ['ExecutionState.create, an id', (id) => ExecutionState.create({ id }), ExecutionState.fromJSON],
  ['StepExecution.of', StepExecution.of, StepExecution.fromJSON],
  [
    'StepExecution.of, a step',
    (junk) => StepExecution.of({ step: junk, continuation, startedAt: T, completedAt: T }),
    StepExecution.fromJSON,
  ],
  [
    'StepExecution.of, a continuation',
    (junk) => StepExecution.of({ step, continuation: junk, startedAt: T, completedAt: T }),
    StepExecution.fromJSON,
  ],
  ['AgentStep.create', (input) => AgentStep.create(input), AgentStep.fromJSON],
  ['AgentStep.create, an id', (junk) => AgentStep.create(List.empty(), junk), AgentStep.fromJSON],
  ['ToolExecution.intended', ToolExecution.create, ToolExecution.fromJSON],
  ['ToolExecution.intended, an id', (junk) => ToolExecution.create(call, junk), ToolExecution.fromJSON],
  ['ToolExecution.started, an id', (junk) => ToolExecution.start(call, T, junk), ToolExecution.fromJSON],
  ['MessageStore.from', MessageStore.from, MessageStore.fromJSON],
  ['Metadata.from', Metadata.from, Metadata.fromJSON],
  ['Usage.of', Usage.of, Usage.fromJSON],
  ['ExecutionBudget.of', ExecutionBudget.of, ExecutionBudget.fromJSON],
  ['ExecutionBudget.of, a limit', (maxCost) => ExecutionBudget.of({ maxCost }), ExecutionBudget.fromJSON],
  [
    'ExecutionBudget.of, a deadline',
    (deadline) => ExecutionBudget.of({ deadline }),
    ExecutionBudget.fromJSON,
  ],
  ['List.from', (junk) => List.from<never>(junk), (json) => json],
  ['List.concat', (junk) => List.empty<never>().concat(junk), (json) => json],
];

test.for(factories)('%s makes nothing that cannot be kept', ([, make, read]) => {
  for (const junk of JUNK) expect(() => expectRefusedOrSound(() => make(junk as never), read)).not.toThrow();
});

const wrong = (value: unknown): never => value as never;
const messages: readonly (readonly [message: string, act: () => unknown])[] = [
  [
    'Expected a step, as returned by AgentStep.create(), found an object.',
    () => blank.withCurrentStep(wrong({}), T),
  ],
  [
    'Expected a step, as returned by AgentStep.create(), found number 5.',
    () => execution.withStepCompleted(wrong(5), T),
  ],
  ['Expected usage, as returned by Usage.of(), found number 5.', () => blank.withOtherUsage(wrong(5), T)],
  [
    'Expected usage, as returned by Usage.of(), found an object.',
    () => intended.withUsage(wrong({ inputTokens: 1 })),
  ],
  [
    'Expected a store, as returned by MessageStore.from(), found an array of 0.',
    () => blank.withMessageStore(wrong([])),
  ],
  [
    'Expected metadata, as returned by Metadata.from(), found an object.',
    () => AgentContext.empty.with(wrong({ metadata: {} })),
  ],
  [
    'Expected an AgentContext, found number 5.',
    () => (blank as never as { withContext: Act }).withContext(wrong(5)),
  ],
  [
    'Expected a Continuation, such as Continuation.empty, found null.',
    () => execution.withContinuation(wrong(null)),
  ],
  [
    'Expected a stop signal: an object with a reason, found null.',
    () => blank.withStopSignal(wrong(null), T),
  ],
  [
    'Expected a string as the message of a stop signal, found number 5.',
    () => stopSignal({ reason: 'unknown', message: wrong(5) }),
  ],
  [
    'Expected a string as the source of a stop signal, found null.',
    () => stopSignal({ reason: 'unknown', source: wrong(null) }),
  ],
  ['Expected an iterable, such as an array, found number 5.', () => blank.withMessages(wrong(5), T)],
  ['Expected an array of messages, found nothing.', () => store.append('a', wrong(undefined))],
  ['Expected a string as the name of a section, found number 5.', () => store.withSection(wrong(5), [])],
  [
    'Expected a name, or a key, as returned by metadataKey(), found number 5.',
    () => blank.withMetadata(wrong(5), 1, T),
  ],
  [
    'message takes an object with options, found null. Known options: id, createdAt, providerOptions, metadata, clock.',
    () => blank.withUserMessage('a', wrong(null), T),
  ],
  [
    'clock of fork must be an object with now() and newId(), found number 5.',
    () => blank.fork({ clock: wrong(5) }),
  ],
  [
    'Expected a clock: an object with now() and newId(), found an object.',
    () => newStepMessageIds(wrong({})),
  ],
  [
    'Expected messages, as returned by List.from(), found an array of 1.',
    () => step.withInput(wrong([message])),
  ],
  [
    'Expected a response, as returned by InferenceResponse.of(), found an object.',
    () => step.withResponse(wrong({ text: 'a' })),
  ],
  [
    'Expected an execution, as returned by ToolExecution.create(), found an object.',
    () => step.withToolExecution(wrong({ ...intended })),
  ],
  [
    'Expected message ids, as returned by newStepMessageIds(), found null.',
    () => step.withOutput(wrong(null), T),
  ],
  ['Expected an outcome: an object with a type, found string "x".', () => running.withOutcome(wrong('x'), T)],
  [
    'The type of an outcome must be one of succeeded, failed, blocked, denied, interrupted, found string "toString".',
    () => running.withOutcome(wrong({ type: 'toString' }), T),
  ],
  [
    'Expected a budget, as returned by ExecutionBudget.of(), found an object.',
    () => budget.cappedBy(wrong({})),
  ],
  [
    'budget takes an object with options, found null. Known options: maxSteps, maxTokens, maxSeconds, maxCost, deadline.',
    () => ExecutionBudget.of(wrong(null)),
  ],
];

test.for(messages)('%s', ([text, act]) => {
  expect(act).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID', message: text }));
});

test('an id that is given is taken as it is read: in lower case', () => {
  const upper = wrong(id.toUpperCase());
  expect(blank.withContinuationRequested(T, upper).executionId).toBe(id);
  expect(AgentStep.create(List.empty(), upper).id).toBe(id);
  expect(ToolExecution.create(call, upper).id).toBe(ToolExecutionId.parse(id));
});
