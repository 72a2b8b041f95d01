import {
  AgentStop,
  assistantMessage,
  cancellation,
  subagent,
  summarize,
  textOf,
  tokenLimit,
  userMessage,
  type Hook,
  type Message,
  type ToolCallPart,
} from '@holdfast/core';
import { DriverError, List } from '@holdfast/core/driver';
import { stopSignal, summaryCompiler, type SummarizeOptions } from '@holdfast/core/engine';
import {
  scriptedDriver,
  steppedClock,
  type ScriptedAnswer,
  type ScriptedDriver,
} from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import {
  does,
  driverOf,
  expectPaired,
  expectSound,
  observe,
  readBack,
  saidIn,
  scriptedLoop,
  told,
  type Observation,
  type Scenario,
} from '../support/builders.ts';

/** A limit that a user wrote. */
const limitOfMine: Hook['checkLimit'] = ({ usage }) =>
  usage.totalTokens < 500
    ? undefined
    : stopSignal({ reason: 'costLimitReached', message: 'Enough.', source: 'mine' });

const HEADING = 'Summary of the conversation before this point:\n\n';

// A call and its result are about 167 tokens by their scripts, and the tool is about 35: nothing here is counted by a provider.
const call = (...ids: string[]): ScriptedAnswer => ({
  content: ids.map((id): ToolCallPart => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: 'look',
    input: {},
  })),
  usage: {},
});
const done: ScriptedAnswer = { text: 'Done.', usage: {} };
const look = does('look', (_, { toolCallId }) => `${toolCallId} ${'.'.repeat(400)}`);
const calls = (count: number): ScriptedAnswer[] =>
  Array.from({ length: count }, (_, index) => call(`c${index + 1}`));

interface Summarized extends Observation {
  readonly writer: ScriptedDriver;
}

/** A run with summaries; `written` are what the writer says. */
async function observeSummarized(
  written: readonly ScriptedAnswer[],
  { hooks = [], ...scenario }: Scenario = {},
  options: Partial<SummarizeOptions> = {},
): Promise<Summarized> {
  const writer = scriptedDriver(...written);
  const { hook, compiler } = summarize({ driver: writer, maxTokens: 600, ...options });
  const seen = await observe({ tools: [look], ...scenario, hooks: [hook, ...hooks], compiler });
  for (const { messages } of seen.driver.requests) expectPaired(messages);
  return { ...seen, writer };
}

/** Messages in short: texts, ids of calls, `=` and the ids of results. */
const inShort = (messages: Iterable<Message>): string[] =>
  [...messages].map((message) => {
    const ids = message.content.flatMap((part) => ('toolCallId' in part ? part.toolCallId : []));
    return `${message.role === 'tool' ? '=' : ''}${ids.join()}${textOf(message).replace(HEADING, 'S: ')}`;
  });
const shownIn = ({ driver }: Observation): string[] =>
  driver.requests.map(({ messages }) => inShort(messages).join(' '));
const read = ({ writer }: Summarized, index = 0): string =>
  textOf(writer.requests[index]?.messages.at(0) ?? []);

