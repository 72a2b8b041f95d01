import { describe, expect, test } from 'vitest';
import {
  agentDefinition,
  AgentState,
  AgentStep,
  ExecutionBudget,
  MessageStore,
  ToolExecution,
  Usage,
  userMessage,
} from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import {
  AgentId,
  Continuation,
  ExecutionId,
  ExecutionState,
  SessionId,
  StepExecution,
  StepId,
  stopSignal,
  ToolExecutionId,
} from '@holdfast/core/engine';
import { START as T } from '../../support/arbitraries.ts';

// A refusal is read by a person who has to mend something: it says where, and what was expected there.

const plain = (value: unknown): object => JSON.parse(JSON.stringify(value)) as object;
const call = { type: 'tool-call', toolCallId: 'call_1', toolName: 'add', input: {} } as const;
const response = InferenceResponse.of({ content: [call] });
const state = AgentState.empty({ at: T }).withUserMessage('a').withExecutionStatus('inProgress', T);
const execution = plain(state.execution);
const intended = plain(ToolExecution.create(call));
const step = plain(AgentStep.create());
const { call: _, ...callless } = intended as { call: unknown };
const succeeded = { type: 'succeeded', value: 1 };
const [early, none] = [T - 1, undefined];
const whole = 'a whole number of at least 0';

const toolExecution = (part: object) => ToolExecution.fromJSON({ ...intended, ...part });
const stepOf = (part: object) => AgentStep.fromJSON(plain({ ...step, ...part }));
const executionOf = (part: object) => ExecutionState.fromJSON(plain({ ...execution, ...part }));
const stateOf = (part: object) => AgentState.fromJSON(plain({ ...state.toJSON(), ...part }));
const runOf = (part: object) => stepOf({ response, toolExecutions: [part] });

