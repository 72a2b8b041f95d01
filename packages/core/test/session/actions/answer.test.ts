import {
  AgentState,
  answer,
  answerError,
  createAgentLoop,
  pendingQuestions,
  subagent,
  tool,
  ToolExecution,
  type AgentEvent,
  type AgentLoop,
  type AgentLoopOptions,
  type AgentStep,
  type JsonValue,
  type Tool,
} from '@holdfast/core';
import { nextAction, withAnswer } from '@holdfast/core/engine';
import { manualClock, scriptedDriver, toolContext, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectPaired, expectSound, told } from '../../support/builders.ts';

const named = { name: 'ask', description: 'Asks the user.', inputSchema: { type: 'object' } } as const;
const ask = tool({ ...named, outputSchema: z.object({ city: z.string().min(2) }) });
const one: ScriptedAnswer = { calls: [['ask', { for: 'a trip' }]] };

function loopOf(
  script: readonly ScriptedAnswer[],
  tools: readonly Tool[] = [ask],
  options: Partial<AgentLoopOptions> = {},
): AgentLoop {
  return createAgentLoop({ driver: scriptedDriver(...script), tools, clock: manualClock(1_000), ...options });
}

const callOf = (state: AgentState): ToolExecution => state.currentStep?.toolExecutions[0] as ToolExecution;
const firstCall = (state: AgentState): ToolExecution => state.steps[0]?.toolExecutions[0] as ToolExecution;

describe('a call of a tool without execute', () => {
  test('waits for its answer, which is its value', async () => {
    const loop = loopOf([one, 'To Oslo.']);
    const waiting = expectSound(await loop.run(told()));
    const [question] = pendingQuestions(waiting);
    expect(waiting.execution?.waiting).toEqual([{ type: 'answer', toolExecutionId: question?.id }]);
    expect([waiting.status, question?.args, nextAction(waiting).type]).toEqual([
      'suspended',
      { for: 'a trip' },
      'wait',
    ]);
    const id = question?.id as string;
    const given = { toolExecutionId: id, value: { city: 'Oslo' }, by: 'ann' };
    const answered = expectSound(await withAnswer(waiting, given, loop.tools, 2_000));
    expect([answered.status, pendingQuestions(answered)]).toEqual(['inProgress', []]);
    const ended = expectSound(await loop.run(answered));
    expectPaired(ended.messages);
    expect([ended.status, ended.finalResponse]).toEqual(['completed', 'To Oslo.']);
    expect([firstCall(ended).value, firstCall(ended).answer, firstCall(ended).attempt]).toEqual([
      { city: 'Oslo' },
      { at: 2_000, by: 'ann' },
      1,
    ]);
  });

  test('is a normal call for listeners and hooks, and its output for the model is converted', async () => {
    const completed: unknown[] = [];
    const shown = tool({ ...named, toModelOutput: () => ({ type: 'text', value: 'A city.' }) });
    const loop = loopOf([one, 'Done.'], [shown], {
      hooks: [{ afterToolUse: ({ outcome }) => void completed.push(outcome?.type) }],
    });
    const events: AgentEvent[] = [];
    const onEvent = (event: AgentEvent): void => void events.push(event);
    const waiting = await loop.run(told(), { onEvent });
    const id = callOf(waiting).id;
    const answered = await withAnswer(waiting, { toolExecutionId: id, value: 'Oslo' }, loop.tools, 2_000);
    const ended = await loop.run(answered, { onEvent, previousState: waiting });
    const ofTools = events.flatMap(({ type }) => (type.startsWith('tool-') ? [type] : []));
    expect([ofTools, completed]).toEqual([['tool-started', 'tool-waiting', 'tool-completed'], ['succeeded']]);
    expect(firstCall(ended).toResultPart().output).toEqual({ type: 'text', value: 'A city.' });
  });

  test('with invalid arguments fails and does not wait', async () => {
    const strict = tool({ ...named, inputSchema: z.object({ for: z.number() }) });
    const ended = await loopOf([one, 'Sorry.'], [strict]).run(told());
    expect([ended.status, firstCall(ended).error?.code]).toEqual(['completed', 'TOOL_ARGUMENTS_INVALID']);
  });

  test('does not hold up the other calls of the step', async () => {
    const add = tool({
      name: 'add',
      description: 'Adds.',
      inputSchema: { type: 'object' },
      execute: () => 2,
    });
    const script: ScriptedAnswer[] = [
      {
        calls: [
          ['ask', {}],
          ['add', {}],
          ['ask', {}],
        ],
      },
      'Done.',
    ];
    const loop = loopOf(script, [ask, add], { maxParallelTools: 1 });
    const waiting = expectSound(await loop.run(told()));
    expect(waiting.currentStep?.toolExecutions.map(({ value }) => value)).toEqual([undefined, 2, undefined]);
    let state = waiting;
    for (const { id } of pendingQuestions(waiting)) {
      expect(state.status).toBe('suspended');
      state = await withAnswer(state, { toolExecutionId: id, value: { city: 'Oslo' } }, loop.tools, 2_000);
    }
    expect((await loop.run(state)).status).toBe('completed');
  });

  test('is requested again when its process died before the request was saved', async () => {
    const clock = manualClock(1_000);
    const waiting = await loopOf([one], [ask], { clock }).run(told());
    const { waitingInside: _, ...call } = callOf(waiting).toJSON() as Record<string, JsonValue>;
    const crashed = waiting
      .withExecutionStatus('inProgress', 2_000)
      .withCurrentStep(
        (waiting.currentStep as AgentStep).withToolExecution(ToolExecution.fromJSON(call)),
        2_000,
      );
    expect(nextAction(crashed).type).toBe('resolveTools');
    const again = expectSound(await loopOf([], [ask], { clock }).run(crashed));
    expect(pendingQuestions(again).map(({ id, attempt }) => [id, attempt])).toEqual([[call['id'], 2]]);
  });

  test('cannot be executed by its tool', () => {
    expect(() => ask.execute({}, toolContext())).toThrow('an answer completes its calls');
  });
});