describe('a conversation that exceeds the limit', () => {
  test('is shown unchanged below the limit', async () => {
    const seen = await observeSummarized([], { script: [...calls(3), done] });
    expect(shownIn(seen).at(-1)).toBe('Go c1 =c1 c2 =c2 c3 =c3');
    expect(seen.state.store.names).toEqual(['messages']);
  });

  test('is shown as a summary and the latest messages', async () => {
    const seen = await observeSummarized(['Looked.'], { script: [...calls(6), done] });
    expect(shownIn(seen)).toEqual([
      'Go',
      'Go c1 =c1',
      'Go c1 =c1 c2 =c2',
      'Go c1 =c1 c2 =c2 c3 =c3',
      'S: Looked. c4 =c4',
      'S: Looked. c4 =c4 c5 =c5',
      'S: Looked. c4 =c4 c5 =c5 c6 =c6',
    ]);
  });

  test('retains its stored messages, and counts the usage of the summary besides the steps', async () => {
    const plain = await observe({ script: [...calls(4), done], tools: [look] });
    const usage = { inputTokens: 300, outputTokens: 20, cost: 0.5 };
    const { state } = await observeSummarized([{ text: 'Looked.', usage }], { script: [...calls(4), done] });
    expect(saidIn(state.messages)).toEqual(saidIn(plain.state.messages));
    expect(state.stepCount).toBe(5);
    expect(state.execution?.otherUsage.toJSON()).toEqual(usage);
    expect(state.usage.toJSON()).toEqual({ ...usage, unreportedCalls: 5, unpricedCalls: 5 });
  });

  test('is written as text for a model with its own settings', async () => {
    const seen = await observeSummarized(
      ['Looked.'],
      { script: [...calls(4), done], state: told('Find it').withLlmConfig({ model: 'big' }) },
      { llmConfig: { model: 'small' } },
    );
    const [request] = seen.writer.requests;
    const result = (id: string): string => `tool: [look gave ${id} ${'.'.repeat(400)}]`;
    expect(read(seen)).toBe(
      [
        'user: Find it',
        'assistant: [calls look with {}]',
        result('c1'),
        'assistant: [calls look with {}]',
        result('c2'),
        'assistant: [calls look with {}]',
        result('c3'),
        'Write the summary of all this.',
      ].join('\n\n'),
    );
    expect(request).toMatchObject({ llmConfig: { model: 'small' }, tools: [], responseFormat: undefined });
    expect(request?.systemPrompt).toMatch(/^You write the summary/);
  });

  test('has the earlier summary and the newly excluded messages in the next summary', async () => {
    const seen = await observeSummarized(['One.', 'Two.'], { script: [...calls(8), done] });
    seen.writer.assertComplete();
    const written = read(seen, 1);
    expect(written.startsWith(`${HEADING}One.\n\nassistant: [calls look with {}]`)).toBe(true);
    expect(written.match(/gave c\d/g)).toEqual(['gave c4', 'gave c5', 'gave c6']);
    expect(shownIn(seen).at(-1)).toBe('S: Two. c7 =c7 c8 =c8');
    expect(inShort(seen.state.store.section('summary'))).toEqual(['S: Two.']);
  });

  test('is summarised in parts when it is far too long', async () => {
    const state = told()
      .withMessages(Array.from({ length: 20 }, (_, index) => userMessage(`${index} ${'.'.repeat(380)}`)))
      .withUserMessage('And?');
    const seen = await observeSummarized(
      ['One.', 'Two.', 'Three.', 'Four.', 'Five.'],
      { state, script: [done] },
      { maxTokens: 500 },
    );
    seen.writer.assertComplete();
    for (const index of [1, 2, 3, 4]) expect(read(seen, index)).toContain(HEADING);
    const numbers = seen.writer.requests.flatMap(
      (_, index) => read(seen, index).match(/(?<=user: )\d+/g) ?? [],
    );
    expect(numbers).toEqual(Array.from({ length: 18 }, (_, index) => String(index)));
    expect(shownIn(seen)[0]).toMatch(/^S: Five\. 18 \.* 19 \.* And\?$/);
  });

  test('is summarised the same way every time', async () => {
    const run = async () => {
      const { hook, compiler } = summarize({ driver: scriptedDriver('Looked.'), maxTokens: 500 });
      const options = { tools: [look], script: [...calls(4), done], clock: steppedClock(7) };
      return (await observe({ ...options, hooks: [hook], compiler })).state;
    };
    expect(await run()).toEqual(await run());
  });
});