const documents: readonly (readonly [expected: string, path: string, read: () => unknown])[] = [
  ['a non-empty value, or an omitted member', '$.continuation', () => executionOf({ continuation: {} })],
  ['an earlier step with signals to continue', '$', () => Continuation.fromJSON({ continues: true })],
  [
    'at most the number of signals',
    '$',
    () => Continuation.fromJSON({ isRequested: true, overruledSignals: 1 }),
  ],
  ['an outcome and completedAt together, or neither', '$', () => toolExecution({ completedAt: T })],
  ['an outcome and completedAt together, or neither', '$', () => toolExecution({ outcome: succeeded })],
  [
    'startedAt before an outcome of "succeeded"',
    '$',
    () => toolExecution({ outcome: succeeded, completedAt: T }),
  ],
  [
    'completedAt at or after startedAt',
    '$',
    () => toolExecution({ outcome: succeeded, startedAt: T, completedAt: early }),
  ],
  ['an attempt above 1, or an omitted attempt', '$.attempt', () => toolExecution({ attempt: 1 })],
  ['either a call or the id of a call in the response', '$.toolExecutions[0]', () => runOf(callless)],
  [
    'either a call or the id of a call in the response',
    '$.toolExecutions[0]',
    () => runOf({ ...intended, toolCallId: 'call_1' }),
  ],
  [
    'the id of a call in the response',
    '$.toolExecutions[0].toolCallId',
    () => runOf({ ...callless, toolCallId: 'call_2' }),
  ],
  [
    'the id of a call in the response',
    '$.toolExecutions[0].toolCallId',
    () => stepOf({ toolExecutions: [{ ...callless, toolCallId: 'call_1' }] }),
  ],
  [
    'content, in the response or in the output',
    '$.response',
    () => stepOf({ response: { finishReason: 'stop' } }),
  ],
  ['a list of ranges', '$.input.ranges', () => stepOf({ input: { ranges: [] } })],
  ['a list of ranges', '$.input.ranges', () => stepOf({ input: { ranges: { length: 1 } } })],
  ['a list of ranges', '$.output', () => stepOf({ output: [] })],
  [
    'a range of existing messages',
    '$.input.ranges[0]',
    () => stepOf({ input: { ranges: [{ from: 0, to: 1 }] } }),
  ],
  ['an earlier step with input to continue', '$.input', () => stepOf({ input: { continues: true } })],
  [
    'completedAt at or after startedAt',
    '$',
    () => StepExecution.fromJSON({ ...step, startedAt: T, completedAt: early }),
  ],
  ['completedAt with a terminal status, and only then', '$', () => executionOf({ status: 'completed' })],
  ['completedAt at or after startedAt', '$', () => executionOf({ status: 'completed', completedAt: early })],
  ['waiting with the status suspended, and only then', '$', () => executionOf({ status: 'suspended' })],
  [
    'currentStep and currentStepStartedAt together, or neither',
    '$',
    () => executionOf({ currentStepStartedAt: T }),
  ],
  [
    'a number of at least 0, or an omitted limit',
    '$.maxCost',
    () => ExecutionBudget.fromJSON({ maxCost: null }),
  ],
  ['updatedAt at or after createdAt', '$', () => stateOf({ updatedAt: early })],
  ['a version of at least 1', '$.version', () => stateOf({ version: 0 })],
  [whole, '$.version', () => stateOf({ version: -1 })],
  [whole, '$.executionCount', () => stateOf({ executionCount: 2 ** 53 })],
  ['an AgentId: a UUID in lower case', '$.agentId', () => stateOf({ agentId: 'x' })],
  ['an AgentId: a UUID in lower case', '$.parentAgentId', () => stateOf({ parentAgentId: 'x' })],
  ['an ExecutionId: a UUID in lower case', '$.executionId', () => executionOf({ executionId: 'x' })],
  ['a StepId: a UUID in lower case', '$.id', () => stepOf({ id: 'x' })],
  ['a ToolExecutionId: a UUID in lower case', '$.id', () => toolExecution({ id: 'x' })],
  [
    'a MessageId: 1 to 1000 characters of well-formed Unicode',
    '$.otherMessages[0].id',
    () => stepOf({ otherMessages: [{ ...userMessage('a'), id: '' }] }),
  ],
  [
    'sections of different names',
    '$',
    () => MessageStore.fromJSON([1, 2].map(() => ({ name: 'a', messages: [] }))),
  ],
];
test.for(documents)('%s at %s', ([expected, path, read]) => {
  expect(read).toThrow(
    expect.objectContaining({ code: 'STATE_FORMAT', data: expect.objectContaining({ expected, path }) }),
  );
});

test('a range names the messages that it means', () => {
  expect(() => stepOf({ input: { ranges: [{ from: 3, to: 5 }] } })).toThrow('found string "3 to 5"');
});