describe('withAnswer', () => {
  const waiting = async (loop: AgentLoop): Promise<AgentState> => loop.run(told());
  const refused = (code: string, message = ''): unknown =>
    expect.objectContaining({ code, message: expect.stringContaining(message) });

  test('refuses a value that does not fit, and the call still waits', async () => {
    const loop = loopOf([one]);
    const state = await waiting(loop);
    const { id } = callOf(state);
    const wrong = { toolExecutionId: id, value: { city: 'O' } };
    await expect(withAnswer(state, wrong, loop.tools, 2_000)).rejects.toEqual(
      refused('ANSWER_INVALID', 'city: '),
    );
    expect(pendingQuestions(state)).toHaveLength(1);
  });

  test('checks by a JSON Schema, and by a schema that takes time', async () => {
    const slow = z.string().refine((text) => Promise.resolve(text === 'Oslo'));
    for (const outputSchema of [{ type: 'string', enum: ['Oslo'] }, slow]) {
      const loop = loopOf([one], [tool({ ...named, outputSchema })]);
      const state = await waiting(loop);
      const { id } = callOf(state);
      await expect(
        withAnswer(state, { toolExecutionId: id, value: 'Rome' }, loop.tools, 2_000),
      ).rejects.toEqual(refused('ANSWER_INVALID'));
      const right = await withAnswer(state, { toolExecutionId: id, value: 'Oslo' }, loop.tools, 2_000);
      expect(right.status).toBe('inProgress');
    }
  });

  test('refuses an unknown call, a second answer, a missing tool and an answer of two kinds', async () => {
    const loop = loopOf([one]);
    const state = await waiting(loop);
    const given = { toolExecutionId: callOf(state).id, value: { city: 'Oslo' } };
    const once = await withAnswer(state, { ...given, by: 'ann' }, loop.tools, 2_000);
    await expect(withAnswer(once, given, loop.tools, 2_001)).rejects.toEqual(
      refused('ANSWER_GIVEN', 'already answered by ann'),
    );
    await expect(withAnswer(state, { ...given, toolExecutionId: 'x' }, loop.tools, 2_000)).rejects.toEqual(
      refused('ANSWER_NOT_FOUND', callOf(state).id),
    );
    await expect(withAnswer(state, given, new Map(), 2_000)).rejects.toEqual(refused('TOOL_NOT_FOUND'));
    await expect(withAnswer(state, { ...given, error: 'No.' }, loop.tools, 2_000)).rejects.toEqual(
      refused('ARGUMENT_INVALID', 'either a value or an error'),
    );
  });

  test('with an error fails the call, and needs no tool', async () => {
    const loop = loopOf([one, 'Sorry.']);
    const state = await waiting(loop);
    const given = { toolExecutionId: callOf(state).id, error: 'The user closed the page.' };
    const ended = await loop.run(await withAnswer(state, given, undefined, 2_000));
    expect(firstCall(ended).outcome).toEqual({
      type: 'failed',
      error: { name: 'Error', message: 'The user closed the page.' },
    });
  });

  test('of a read state is the same, and the outcome is recorded after a crash', async () => {
    const loop = loopOf([one, 'To Oslo.']);
    const read = AgentState.fromJSON(JSON.parse(JSON.stringify(await waiting(loop))));
    const given = { toolExecutionId: callOf(read).id, value: { city: 'Oslo' } };
    const saved = JSON.stringify(await withAnswer(read, given, loop.tools, 2_000));
    expect(JSON.parse(saved)).toMatchObject({ version: 2 });
    const ended = await loop.run(AgentState.fromJSON(JSON.parse(saved)));
    expect([firstCall(ended).value, ended.finalResponse]).toEqual([{ city: 'Oslo' }, 'To Oslo.']);
  });
});