describe('the number of messages shown', () => {
  test('follows the count of the provider, when it is reported', async () => {
    const counted = (inputTokens: number): ScriptedAnswer => ({
      ...(call(`c${inputTokens}`) as object),
      usage: { inputTokens, outputTokens: 1 },
    });
    const little = [counted(10), counted(20), counted(30), counted(40), counted(50), done];
    expect(shownIn(await observeSummarized([], { script: little })).at(-1)).toMatch(/^Go c10/);
    const much = [counted(300), counted(480), done];
    expect(shownIn(await observeSummarized(['Much.'], { script: much })).at(-1)).toBe('S: Much. c480 =c480');
  });

  test('counts a file as 1,000 tokens, not by its base64', async () => {
    const data = { type: 'data', data: 'A'.repeat(100_000) } as const;
    const state = told().withUserMessage([{ type: 'file', mediaType: 'image/png', data }]);
    const file = { script: [done], state };
    expect(shownIn(await observeSummarized([], file, { maxTokens: 1_100 }))).toEqual(['Go ']);
    const seen = await observeSummarized(['Seen.'], file, { maxTokens: 900 });
    expect(shownIn(seen)).toEqual(['S: Seen. ']);
    const later = { script: [done], state: state.withUserMessage('What is it?') };
    const named = await observeSummarized(['Gone.', 'Seen.'], later, { maxTokens: 900 });
    expect(read(named, 1)).toContain('user: [a file: image/png]');
  });

  test('includes the latest messages within keepTokens, and at least one', async () => {
    const end = async (keepTokens: number): Promise<string | undefined> =>
      shownIn(await observeSummarized(['S1.', 'S2.'], { script: [...calls(4), done] }, { keepTokens })).at(
        -1,
      );
    expect(await end(0)).toBe('S: S1. c4 =c4');
    expect(await end(450)).toBe('S: S1. c3 =c3 c4 =c4');
    expect(await end(599)).toBe('S: S1. c2 =c2 c3 =c3 c4 =c4');
  });
});

describe('a summary that fails', () => {
  const failures: readonly (readonly [name: string, answer: ScriptedAnswer, message: string])[] = [
    ['by an error', new Error('down'), 'down'],
    ['by an empty response', { text: ' ' }, 'The model wrote no summary; it ended with "stop".'],
    [
      'by a filter',
      { text: 'Loo', finishReason: 'content-filter' },
      'The model wrote no summary; it ended with "content-filter".',
    ],
    [
      'by a response without a finish reason',
      { text: 'Loo', finishReason: 'other' },
      'The model wrote no summary; it ended with "other".',
    ],
    ['by calling a tool', call('x'), 'The model wrote no summary; it ended with "tool-calls".'],
  ];
  test.each(failures)(
    '%s: the run continues, and the next step attempts the summary again',
    async (_, answer, message) => {
      const errors: unknown[] = [];
      const onError = (error: unknown): void => void errors.push(error);
      const seen = await observeSummarized(
        [answer, 'No.', 'Yes.'],
        { script: [...calls(5), done] },
        { onError },
      );
      expect(seen.state.status).toBe('completed');
      expect(errors).toEqual([expect.objectContaining({ message })]);
      expect(shownIn(seen)[4]).toBe('Go c1 =c1 c2 =c2 c3 =c3 c4 =c4');
      expect(shownIn(seen)[5]).toBe('S: Yes. c5 =c5');
    },
  );

  test('is still billed', async () => {
    const answer = { text: '', usage: { inputTokens: 300, outputTokens: 0 } };
    const { state } = await observeSummarized([answer], { script: [...calls(4), done] });
    expect(state.execution?.otherUsage.inputTokens).toBe(300);
  });

  const partial = { text: 'Half', usage: { inputTokens: 90, outputTokens: 10 } };
  test.each<readonly [string, ScriptedAnswer, number]>([
    [
      'reported with the error',
      new DriverError('contentFiltered', 'No.', { usage: { inputTokens: 300 } }),
      300,
    ],
    ['of a partial response', new DriverError('network', 'Cut.', { partialResponse: partial }), 90],
  ])('is billed when it has no answer: usage %s', async (_, answer, inputTokens) => {
    const { state } = await observeSummarized([answer], { script: [...calls(4), done] });
    expect([state.status, state.execution?.otherUsage.inputTokens]).toEqual(['completed', inputTokens]);
  });

  test.each<readonly [string, ScriptedAnswer]>([
    ['of a call that took too long', new DriverError('timeout', 'Late.')],
    ['of a response that was aborted', { text: 'Half', finishReason: 'aborted', usage: {} }],
  ])('is billed by an estimate: usage %s', async (_, answer) => {
    const { state } = await observeSummarized([answer], { script: [...calls(4), done] });
    expect(state.execution?.otherUsage.inputTokens).toBeGreaterThan(100);
  });

  test('is not billed after an error without usage', async () => {
    const { state } = await observeSummarized([new Error('down')], { script: [...calls(4), done] });
    expect(state.execution?.otherUsage.toJSON()).toEqual({});
  });

  test('retains the parts that were written before the failure', async () => {
    const state = told().withMessages(Array.from({ length: 12 }, () => userMessage('.'.repeat(380))));
    const { state: end } = await observeSummarized(['One.', new Error('down')], { state, script: [done] });
    expect(inShort(end.store.section('summary'))).toEqual(['S: One.']);
  });

  test('can end the run', async () => {
    const onError = (): never => {
      throw new AgentStop('No summary, no run.');
    };
    const { state } = await observeSummarized([new Error('down')], { script: calls(4) }, { onError });
    expect([state.status, state.stopSignal?.message]).toEqual(['stopped', 'No summary, no run.']);
  });

  test('by an abort is not reported as an error', async () => {
    const errors: unknown[] = [];
    const leaving = new AbortController();
    const goes: ScriptedAnswer = (_, { signal }) => {
      leaving.abort();
      return signal.reason as Error;
    };
    const { state } = await observeSummarized(
      [goes],
      { script: calls(4), run: { signal: leaving.signal } },
      { onError: (error) => errors.push(error) },
    );
    expect([state.status, state.stopReason, errors]).toEqual(['stopped', 'userRequested', []]);
  });
});