const bad = (value: unknown): never => value as never;
const misuse: readonly (readonly [code: string, message: string, act: () => unknown])[] = [
  ['ID_INVALID', 'An AgentId must be a UUID in lower case, found string "x".', () => AgentId.parse('x')],
  ['ID_INVALID', 'An ExecutionId must be ', () => ExecutionId.parse(5)],
  ['ID_INVALID', 'A StepId must be ', () => StepId.parse(null)],
  ['ID_INVALID', 'A ToolExecutionId must be ', () => ToolExecutionId.parse(none)],
  ['ID_INVALID', 'A SessionId must be 1 to 1000 characters', () => SessionId.parse('')],
  ['ARGUMENT_INVALID', 'errorForbade, stopRequested, ', () => stopSignal({ reason: bad('bored') })],
  ['ARGUMENT_INVALID', 'found string "bored".', () => stopSignal({ reason: bad('bored') })],
  [
    'ARGUMENT_INVALID',
    'budget has no option "maxStep": did you mean "maxSteps"?',
    () => ExecutionBudget.of(bad({ maxStep: 1 })),
  ],
  [
    'ARGUMENT_INVALID',
    'maxSteps of budget must be a number of at least 0, found number -1.',
    () => ExecutionBudget.of({ maxSteps: -1 }),
  ],
  ['CONTEXT_INVALID', 'The agent definition is not valid. ', () => agentDefinition({ name: '' })],
  ['CONTEXT_INVALID', 'expected a name, found', () => agentDefinition({ name: '' })],
  ['CONTEXT_INVALID', 'a version as a string', () => agentDefinition({ name: 'a', version: bad(1) })],
  ['CONTEXT_INVALID', 'each name once', () => agentDefinition({ name: 'a', tools: ['b', 'b'] })],
  [
    'CONTEXT_INVALID',
    'capabilities that have a name',
    () => agentDefinition({ name: 'a', capabilities: { '': {} } }),
  ],
  ['CONTEXT_INVALID', 'The system prompt is not valid. ', () => state.withSystemPrompt(bad(5))],
  ['CONTEXT_INVALID', 'The LLM configuration is not valid. ', () => state.withLlmConfig(bad({ topK: '5' }))],
  ['CONTEXT_INVALID', 'The response format is not valid. ', () => state.withResponseFormat(bad({}))],
  ['CONTEXT_INVALID', 'a "type" of "text" or "json"', () => state.withResponseFormat(bad({}))],
  ['CONTEXT_INVALID', 'The message is not valid. ', () => state.withMessages([bad({})])],
  ['CONTEXT_INVALID', 'The tool call is not valid. ', () => ToolExecution.create(bad({}))],
  ['CONTEXT_INVALID', 'The usage is not valid. ', () => Usage.of({ cost: -1 })],
  ['CONTEXT_INVALID', 'The cost is not valid. ', () => Usage.none.withCost(-1)],
  ['CONTEXT_INVALID', 'The status is not valid. ', () => state.withExecutionStatus(bad('done'), T)],
  ['ARGUMENT_INVALID', 'milliseconds since 1970, found null', () => state.withSystemPrompt('a', bad(null))],
  [
    'ARGUMENT_INVALID',
    'milliseconds since 1970, found string "5"',
    () => state.withSystemPrompt('a', bad('5')),
  ],
  ['ARGUMENT_INVALID', 'found a symbol', () => state.withSystemPrompt('a', bad(Symbol('x')))],
  ['ARGUMENT_INVALID', 'found bigint 5', () => state.withSystemPrompt('a', bad(5n))],
  [
    'CONTEXT_INVALID',
    'The waiting list is not valid. ',
    () => state.withExecutionStatus('suspended', T, [bad({ type: 'rain' })]),
  ],
  [
    'CONTEXT_INVALID',
    'The decision is not valid. ',
    () => ToolExecution.create(call).withApprovalRequested(T).withDecision(bad({})),
  ],
  [
    'CONTEXT_INVALID',
    'The output of a tool is not valid. ',
    () => ToolExecution.start(call, T).withOutcome({ type: 'succeeded', value: 1, modelOutput: bad({}) }, T),
  ],
  [
    'CONTEXT_INVALID',
    'The metadata "step_id" of a message is reserved for steps. Use another name.',
    () => userMessage('a', { metadata: { step_id: 'x' } }),
  ],
];
describe('misuse says what was wrong', () => {
  test.for(misuse)('%s: %s', ([code, message, act]) => {
    expect(act).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) as string }),
    );
  });
});

test('a document has no member that is undefined, whatever was never said', () => {
  const documentsOfParts = [
    state,
    state.execution,
    state.withCurrentStep(AgentStep.create(), T),
    AgentStep.create().withResponse(response).withOutput(),
    AgentStep.create()
      .withResponse(response)
      .withToolExecution(ToolExecution.start(call, T).withOutcome({ type: 'succeeded', value: 1 }, T))
      .withOutput(),
    ToolExecution.create(call),
    ToolExecution.start(call, T),
    response,
    InferenceResponse.of({ text: 'a', usage: Usage.none }),
    Usage.none,
    Usage.of({ inputTokens: 1 }),
    userMessage('a'),
    Continuation.empty.withRequested(),
  ];
  for (const part of documentsOfParts) expect(undefinedMembers(part)).toEqual([]);
});

/** Some databases store a member that is undefined as null, which is not the same document. */
function undefinedMembers(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const json: unknown = 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value;
  return Object.entries(json as object).flatMap(([name, member]) =>
    member === undefined ? [name] : undefinedMembers(member),
  );
}
