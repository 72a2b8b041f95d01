import {
  AgentState,
  allSections,
  assistantMessage,
  conversationWithCurrentToolTrace,
  messageCompiler,
  selectedSections,
  systemMessage,
  textOf,
  type Message,
  type Messages,
  type MessageTransform,
} from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import {
  applyOutcome,
  isTrace,
  ExecutionId,
  newStepMessageIds,
  StepId,
  type MessageSelector,
} from '@holdfast/core/engine';
import { steppedClock, type ScriptedAnswer } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { storeOf } from '../../support/arbitraries.ts';
import {
  call,
  does,
  expectSound,
  observe,
  readBack,
  saidIn,
  scriptedLoop,
  told,
} from '../../support/builders.ts';
import { expectValid, line, written } from '../../support/written.ts';

const compile = conversationWithCurrentToolTrace();
const tools = [does('a'), does('b')];

describe('every compiled list is valid for a provider', () => {
  test('for any stored messages', () => {
    const ids = fc.uniqueArray(fc.constantFrom('1', '2', '3'), { minLength: 1 });
    const word = fc.oneof(
      fc.constantFrom('u', 'a', 's'),
      ids.map((list) => `a:${list.join(',')}`),
      ids.map((list) => `t:${list.join(',')}`),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const stored = words.join(' ');
        const state = AgentState.empty().withMessages(written(stored));
        expectValid(compile(state));
        expect(compile(state)).toEqual(compile(state));
        expect(line(state.messages)).toBe(stored);
      }),
      cases(100),
    );
  });
});

describe('messages that a model sees during a run', () => {
  test('include all traces of this execution, and only the final responses of earlier ones', async () => {
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

  test('include the traces of an execution without a final response', async () => {
    const failed = await observe({ script: [call('a'), new Error('down')], tools });
    const { driver } = await observe({ state: failed.state.withUserMessage('Again'), script: ['Hi.'] });
    expect(line(driver.requests[0]?.messages ?? [])).toBe('u a:call_1_1 t:call_1_1 u');
  });

  test('include a later result from a hook instead of the placeholder', async () => {
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

  test('include a result that is appended right after its call', () => {
    const clock = steppedClock(1_000);
    const started = applyOutcome(told().withMessages(written('u a:1')), {
      type: 'started',
      executionId: ExecutionId.create(),
      at: 1,
    });
    const begun = applyOutcome(started, {
      type: 'stepBegun',
      stepId: StepId.create(clock),
      input: compile(started),
      at: 2,
    });
    const answered = applyOutcome(begun, {
      type: 'inferred',
      response: InferenceResponse.of({ content: [] }),
      at: 3,
    });
    const closed = applyOutcome(answered, {
      type: 'stepClosed',
      messageIds: newStepMessageIds(clock),
      at: clock.now(),
    });
    const brought = closed.withMessageStore(closed.store.append('messages', written('t:1')));
    expect(line(compile(brought))).toBe('u a:1 t:1');
  });

  test('follow a history that was rewritten between two steps', async () => {
    const { driver } = await observe({
      script: [call('a'), 'Done.'],
      tools,
      hooks: [{ beforeStep: (now) => (now.stepCount === 1 ? now.withMessages(written('u u')) : undefined) }],
    });
    expect(line(driver.requests[1]?.messages ?? [])).toBe('u u');
  });
});

describe('compiling from the result of the step before', () => {
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

  test('gives the same as compiling from the start', async () => {
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
            expectValid(compiled);
            expect(saidIn(compiled)).toEqual(saidIn(compile(readBack(seen[index] as AgentState))));
          }
        },
      ),
      cases(60),
    );
  });

  test('hides traces once their final response arrives', async () => {
    const failed = await observe({ script: [call('a'), new Error('down')], tools });
    const [, work] = failed.state.messages;
    const { driver } = await observe({
      state: failed.state.withUserMessage('Again'),
      script: [call('a'), 'Done.'],
      tools,
      hooks: [
        {
          beforeStep: (now) => {
            if (now.stepCount === 0) return undefined;
            const tags = { execution_id: work?.metadata?.['execution_id'] ?? null };
            const late = Object.freeze({ ...assistantMessage('Late.'), metadata: Object.freeze(tags) });
            return now.withMessageStore(now.store.append('messages', [late]));
          },
        },
      ],
    });
    expect(driver.requests.map(({ messages }) => line(messages))).toEqual([
      'u a:call_1_1 t:call_1_1 u',
      'u u a:call_1_1 t:call_1_1 a',
    ]);
  });

  test('continues within one execution only', async () => {
    const first = await observe({ script: [call('a'), 'One.'], tools });
    const before = compile(first.state);
    expect(line(before)).toBe('u a:call_1_1 t:call_1_1 a');
    const second = first.state.forNextExecution().withUserMessage('More');
    expect(line(compile(second, before))).toBe('u a u');
  });

  test('shares the earlier result', async () => {
    const state = await scriptedLoop(manySteps, { tools, budget: { maxSteps: 100 } }).run(told());
    expect(addedIn(state)).toEqual(['assistant', 'tool']);
    expect(textOf(state.messages.last ?? [])).toBe('Done.');
  });

  test('shares the earlier result when every response needed repair', async () => {
    const answer = { type: 'tool-call', toolCallId: 'again', toolName: 'a', input: {} } as const;
    const script = [...Array.from({ length: 60 }, () => ({ content: [answer] })), 'Done.'];
    const state = await scriptedLoop(script, { tools, budget: { maxSteps: 100 } }).run(told());
    expect(addedIn(state)).toEqual(['assistant', 'tool']);
    expect(line(state.lastStep?.input.slice(-2) ?? [])).toBe('a:again_60 t:again_60');
    expect(JSON.stringify(state).length).toBeLessThan(2 * JSON.stringify(state.withMessages([])).length);
  });

  const roles = (messages: Iterable<Message> = []): string[] => [...messages].map(({ role }) => role);

  /** What the last step was shown beyond what the one before was. */
  function addedIn({ steps }: AgentState): string[] {
    const [before, after] = [steps.at(-2)?.input, steps.at(-1)?.input];
    return roles(before && after?.since(before));
  }
});