describe('summaries and other parts of a run', () => {
  test('a step that is not taken causes no summary', async () => {
    const seen = await observeSummarized([], { script: calls(4), budget: { maxSteps: 4 } });
    expect([seen.state.stopReason, seen.writer.requests.length]).toEqual(['stepsLimitReached', 0]);
  });

  test('the usage of a summary counts in the limits', async () => {
    const usage = { inputTokens: 1_000, outputTokens: 0 };
    const budget = { maxTokens: 900, maxSteps: 9 };
    const { state } = await observeSummarized([{ text: 'Dear.', usage }], { script: calls(6), budget });
    expect([state.stopReason, state.stepCount]).toEqual(['tokenLimitReached', 4]);
  });

  const long = told().withMessages(
    Array.from({ length: 40 }, (_, index) => userMessage(`${index} ${'.'.repeat(1_900)}`)),
  );
  const writes = (count: number): ScriptedAnswer[] =>
    Array.from({ length: count }, () => ({ text: 'Dear.', usage: { inputTokens: 90, outputTokens: 10 } }));

  test.each<readonly [string, Scenario, reason: string]>([
    ['a budget', { budget: { maxTokens: 500 } }, 'tokenLimitReached'],
    ['a guard', { hooks: [tokenLimit(500)] }, 'tokenLimitReached'],
    ['a run', { run: { budget: { maxTokens: 500 } } }, 'tokenLimitReached'],
    ['a hook', { hooks: [{ checkLimit: limitOfMine }] }, 'costLimitReached'],
  ])('the limit of %s is enforced between the parts of a summary', async (_, scenario, reason) => {
    const seen = await observeSummarized(writes(5), { ...scenario, script: [], state: long });
    expect([seen.state.stopReason, seen.state.usage.totalTokens]).toEqual([reason, 500]);
    expect([seen.writer.requests.length, seen.driver.requests.length]).toEqual([5, 0]);
    expect(seen.state.store.section('summary').length).toBe(1);
  });

  test('the caller’s remaining budget is enforced between the parts too', async () => {
    const writer = scriptedDriver(...writes(3));
    const { hook, compiler } = summarize({ driver: writer, maxTokens: 500 });
    const loop = scriptedLoop([], { hooks: [hook], compiler });
    const helper = subagent({ name: 'helper', description: 'Helps.', loop, toTask: () => long });
    const { state } = await observe({
      script: [{ calls: { helper: { prompt: 'Go' } } }], // 15 tokens
      tools: [helper],
      budget: { maxTokens: 315 },
    });
    expect([state.stopReason, state.usage.totalTokens]).toEqual(['tokenLimitReached', 315]);
    writer.assertComplete();
  });

  test('a cancellation takes effect before the next part', async () => {
    let asked = 0;
    const hooks = [cancellation(() => ++asked > 3)];
    const seen = await observeSummarized(writes(3), { hooks, script: [], state: long });
    expect([seen.state.stopReason, seen.state.usage.totalTokens]).toEqual(['userRequested', 200]);
  });

  const small = { small: { input: 2, output: 1 } };
  const other = { small: { input: 7, output: 1 } };
  test.each<readonly [string, Scenario, Partial<SummarizeOptions>]>([
    ['its own', {}, { prices: small }],
    ['those of the loop', { prices: small }, {}],
    ['its own before those of the loop', { prices: other }, { prices: small }],
  ])('prices determine the cost of a summary: %s', async (_, scenario, options) => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 };
    const { state } = await observeSummarized(
      [{ text: 'Dear.', usage }],
      { ...scenario, script: [...calls(4), done] },
      { ...options, llmConfig: { model: 'small' } },
    );
    expect(state.cost).toBe(2);
  });

  test('the prices of the loop let maxCost count a summary', async () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 };
    const { state } = await observeSummarized(
      [{ text: 'Dear.', usage }],
      {
        state: told().withLlmConfig({ model: 'small' }),
        prices: small,
        budget: { maxCost: 1 },
        script: calls(6),
      },
      { llmConfig: { model: 'small' } },
    );
    expect([state.stopReason, state.stepCount, state.cost]).toEqual(['costLimitReached', 4, 2]);
  });

  test('a summary of a conversation that was rewritten is not shown', async () => {
    const { state } = await observeSummarized(['Looked.'], { script: [...calls(4), done] });
    const { compiler } = summarize({ driver: scriptedDriver(), maxTokens: 500 });
    const anew = state.forNextExecution().withMessages([userMessage('Other')]);
    expect(inShort(compiler(anew))).toEqual(['Other']);
    // A message before it that goes does it no harm.
    expect(inShort(compiler(state.withMessages(state.messages.slice(1))))[0]).toBe('S: Looked.');
  });

  test('a section of the same name from another source does not change', () => {
    const store = told().store.withSection('summary', [userMessage('Mine.')]);
    const state = told().withMessageStore(store);
    expect(summaryCompiler((now) => now.store.section('summary'))(state)).toBe(store.section('summary'));
  });

  test('any compiler can select the remaining messages', async () => {
    const extra = assistantMessage('By the way.');
    const seen = await observeSummarized(
      ['Looked.'],
      { script: [...calls(4), done] },
      { compiler: ({ messages }) => List.from([extra, ...messages]) },
    );
    expect(shownIn(seen).at(-1)).toBe('S: Looked. By the way. c4 =c4');
    expect(read(seen)).not.toContain('By the way.');
  });
});

