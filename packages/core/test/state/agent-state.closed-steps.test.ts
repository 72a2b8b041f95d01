import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import {
  AgentState,
  AgentStep,
  textOf,
  ToolExecution,
  type Message,
  type ToolCallPart,
} from '@holdfast/core';
import { InferenceResponse, List, type AssistantPart, type ToolResultPart } from '@holdfast/core/driver';
import { applyOutcome, ExecutionState, nextAction, stopSignal } from '@holdfast/core/engine';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import { busyHistories, expectRoundTrip, histories, play, START as T } from '../support/arbitraries.ts';
import { expectPaired } from '../support/builders.ts';

const call = (toolCallId: string): ToolCallPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: toolCallId,
  input: {},
});
const asking = (...ids: string[]): InferenceResponse => InferenceResponse.of({ content: ids.map(call) });
const begun = AgentState.empty({ at: T }).withUserMessage('Go', {}, T).withExecutionStatus('inProgress', T);
const paid = ToolExecution.start(call('pay'), T).withOutcome({ type: 'succeeded', value: 'paid 1' }, T + 1);
const mailing = ToolExecution.create(call('mail')).withApprovalRequested(T);
const searching = ToolExecution.start(call('search'), T);
/** A payment was made, a search is under way, a mail waits for approval, and nothing was done about a note. */
const open = begun.withCurrentStep(
  [paid, searching, mailing].reduce(
    (step, execution) => step.withToolExecution(execution),
    AgentStep.create(begun.messages).withResponse(asking('pay', 'search', 'mail', 'note')),
  ),
  T + 2,
);

const resultsIn = (messages: Iterable<Message>): ToolResultPart[] =>
  [...messages].flatMap(({ role, content }) => (role === 'tool' ? content : []));
const outputsIn = (messages: Iterable<Message>): Record<string, unknown> =>
  Object.fromEntries(resultsIn(messages).map(({ toolCallId, output }) => [toolCallId, output]));

type End = (state: AgentState, at: number) => AgentState;
const terminalEnds: readonly (readonly [name: string, end: End])[] = [
  ['withExecutionCompleted', (state, at) => state.withExecutionCompleted(at)],
  ['withFailure', (state, at) => state.withFailure(new Error('The operator gave up.'), at)],
  ['withExecutionStatus completed', (state, at) => state.withExecutionStatus('completed', at)],
  ['withExecutionStatus stopped', (state, at) => state.withExecutionStatus('stopped', at)],
  ['withExecutionStatus failed', (state, at) => state.withExecutionStatus('failed', at)],
  ['the outcome `finished`', (state, at) => applyOutcome(state, { type: 'finished', at })],
];
/** With those that put the execution away. */
const ends: typeof terminalEnds = [
  ...terminalEnds,
  ['forNextExecution', (state, at) => state.forNextExecution(at)],
  ['a fork', (state, at) => state.fork({ at })],
  ['a document without the execution', (state) => read(state.toJSON({ execution: 'omit' }))],
];

function read(document: unknown): AgentState {
  return AgentState.fromJSON(JSON.parse(JSON.stringify(document)));
}

describe.for(ends)('%s closes an open step', ([, end]) => {
  const ended = end(open, T + 9);

  test('the completed work is in the conversation', () => {
    expect(ended.currentStep).toBeUndefined();
    expectPaired(ended.messages);
    expect(outputsIn(ended.messages)).toEqual({
      pay: { type: 'text', value: 'paid 1' },
      search: {
        type: 'error-text',
        value: 'Tool "search" was started and interrupted: whether it had its effect is unknown.',
      },
      mail: { type: 'error-text', value: 'The call was not started.' },
      note: { type: 'error-text', value: 'Not run: the execution stopped.' },
    });
    expectRoundTrip(ended);
  });

  test('the result is the same each time', () =>
    assert.deepStrictEqual(end(open, T + 9).messages, ended.messages));
});

test.for(terminalEnds)('%s gives each call of the step an outcome', ([, end]) => {
  const ended = end(open, T + 9);
  const { lastStep } = ended;
  expect(nextAction(ended).type).toBe('none');
  expect(
    lastStep?.toolExecutions.map(({ name: tool, outcome, completedAt }) => [
      tool,
      outcome?.type,
      completedAt,
    ]),
  ).toEqual([
    ['pay', 'succeeded', T + 1],
    ['search', 'interrupted', T + 9],
    ['mail', undefined, undefined],
  ]);
  expect(lastStep?.toolExecutions.some(({ isRunning }) => isRunning)).toBe(false);
});