const manySteps: readonly ScriptedAnswer[] = [...Array.from({ length: 60 }, () => call('a')), 'Done.'];

describe('the cost of a step depends on the added messages, not on the length of the conversation', () => {
  const remind: MessageTransform = (messages) => messages.append(systemMessage('Be brief.'));
  const remindCarelessly: MessageTransform = (messages) => [...messages, { ...systemMessage('Be brief.') }];
  const summary = selectedSections(['summary', 'messages']);
  const selectors: Readonly<Record<string, MessageSelector>> = {
    'the default': compile,
    'all sections': allSections(),
    'several sections': summary,
    'a selector of a user': (state) => [...state.messages],
    'the default, and a reminder at the end': messageCompiler(compile, remind),
    'sections, and a new reminder at the end': messageCompiler(summary, remindCarelessly),
    'a selector that calls the default': (state, before) => compile(state, before),
  };

  test.each(Object.entries(selectors))('%s', async (_, compiler) => {
    let reads = 0;
    const watched = written('u a:1 t:1 a u a u a:2 t:2 a u'.repeat(20)).map((message) => {
      return new Proxy(message, {
        get: (target, name) => (reads++, Reflect.get(target, name)),
      });
    });
    const readsBefore: number[] = [];
    const state = told().withMessageStore(storeOf({ messages: watched, summary: written('s') }));
    const { status } = await scriptedLoop(manySteps, {
      tools,
      budget: { maxSteps: 100 },
      compiler,
      hooks: [{ beforeInference: () => void readsBefore.push(reads) }],
    }).run(state);
    expect(status).toBe('completed');
    expect(readsBefore[0]).toBeGreaterThan(watched.length);
    // The last answer of before is looked at once more; then nothing of the history is.
    expect(readsBefore.at(-1)).toBe(readsBefore[2]);
  });
});

test('a compiler may replace another one during an execution', async () => {
  const both = messageCompiler(allSections(), (messages: Messages) => messages.slice(-100));
  const compilers = [compile, both, compile, allSections(), both, compile];
  const first = await observe({ script: [call('a'), 'One.'], tools });
  const shown: string[] = [];
  await observe({
    state: first.state.withUserMessage('More'),
    script: [...compilers.slice(1).map(() => call('a')), 'Two.'],
    tools,
    compiler: (now) => {
      const compiled = (compilers[now.stepCount] as MessageSelector)(now);
      shown.push(line(compiled));
      expect(saidIn(compiled)).toEqual(saidIn((compilers[now.stepCount] as MessageSelector)(readBack(now))));
      return compiled;
    },
  });
  expect(shown).toHaveLength(compilers.length);
});