test('another process continues with the summary', async () => {
  const first = await observeSummarized(['Looked.'], { script: [...calls(4), done] });
  const state = readBack(first.state).withUserMessage('And?');
  const second = await observeSummarized([], { state, script: [done] });
  // The work of the execution before is hidden, as it would be without a summary.
  expect(shownIn(second)).toEqual(['S: Looked. Done. And?']);
});

test('calls and results stay together and no message is dropped, whatever the limits', async () => {
  const turn = fc.integer({ min: 1, max: 4 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { minLength: 1, maxLength: 10 }),
      fc.integer({ min: 1, max: 1_500 }),
      fc.double({ min: 0, max: 0.9, noNaN: true }),
      async (turns, maxTokens, share) => {
        const script = [...turns.map((count, step) => call(...idsOf(step, count))), done];
        const plain = scriptedDriver(...script);
        const whole = await scriptedLoop([], { driver: plain, tools: [look] }).run(told());
        const driver = scriptedDriver(...script);
        const writer = driverOf(async () => ({ text: 'Written.' }));
        const keepTokens = Math.floor(maxTokens * share);
        const { hook, compiler } = summarize({ driver: writer, maxTokens, keepTokens });
        const loop = scriptedLoop([], { driver, tools: [look], hooks: [hook], compiler });
        const state = expectSound(await loop.run(told()));
        expect(saidIn(state.messages)).toEqual(saidIn(whole.messages));
        for (const [index, { messages }] of driver.requests.entries()) {
          expectPaired(messages);
          const all = inShort(plain.requests[index]?.messages ?? []);
          const shown = inShort(messages);
          const isSummarized = shown[0] === 'S: Written.';
          if (isSummarized) shown.shift();
          expect(shown).toEqual(isSummarized ? all.slice(-shown.length) : all);
          expect(shown).not.toEqual([]);
        }
        expect(compiler(readBack(state)).toArray()).toEqual(compiler(state).toArray());
      },
    ),
    cases(40),
  );
});

