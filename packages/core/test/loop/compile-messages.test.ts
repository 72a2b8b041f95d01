import {
  AgentState,
  apply,
  assistantMessage,
  conversationWithCurrentToolTrace,
  InferenceResponse,
  isTrace,
  ExecutionId,
  StepId,
  systemMessage,
  textOf,
  toolMessage,
  userMessage,
  newStepMessageIds,
} from '@holdfast/core';
import type { Message, Messages, ToolCallPart } from '@holdfast/core';
import { steppedClock } from '@holdfast/core/testing';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../arbitraries.ts';
import { does, expectPaired, expectSound, observe, saidIn, scriptedLoop, told } from '../builders.ts';

const compile = conversationWithCurrentToolTrace();
const call = (...names: string[]): ScriptedAnswer => ({ calls: names.map((name) => [name, {}] as const) });
const tools = [does('a'), does('b')];

/** A list of messages in one line: `u`, `s`, `t:1,2` results, `a` a text, `a:1,2` calls of these ids. */
function written(line: string): Message[] {
  return line
    .split(' ')
    .filter(Boolean)
    .map((word) => {
      const [role, list] = word.split(':');
      const ids = list?.split(',') ?? [];
      if (role === 'u') return userMessage('u');
      if (role === 's') return systemMessage('s');
      if (role === 't') {
        return toolMessage(
          ids.map((toolCallId) => ({
            type: 'tool-result',
            toolCallId,
            toolName: 'x',
            output: { type: 'text', value: 'y' },
          })),
        );
      }
      if (ids.length === 0) return assistantMessage('a');
      return assistantMessage(
        ids.map((toolCallId): ToolCallPart => ({ type: 'tool-call', toolCallId, toolName: 'x', input: {} })),
      );
    });
}

/** The same back again; a result that was made up is marked. */
function line(messages: Iterable<Message>): string {
  return [...messages]
    .map((message) => {
      if (message.role === 'user' || message.role === 'system') return message.role[0];
      const ids = message.content.flatMap((part) => {
        if (part.type === 'tool-call') return part.toolCallId;
        if (part.type !== 'tool-result') return [];
        return part.toolCallId + (part.output.type === 'error-text' ? '!' : '');
      });
      return `${message.role[0]}${ids.length === 0 ? '' : `:${ids.join(',')}`}`;
    })
    .join(' ');
}

describe('every compiled list is valid for a provider', () => {
  const cases: readonly (readonly [name: string, stored: string, compiled: string])[] = [
    ['a plain conversation', 'u a u', 'u a u'],
    ['calls with their results', 'u a:1,2 t:1,2 a', 'u a:1,2 t:1,2 a'],
    ['results in two messages', 'u a:1,2 t:2 t:1 a', 'u a:1,2 t:2 t:1 a'],
    ['a call at the end without a result', 'u a:1', 'u a:1 t:1!'],
    ['a call in the middle without a result', 'u a:1 u a', 'u a:1 t:1! u a'],
    ['one of two results', 'u a:1,2 t:2 u', 'u a:1,2 t:2 t:1! u'],
    ['a result that comes too late', 'u a:1 u t:1', 'u a:1 t:1! u'],
    ['a result without a call', 'u t:9 a', 'u a'],
    ['a result without a call among others', 'u a:1 t:9,1 a', 'u a:1 t:1 a'],
    ['a result at the very start', 't:1 u', 'u'],
    ['a result twice', 'u a:1 t:1 t:1 a', 'u a:1 t:1 a'],
    ['calls after calls', 'a:1 a:2 t:2', 'a:1 t:1! a:2 t:2'],
    ['the same id in two steps', 'u a:1 t:1 a:1 t:1', 'u a:1 t:1 a:1 t:1'],
    ['the same id in two steps, once without a result', 'u a:1 a:1 t:1', 'u a:1 t:1! a:1 t:1'],
    ['a system message between', 'u a:1 s t:1', 'u a:1 t:1! s'],
    ['nothing', '', ''],
  ];
  test.each(cases)('%s', (_, stored, compiled) => {
    const state = AgentState.empty().withMessages(written(stored));
    const messages = compile(state);
    expect(line(messages)).toBe(compiled);
    expectPaired(messages);
    expect(compile(state)).toEqual(messages);
    expect(line(state.messages)).toBe(stored);
  });

  test('whatever is stored', () => {
    const ids = fc.uniqueArray(fc.constantFrom('1', '2', '3'), { minLength: 1 });
    const word = fc.oneof(
      fc.constantFrom('u', 'a', 's'),
      ids.map((list) => `a:${list.join(',')}`),
      ids.map((list) => `t:${list.join(',')}`),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const compiled = compile(AgentState.empty().withMessages(written(words.join(' '))));
        expect(() => expectPaired(compiled)).not.toThrow();
      }),
    );
  });
});