describe('closing a step', () => {
  test('the tagged messages of the step enter the conversation before the status is set', () => {
    const ended = open.withFailure(new Error('no'), T + 9);
    expect([ended.status, ended.steps.length, ended.lastStep?.type]).toEqual(['failed', 1, 'error']);
    const tags = { step_id: open.currentStep?.id, execution_id: open.executionId, agent_id: open.agentId };
    expect(ended.messages.slice(1).map(({ role, metadata }) => [role, metadata])).toEqual([
      ['assistant', { ...tags, is_trace: true }],
      ['tool', { ...tags, is_trace: true }],
    ]);
    expect(new Set(ended.messages.toArray().map(({ id }) => id)).size).toBe(3);
  });

  test('a response without tool calls is the final response and enters the conversation', () => {
    const answered = begun.withCurrentStep(
      AgentStep.create(begun.messages).withResponse(InferenceResponse.of({ text: 'Hi.' })),
      T + 1,
    );
    for (const state of [
      answered.withCurrentStepCompleted(T + 2),
      answered.withExecutionCompleted(T + 2),
      answered.withExecutionStatus('stopped', T + 2),
    ]) {
      expect([state.finalResponse, state.messages.last && textOf(state.messages.last)]).toEqual([
        'Hi.',
        'Hi.',
      ]);
      expect(state.messages.last?.metadata).not.toHaveProperty('is_trace');
      expectRoundTrip(state);
    }
  });

  test('a response that broke off is discarded, unless one of its calls was started', () => {
    const broken = InferenceResponse.of({
      content: [{ type: 'text', text: 'I' }, call('pay')],
      finishReason: 'error',
    });
    const step = AgentStep.create().withResponse(broken);
    const silent = begun.withCurrentStep(step, T).withExecutionStatus('failed', T);
    expect([silent.messages.length, silent.finalResponse]).toEqual([1, undefined]);
    const acted = begun.withCurrentStep(step.withToolExecution(paid), T).withExecutionStatus('failed', T);
    expect(outputsIn(acted.messages)).toEqual({ pay: { type: 'text', value: 'paid 1' } });
    const broke = InferenceResponse.of({ text: 'I', finishReason: 'error' });
    const cut = begun.withCurrentStep(AgentStep.create().withResponse(broke), T).withCurrentStepCompleted(T);
    expect([cut.messages.length, cut.finalResponse]).toEqual([1, undefined]);
  });

  test('a started call that a later response omits is still in the output', () => {
    const other = AgentStep.create()
      .withResponse(asking('pay'))
      .withToolExecution(paid)
      .withResponse(InferenceResponse.of({ text: 'Never mind.' }));
    const alone = AgentStep.create().withToolExecution(paid);
    for (const step of [other, alone]) {
      const ended = expectRoundTrip(begun.withCurrentStep(step, T).withExecutionStatus('stopped', T));
      expectPaired(ended.messages);
      expect(outputsIn(ended.messages)).toEqual({ pay: { type: 'text', value: 'paid 1' } });
    }
  });

  test('existing output is replaced when a call has completed since', () => {
    const early = AgentStep.create().withResponse(asking('pay')).withOutput();
    expect(early.output).toHaveLength(2);
    const step = early.withToolExecution(paid);
    const ended = begun.withCurrentStep(step, T).withExecutionCompleted(T);
    expect(outputsIn(ended.messages)).toEqual({ pay: { type: 'text', value: 'paid 1' } });
  });

  test('a call that was approved for another attempt and not started is in doubt', () => {
    const again = searching.withApprovalRequested(T).withDecision({ type: 'approved', at: T });
    const step = AgentStep.create().withResponse(asking('search')).withToolExecution(again);
    const ended = expectRoundTrip(begun.withCurrentStep(step, T).withExecutionStatus('stopped', T));
    expect(ended.lastStep?.toolExecutions[0]).toMatchObject({ attempt: 2, outcome: { type: 'interrupted' } });
  });

  test('a started call with a second approval request is in doubt and no longer awaits approval', () => {
    const step = AgentStep.create()
      .withResponse(asking('search'))
      .withToolExecution(searching.withApprovalRequested(T));
    const [execution] =
      begun.withCurrentStep(step, T).withExecutionStatus('stopped', T).lastStep?.toolExecutions ?? [];
    expect([execution?.outcome?.type, execution?.isAwaitingApproval]).toEqual(['interrupted', false]);
  });

  test('metadata that tools set is in the state', () => {
    const step = AgentStep.create()
      .withResponse(asking('pay'))
      .withToolExecution(
        ToolExecution.start(call('pay'), T).withOutcome(
          { type: 'succeeded', value: 1, metadata: { paid: 1 } },
          T,
        ),
      );
    const state = begun.withCurrentStep(step, T);
    expect(state.withExecutionStatus('stopped', T).metadata.get('paid')).toBe(1);
    expect(state.forNextExecution(T).metadata.get('paid')).toBe(1);
  });

  test('usage and errors of the step count once', () => {
    const ended = open.withFailure(new Error('no'), T + 9);
    expect(ended.usage).toEqual(open.usage);
    expect(ended.errors.map(({ message }) => message)).toEqual([
      'no',
      'Tool "search" was started and interrupted: whether it had its effect is unknown.',
    ]);
  });
});