const idsOf = (step: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `s${step}c${index}`);

test.each([
  { maxTokens: 0 },
  { maxTokens: Number.NaN },
  { maxTokens: 10, keepTokens: 10 },
  { maxTokens: 10, keepTokens: -1 },
])('%o is refused', (limits) => {
  const make = () => summarize({ driver: scriptedDriver(), ...limits });
  expect(make).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
});

describe('a summary that cannot help', () => {
  const errorsOf = () => {
    const errors: unknown[] = [];
    return { errors, onError: (error: unknown): void => void errors.push(error) };
  };

  test('is not written when prompt and tools exceed the limit, which is reported once', async () => {
    const { errors, onError } = errorsOf();
    const state = told().withSystemPrompt('Never say more than you must. '.repeat(200));
    const seen = await observeSummarized([], { script: [...calls(6), done], state }, { onError });
    expect(seen.state).toMatchObject({ status: 'completed', stepCount: 7 });
    expect(errors).toEqual([expect.objectContaining({ code: 'SUMMARY_WITHOUT_EFFECT' })]);
    expect((errors[0] as Error).message).toMatch(
      /below 600 tokens: the system prompt and the tools have about \d+/,
    );
  });

  test('is not written anew while the last one is longer than what it would replace', async () => {
    const { errors, onError } = errorsOf();
    const long = 'They have looked at many things. '.repeat(60);
    const seen = await observeSummarized(
      [long, 'One.', 'Two.'],
      { script: [...calls(8), done] },
      { onError },
    );
    expect(seen.state.status).toBe('completed');
    seen.writer.assertComplete();
    expect(shownIn(seen).at(-1)).toBe('S: Two. c8 =c8');
    expect(errors).toEqual([expect.objectContaining({ code: 'SUMMARY_WITHOUT_EFFECT' })]);
  });

  test('is forced below the limit when the provider refuses the messages', async () => {
    const tooLong = new DriverError('contextTooLong', 'Too long.');
    const script = [...calls(3), tooLong, done];
    const seen = await observeSummarized(['Looked.'], { script }, { maxTokens: 50_000 });
    expect(shownIn(seen).slice(3)).toEqual(['Go c1 =c1 c2 =c2 c3 =c3', 'S: Looked. c3 =c3']);
    expect(seen.state.steps.at(-1)?.inferenceFailures).toMatchObject([
      { error: { code: 'DRIVER_CONTEXT_TOO_LONG' } },
    ]);
  });
});