describe('the end of an execution', () => {
  test('closes an open question as not answered', async () => {
    const waiting = await loopOf([one]).run(told());
    const stopped = expectSound(waiting.withExecutionStatus('stopped', 2_000));
    expect([firstCall(stopped).outcome?.type, firstCall(stopped).error?.message]).toEqual([
      'interrupted',
      'Tool "ask" was not answered before the execution ended.',
    ]);
  });

  test('keeps an answer that was saved', async () => {
    const loop = loopOf([one]);
    const waiting = await loop.run(told());
    const given = { toolExecutionId: callOf(waiting).id, value: { city: 'Oslo' } };
    const answered = await withAnswer(waiting, given, loop.tools, 2_000);
    const failed = expectSound(answered.withFailure(new Error('The operator gave up.'), 3_000));
    expect(firstCall(failed).value).toEqual({ city: 'Oslo' });
  });
});

describe('a question of a subagent', () => {
  const script = { calls: { agent: { prompt: 'Plan.' } } } as const;
  const inside = (options: Partial<AgentLoopOptions> = {}, question: Tool = ask): AgentLoop => {
    const child = loopOf([one, 'To Oslo.'], [question], { clock: manualClock(5_000), ...options });
    const agent = subagent({ name: 'agent', description: 'Plans.', loop: child });
    return loopOf([script, 'Done.'], [agent], options);
  };

  test('is listed, checked by its own tool, and answered', async () => {
    const loop = inside();
    const waiting = expectSound(await loop.run(told()));
    const [question] = pendingQuestions(waiting);
    expect(waiting.execution?.waiting).toEqual([{ type: 'answer', toolExecutionId: question?.id }]);
    const toolExecutionId = question?.id as string;
    await expect(withAnswer(waiting, { toolExecutionId, value: 5 }, loop.tools, 2_000)).rejects.toMatchObject(
      {
        code: 'ANSWER_INVALID',
      },
    );
    const given = { toolExecutionId, value: { city: 'Oslo' } };
    const answered = expectSound(await withAnswer(waiting, given, loop.tools, 2_000));
    const ended = expectSound(await loop.run(answered));
    expect([ended.status, firstCall(ended).value]).toEqual(['completed', 'To Oslo.']);
  });

  test('fails at its answer timeout', async () => {
    const clock = manualClock(1_000);
    const loop = inside({ clock }, tool({ ...named, answerTimeoutSeconds: 60 }));
    const waiting = await loop.run(told());
    expect(waiting.execution?.waiting).toMatchObject([{ type: 'answer', until: 61_000 }]);
    clock.advance(60_000);
    const ended = expectSound(await loop.run(waiting));
    expect(firstCall(ended).value).toBe('To Oslo.');
    const child = JSON.stringify(waiting.currentStep?.toolExecutions[0]?.progress);
    expect(child).toContain('"answer"');
  });
});

describe('invalid arguments', () => {
  test.each<readonly [string, () => unknown, string]>([
    ['a value that is not JSON', () => answer('x', 1n), 'NOT_JSON'],
    ['no call', () => answer(undefined as never, 1), 'ARGUMENT_INVALID'],
    ['no message', () => answerError('x', undefined as never), 'ARGUMENT_INVALID'],
    ['an option', () => answer('x', 1, { reason: 'a' } as never), 'ARGUMENT_INVALID'],
    ['not a state', () => pendingQuestions({} as never), 'ARGUMENT_INVALID'],
  ])('%s', (_, call, code) => {
    expect(call).toThrow(expect.objectContaining({ code }));
  });
});