describe('what a model is shown of a run', () => {
  test('all the work of this execution, of earlier ones their answers only', async () => {
    const first = await observe({ script: [call('a'), 'One.'], tools });
    const second = await observe({
      state: first.state.withUserMessage('More'),
      script: [call('b', 'a'), 'Two.'],
      tools,
    });
    const shown = second.driver.requests.map(({ messages }) => line(messages));
    expect(shown).toEqual(['u a u', 'u a u a:call_1_1,call_1_2 t:call_1_1,call_1_2']);
    expect(line(first.driver.requests[1]?.messages ?? [])).toBe('u a:call_1_1 t:call_1_1');
    // The stored history is not changed.
    expect([...second.state.messages].filter(isTrace)).toHaveLength(4);
    expect(second.state.messages).toHaveLength(8);
  });

  test('what an execution did that came to no answer', async () => {
    const failed = await observe({ script: [call('a'), new Error('down')], tools });
    const { driver } = await observe({ state: failed.state.withUserMessage('Again'), script: ['Hi.'] });
    expect(line(driver.requests[0]?.messages ?? [])).toBe('u a:call_1_1 t:call_1_1 u');
  });

  test('a result that a hook brings later takes the place of the one made up', async () => {
    const state = told().withMessages(written('u a:1'));
    const { driver } = await observe({
      state,
      script: [{ text: 'Wait.' }, 'Thanks.'],
      hooks: [
        {
          beforeStep: (now) => (now.stepCount === 1 ? now.withMessages(written('u a:1 t:1')) : undefined),
          afterStep: (now) => (now.stepCount === 1 ? now.withContinuationRequested() : undefined),
        },
      ],
    });
    expect(driver.requests.map(({ messages }) => line(messages))).toEqual(['u a:1 t:1!', 'u a:1 t:1']);
  });

  test('a result that is appended right after a call that had none', () => {
    const clock = steppedClock(1_000);
    const started = apply(told().withMessages(written('u a:1')), {
      type: 'started',
      executionId: ExecutionId.create(),
      at: 1,
    });
    const begun = apply(started, {
      type: 'stepBegun',
      stepId: StepId.create(clock),
      input: compile(started),
      at: 2,
    });
    const answered = apply(begun, {
      type: 'inferred',
      response: InferenceResponse.of({ content: [] }),
      at: 3,
    });
    const closed = apply(answered, {
      type: 'stepClosed',
      messageIds: newStepMessageIds(clock),
      at: clock.now(),
    });
    const brought = closed.withMessageStore(closed.store.append('messages', written('t:1')));
    expect(line(compile(brought))).toBe('u a:1 t:1');
  });

  test('a history that was rewritten between two steps', async () => {
    const { driver } = await observe({
      script: [call('a'), 'Done.'],
      tools,
      hooks: [{ beforeStep: (now) => (now.stepCount === 1 ? now.withMessages(written('u u')) : undefined) }],
    });
    expect(line(driver.requests[1]?.messages ?? [])).toBe('u u');
  });
});

describe('compiling on from the step before', () => {
  /** The same history with nothing of it known: no list that was compiled before can be found. */
  const forgotten = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));

  const name = fc.constantFrom('a', 'b', 'nobody');
  const turn: fc.Arbitrary<ScriptedAnswer> = fc.oneof(
    fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => call(...names)),
    fc.constant<ScriptedAnswer>({
      content: [
        { type: 'text', text: 'cut' },
        { type: 'tool-call', toolCallId: 'c', toolName: 'a', input: {} },
      ],
      finishReason: 'length',
    }),
  );
  const rewrites = ['', '', '', 'u a:1', 'u', 't:1', 'a:9'];

  test('gives what compiling from the start gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('u', 'u a:1', 'u a:1 t:1 a', 'u a:1,2 t:1'),
        fc.array(fc.tuple(turn, fc.constantFrom(...rewrites)), { maxLength: 6 }),
        async (start, turns) => {
          const shown: Messages[] = [];
          const seen: AgentState[] = [];
          const add = (state: AgentState): AgentState | undefined => {
            const more = turns[state.stepCount]?.[1];
            return more ? state.withMessageStore(state.store.append('messages', written(more))) : undefined;
          };
          const loop = scriptedLoop([...turns.map(([answer]) => answer), 'Done.'], {
            tools,
            hooks: [{ beforeStep: add }],
            compiler: (now) => {
              seen.push(now);
              const compiled = compile(now);
              shown.push(compiled);
              return compiled;
            },
          });
          expectSound(await loop.run(told().withMessages(written(start))));
          for (const [index, compiled] of shown.entries()) {
            expectPaired(compiled);
            expect(saidIn(compiled)).toEqual(saidIn(compile(forgotten(seen[index] as AgentState))));
          }
        },
      ),
      cases(60),
    );
  });

  test('shares what was compiled before', async () => {
    const script = [...Array.from({ length: 60 }, () => call('a')), 'Done.'];
    const state = await scriptedLoop(script, { tools, budget: { maxSteps: 100 } }).run(told());
    const [before, after] = [state.steps.at(-2)?.input, state.steps.at(-1)?.input];
    expect(after?.since(before ?? after)?.map((message) => message.role)).toEqual(['assistant', 'tool']);
    expect(textOf(state.messages.last ?? [])).toBe('Done.');
  });
});