describe('invalid transitions with an open step', () => {
  const refused = (message: string): unknown =>
    expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) });
  const ended = begun.withExecutionStatus('completed', T + 1);
  const rows: readonly (readonly [name: string, act: () => unknown, message: string])[] = [
    [
      'a second step while a step is open is refused',
      () => open.withCurrentStep(AgentStep.create(), T),
      'Another step is open.',
    ],
    [
      'the outcome `stepBegun` while a step is open is refused',
      () =>
        applyOutcome(open, { type: 'stepBegun', stepId: AgentStep.create().id, input: List.empty(), at: T }),
      'Another step is open.',
    ],
    [
      'another closed step while a step is open is refused',
      () => open.execution?.withStepCompleted(AgentStep.create(), T),
      'Another step is open.',
    ],
    [
      'a step in a terminal execution is refused',
      () => ended.withCurrentStep(AgentStep.create(), T),
      'is terminal',
    ],
    [
      'a terminal status of an ExecutionState with an open step is refused',
      () => open.execution?.withStatus('stopped', T),
      'is open',
    ],
  ];
  test.for(rows)('%s', ([, act, message]) => expect(act).toThrow(refused(message)));

  test('another form of the open step is accepted', () => {
    const step = (open.currentStep as AgentStep).withError({ name: 'E', message: 'no' });
    expect(open.withCurrentStep(step, T).currentStep).toBe(step);
  });
});

// Over any history

const REWRITES: ReadonlySet<string> = new Set(['rewrite', 'section', 'dropSection']);

interface Started {
  readonly stepId: string;
  /** As it was last. */
  readonly execution: ToolExecution;
}

/** Every tool execution that was started in a history, by its id. */
function startedIn(states: readonly AgentState[]): ReadonlyMap<string, Started> {
  const started = new Map<string, Started>();
  for (const { currentStep, lastStep } of states) {
    for (const step of [lastStep, currentStep]) {
      for (const execution of step?.toolExecutions ?? [])
        if (execution.startedAt !== undefined)
          started.set(execution.id, { stepId: step?.id as string, execution });
    }
  }
  return started;
}

function isToldOf({ stepId, execution }: Started, messages: readonly Message[]): boolean {
  const { toolCallId } = execution.call;
  const own = messages.filter(({ metadata }) => metadata?.['step_id'] === stepId);
  const isAsked = own.some(
    ({ role, content }) =>
      role === 'assistant' &&
      content.some((part: AssistantPart) => part.type === 'tool-call' && part.toolCallId === toolCallId),
  );
  const result = resultsIn(own).find((part) => part.toolCallId === toolCallId);
  if (!isAsked || result === undefined) return false;
  if (execution.outcome === undefined) return result.output.type === 'error-text';
  assert.deepStrictEqual(result, execution.toResultPart());
  return true;
}

test('after any transitions, each started tool execution is in the conversation of the next turn', () => {
  let seen = 0;
  fc.assert(
    fc.property(busyHistories, fc.nat(ends.length - 1), (moves, nth) => {
      const states = play(moves.filter(({ type }) => !REWRITES.has(type)));
      const last = states.at(-1) as AgentState;
      const [, end] = ends[nth] as (typeof ends)[number];
      const messages = end(last, last.updatedAt).messages.toArray();
      for (const started of startedIn(states).values()) {
        seen++;
        expect(isToldOf(started, messages)).toBe(true);
      }
    }),
    cases(500),
  );
  expect(seen).toBeGreaterThan(cases(500).numRuns);
});

/** The answer of an execution, as its last step put it into the conversation. */
function answerIn({ lastStep, messages }: AgentState): string | undefined {
  const answer = lastStep?.taggedOutput.find(({ role }) => role === 'assistant');
  return answer && messages.toArray().includes(answer) ? textOf(answer) : undefined;
}

test('after any transitions, a terminal execution has no open step and its final response is in the conversation', () => {
  const seen = { over: 0, answered: 0 };
  fc.assert(
    fc.property(fc.oneof(histories, busyHistories), (moves) => {
      for (const state of play(moves.filter(({ type }) => !REWRITES.has(type)))) {
        const isOver = state.execution?.isTerminal === true;
        const isAnswered = (state.finalResponse ?? '') !== '';
        seen.over += Number(isOver);
        seen.answered += Number(isAnswered);
        assert.ok(!isOver || state.currentStep === undefined);
        assert.ok(!isAnswered || answerIn(state) === state.finalResponse);
      }
    }),
    // Mutation tests ask for a tenth of the cases, which are too few to meet an answer.
    { ...cases(300), numRuns: Math.max(200, cases(300).numRuns) },
  );
  expect(seen.over).toBeGreaterThan(0);
  expect(seen.answered).toBeGreaterThan(0);
});

// Documents of version 1, which allowed an open step in an execution that is over

describe('a document of version 1 whose execution ended with an open step', () => {
  const goldenFile = new URL('../golden/v1/mid-step.json', import.meta.url);
  const document = async (status: string): Promise<Record<string, object>> => {
    const golden = JSON.parse(await readFile(goldenFile, 'utf8'));
    const { updatedAt } = golden;
    return { ...golden, execution: { ...golden.execution, status, completedAt: updatedAt } };
  };

  test.for(['completed', 'stopped', 'failed'] as const)(
    'is repaired as the transition closes a step: %s',
    async (status) => {
      const golden = AgentState.fromJSON(JSON.parse(await readFile(goldenFile, 'utf8')));
      const state = AgentState.fromJSON(await document(status));
      assert.deepStrictEqual(state, golden.withExecutionStatus(status, golden.updatedAt));
      expect(outputsIn(state.messages)).toMatchObject({
        call_1: { type: 'json', value: 4 },
        call_2: { type: 'error-text', value: expect.stringContaining('interrupted') },
      });
      expect(expectRoundTrip(state).toJSON()).toHaveProperty('version', 1);
    },
  );

  test('is the same state at every reading', async () => {
    const text = JSON.stringify(await document('stopped'));
    assert.deepStrictEqual(read(JSON.parse(text)), read(JSON.parse(text)));
  });

  test('is refused in version 2, and as a separate execution without a conversation', async () => {
    const old = await document('stopped');
    const refused = expect.objectContaining({ code: 'STATE_FORMAT', path: '$.execution' });
    expect(() => AgentState.fromJSON({ ...structuredClone(old), version: 2 })).toThrow(refused);
    const execution = JSON.parse(JSON.stringify(open.execution));
    const ended = { ...execution, status: 'stopped', completedAt: T + 9 };
    expect(() => ExecutionState.fromJSON(ended)).toThrow(
      expect.objectContaining({ code: 'STATE_FORMAT', path: '$' }),
    );
  });
});

test('a step with a stop signal closes in the same way', () => {
  const stopped = open.withStopSignal(stopSignal({ reason: 'userRequested' }), T + 3);
  expect(nextAction(stopped).type).toBe('resolveTools');
  expect(outputsIn(stopped.withExecutionCompleted(T + 9).messages)).toEqual(
    outputsIn(open.withExecutionCompleted(T + 9).messages),
  );
  expect(stopped.withExecutionCompleted(T + 9).status).toBe('stopped');
});
