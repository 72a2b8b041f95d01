import {
  AgentState,
  createAgentLoop,
  summarize,
  textOf,
  tool,
  type AgentEvent,
  type AgentLoopOptions,
  type Hook,
} from '@holdfast/core';
import { DriverError } from '@holdfast/core/driver';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { tokensOfRequest } from '../../../src/loop/inference/token-estimate.ts';
import { withRetry } from '../../../src/session/actions/waiting-calls.ts';

const page = 'word '.repeat(800);
const look = tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  execute: () => page,
});
const call: ScriptedAnswer = { calls: { look: {} } };
const tooLong = new DriverError('contextTooLong', 'The maximum context length is 2048 tokens.');
const question = AgentState.empty().withUserMessage('What is there?');

async function run(
  script: readonly ScriptedAnswer[],
  options: Partial<AgentLoopOptions> = {},
  state = question,
) {
  const driver = scriptedDriver(...script);
  const loop = createAgentLoop({ driver, tools: [look], ...options });
  const end = await loop.run(state);
  driver.assertComplete();
  return { driver, loop, state: end };
}

/** The form of each result that the model received: `whole` or `short`. */
function resultsIn({ requests }: ReturnType<typeof scriptedDriver>, at: number): readonly string[] {
  const messages = requests[at]?.messages.toArray() ?? [];
  return messages.flatMap(({ role, content }) =>
    role === 'tool'
      ? content.map((part) => (JSON.stringify(part).includes('[Shortened') ? 'short' : 'whole'))
      : [],
  );
}

function summarized(written: readonly ScriptedAnswer[], maxTokens = 100_000) {
  const writer = scriptedDriver(...written);
  const { hook, compiler } = summarize({ driver: writer, maxTokens });
  return { writer, options: { hooks: [hook], compiler } };
}

describe('a request that is too long', () => {
  test('is repeated once with shorter results, and the failed call counts in the step', async () => {
    const events: AgentEvent[] = [];
    const listeners = [(event: AgentEvent) => void events.push(event)];
    const { driver, state, loop } = await run([call, call, tooLong, call, 'A cat.'], { listeners });
    expect(state).toMatchObject({ status: 'completed', finalResponse: 'A cat.', stepCount: 4 });
    expect([2, 3, 4].map((at) => resultsIn(driver, at))).toEqual([
      ['whole', 'whole'],
      ['short', 'whole'],
      ['short', 'short', 'whole'],
    ]);
    expect(state.steps.map(({ inferenceFailures }) => inferenceFailures.length)).toEqual([0, 0, 1, 0]);
    expect(events.filter(({ type }) => type === 'inference-failed')).toHaveLength(1);
    expect(JSON.stringify(state.messages)).not.toContain('[Shortened');
    const room = state.requestOf(state.steps[2] as never).shortenedTo as number;
    expect(room).toBeLessThanOrEqual(1_536);
    const { messages } = loop.compiledFor?.(state, state.steps[3]?.id as string) ?? { messages: [] };
    expect(messages.map(({ said, sent }) => said === sent)).toEqual([
      true,
      true,
      false,
      true,
      false,
      true,
      true,
    ]);
    expect(
      messages.every(({ said }) => said && state.messages.toArray().some(({ id }) => id === said.id)),
    ).toBe(true);
    expect(AgentState.fromJSON(JSON.parse(JSON.stringify(state)) as never).toJSON()).toEqual(state.toJSON());
  });

  test('is repeated with a summary first, then with shorter results, and then fails with advice', async () => {
    const { options, writer } = summarized(['Looked.']);
    const small = { ...look, execute: () => page.slice(0, 1_000) };
    const script = [call, call, call, call, call, call, tooLong, tooLong, tooLong];
    const { driver, state } = await run(script, { ...options, tools: [small] });
    expect(driver.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5, 7, 9, 11, 13, 5, 5]);
    expect(textOf(driver.requests[7]?.messages.at(0) ?? [])).toContain('Looked.');
    expect([7, 8].map((at) => resultsIn(driver, at))).toEqual([
      ['whole', 'whole'],
      ['short', 'whole'],
    ]);
    expect(writer.requests).toHaveLength(1);
    expect(state).toMatchObject({ status: 'failed', errors: [{ code: 'DRIVER_CONTEXT_TOO_LONG' }] });
    expect(state.steps.at(-1)?.inferenceFailures).toHaveLength(2);
  });

  test('takes the ways in the order that the agent declares', async () => {
    const { options, writer } = summarized(['Asked.', 'Looked.']);
    const whenTooLong = ['shortenResults', 'summarize'] as const;
    const { driver, state } = await run([call, call, tooLong, tooLong, 'A cat.'], {
      ...options,
      whenTooLong,
    });
    expect(state.status).toBe('completed');
    expect(resultsIn(driver, 3)).toEqual(['short', 'whole']);
    expect(textOf(driver.requests[4]?.messages.at(0) ?? [])).toContain('Looked.');
    expect(writer.requests).toHaveLength(2); // the question and the call are two parts
  });

  test('takes the next way at once when a way does not help', async () => {
    const { options } = summarized([new Error('down')]);
    const { driver, state } = await run([call, call, tooLong, 'A cat.'], options);
    expect(state.status).toBe('completed');
    expect(resultsIn(driver, 3)).toEqual(['short', 'whole']);
  });

  describe('whose summary fails', () => {
    const chat = Array.from({ length: 4 }, () => page).reduce(
      (state, text) => state.withUserMessage(text),
      question,
    );
    const words: readonly ScriptedAnswer[] = ['Words.', 'Words.', 'Words.'];
    const busy = new DriverError('rateLimited', 'Slow down.');
    const soon = { initialDelaySeconds: 0.001, maxDelaySeconds: 0.001 };

    /** The options of a loop whose only way is a summary. */
    function chatting(
      written: readonly ScriptedAnswer[],
      inferenceRetry: Required<AgentLoopOptions>['inferenceRetry'],
    ) {
      const { options, writer } = summarized(written);
      return {
        writer,
        options: { ...options, tools: [], whenTooLong: ['summarize'], inferenceRetry } as const,
      };
    }

    test('for a moment is repeated after a pause, and only then the model is asked again', async () => {
      const { options, writer } = chatting([busy, busy, ...words], soon);
      const { driver, state } = await run([tooLong, 'A cat.'], options, chat);
      expect(state).toMatchObject({ status: 'completed', finalResponse: 'A cat.', stepCount: 1 });
      expect(textOf(driver.requests[1]?.messages.at(0) ?? [])).toContain('Words.');
      writer.assertComplete();
      expect(state.lastStep?.inferenceFailures.map(({ error }) => error.code)).toEqual([
        'DRIVER_CONTEXT_TOO_LONG',
        'DRIVER_RATE_LIMITED',
        'DRIVER_RATE_LIMITED',
      ]);
    });

    test('for longer suspends the execution, and any process continues it with a summary', async () => {
      const suspended = await run([tooLong], chatting([busy], { maxPauseSeconds: 0 }).options, chat);
      expect(suspended.state).toMatchObject({ status: 'suspended', errors: [] });
      expect(suspended.state.execution?.waiting).toEqual([
        expect.objectContaining({
          type: 'retry',
          error: expect.objectContaining({ code: 'DRIVER_RATE_LIMITED' }),
        }),
      ]);
      const document = JSON.parse(JSON.stringify(suspended.state)) as Parameters<
        typeof AgentState.fromJSON
      >[0];
      const { options } = chatting(words, soon);
      const { driver, state } = await run(
        ['A cat.'],
        options,
        withRetry(AgentState.fromJSON(document), Date.now()),
      );
      expect([state.status, driver.requests.length]).toEqual(['completed', 1]);
      expect(textOf(driver.requests[0]?.messages.at(0) ?? [])).toContain('Words.');
    });

    test.each<readonly [string, DriverError, string]>([
      ['until no time is left', busy, 'DRIVER_RATE_LIMITED'],
      ['until a person acts', new DriverError('authentication', 'Wrong key.'), 'DRIVER_AUTHENTICATION'],
    ])('%s ends the execution with that failure, or waits for retry()', async (_, error, code) => {
      const none = { initialDelaySeconds: 5, maxElapsedSeconds: 1 };
      const { state, driver } = await run([tooLong], chatting([error], none).options, chat);
      expect(state).toMatchObject({ status: 'failed', errors: [{ code }] });
      expect(state.errors[0]?.message).toContain(`${error.message} This call would have shortened a request`);
      const { options } = chatting([error], { ...none, onExhausted: 'suspend' });
      const waiting = await run([tooLong], options, chat);
      expect([waiting.state.status, driver.requests.length]).toEqual(['suspended', 1]);
      const retried = await run(
        ['A cat.'],
        chatting(words, none).options,
        withRetry(waiting.state, Date.now()),
      );
      expect([retried.state.status, retried.driver.requests.length]).toEqual(['completed', 1]);
    });

    test('for good ends the execution with advice for the request', async () => {
      const { options } = chatting([new Error('down')], soon);
      const { state } = await run([tooLong], options, chat);
      const cause = { message: 'down' };
      expect(state).toMatchObject({
        status: 'failed',
        errors: [{ code: 'DRIVER_CONTEXT_TOO_LONG', cause }],
      });
    });
  });

  test.each<readonly [string, Partial<AgentLoopOptions>]>([
    ['when the agent declares no way', { whenTooLong: [] }],
    ['when no model is called twice', { inferenceRetry: { maxElapsedSeconds: 0 } }],
  ])('is not repeated %s', async (_, options) => {
    const { state } = await run([call, call, tooLong], options);
    expect(state).toMatchObject({ status: 'failed', errors: [{ code: 'DRIVER_CONTEXT_TOO_LONG' }] });
    expect(state.errors[0]?.message).toMatch(
      /^The maximum context length is 2048 tokens\. .*clearHistory\(\).*editMessage/,
    );
  });

  test('is repeated once for each way only', async () => {
    const { driver, state } = await run([call, call, call, tooLong, tooLong]);
    expect(state).toMatchObject({ status: 'failed', errors: [{ code: 'DRIVER_CONTEXT_TOO_LONG' }] });
    expect(driver.requests).toHaveLength(5);
  });

  test('is shortened also when a hook chooses the model', async () => {
    const hook: Hook = {
      beforeInference: (request) => ({ request: { ...request, llmConfig: { model: 'm' } } }),
    };
    const { driver, state } = await run([call, call, tooLong, call, 'A cat.'], { hooks: [hook] });
    expect(state.status).toBe('completed');
    expect([3, 4].map((at) => resultsIn(driver, at))).toEqual([
      ['short', 'whole'],
      ['short', 'short', 'whole'],
    ]);
  });

  test('is shortened by the process that resumes after a crash', async () => {
    const saved: AgentState[] = [];
    const checkpoint = { save: async (state: AgentState) => (saved.push(state), state) };
    const script = [call, call, tooLong, 'A cat.'];
    await createAgentLoop({ driver: scriptedDriver(...script), tools: [look] }).run(question, { checkpoint });
    const failed = saved.find(({ currentStep }) => currentStep?.pendingRetry !== undefined);
    const document = JSON.parse(JSON.stringify(failed)) as Parameters<typeof AgentState.fromJSON>[0];
    const { driver, state } = await run([call, 'A cat.'], {}, AgentState.fromJSON(document));
    expect(state.status).toBe('completed');
    expect([0, 1].map((at) => resultsIn(driver, at))).toEqual([
      ['short', 'whole'],
      ['short', 'short', 'whole'],
    ]);
  });

  test('is repeated with the newest result cut to what fits, when it exceeds the limit alone', async () => {
    const long = { ...look, execute: () => page.repeat(20) };
    const { driver, state } = await run([call, tooLong, 'A cat.'], { tools: [long] });
    expect([state.status, resultsIn(driver, 2)]).toEqual(['completed', ['short']]);
    expect(tokensOfRequest(driver.requests[2] as never)).toBeGreaterThan(1_300);
    expect(tokensOfRequest(driver.requests[2] as never)).toBeLessThanOrEqual(1_536);
    expect(JSON.stringify(state.messages)).not.toContain('[Shortened');
  });

  test('is repeated with the newest message cut to what fits, when it exceeds the limit alone', async () => {
    const { driver, state } = await run([tooLong, 'A cat.'], {}, question.withUserMessage(page.repeat(20)));
    expect(state.status).toBe('completed');
    expect(textOf(driver.requests[1]?.messages.last ?? [])).toMatch(/\[Shortened: the first \d+ of 80000 ch/);
    expect(tokensOfRequest(driver.requests[1] as never)).toBeLessThanOrEqual(1_536);
  });

  test('is not repeated when nothing can be shortened, and the error says what to do', async () => {
    const small = { ...look, execute: () => 'A cat.' };
    const { state } = await run([call, tooLong], { tools: [small] });
    expect(state).toMatchObject({ status: 'failed', errors: [{ code: 'DRIVER_CONTEXT_TOO_LONG' }] });
    expect(state.errors[0]?.message).toMatch(/clearHistory\(\).*editMessage\(\)/);
    expect(state.steps[1]?.inferenceFailures).toEqual([]);
  });

  test('goes to the fallback for it first', async () => {
    const fallback = { models: ['large'], on: ['contextTooLong'] } as const;
    const { driver, state } = await run([call, call, tooLong, 'A cat.'], { fallback });
    expect(state.status).toBe('completed');
    expect(driver.requests[3]?.llmConfig?.model).toBe('large');
    expect(resultsIn(driver, 3)).toEqual(['whole', 'whole']);
  });

  describe('is no surprise in the next execution', () => {
    const first = () => run([call, call, tooLong, 'A cat.']);
    const readBack = (state: AgentState): AgentState =>
      AgentState.fromJSON(JSON.parse(JSON.stringify(state)));

    test('whose results are shortened before a refusal, in any process', async () => {
      const known = readBack((await first()).state);
      expect(known.contextLimit?.maxTokens).toBeLessThanOrEqual(1_536);
      expect(known.toJSON().version).toBe(2);
      const next = await run([call, call, call, 'Black.'], {}, known.withUserMessage('Which colour?'));
      expect(next.state).toMatchObject({ status: 'completed', contextLimit: known.contextLimit });
      expect([1, 2, 3].map((at) => resultsIn(next.driver, at))).toEqual([
        ['whole'],
        ['short', 'whole'],
        ['short', 'short', 'whole'],
      ]);
      expect(next.state.steps.flatMap(({ inferenceFailures }) => inferenceFailures)).toEqual([]);
      expect(known.fork().contextLimit).toEqual(known.contextLimit);
    });

    test('unless another model is called, or the agent declares no short results', async () => {
      const known = (await first()).state.withUserMessage('Which colour?');
      const other = await run([call, call, 'Black.'], {}, known.withLlmConfig({ model: 'large' }));
      expect(resultsIn(other.driver, 2)).toEqual(['whole', 'whole']);
      const undeclared = await run([call, call, 'Black.'], { whenTooLong: ['summarize'] }, known);
      expect(resultsIn(undeclared.driver, 2)).toEqual(['whole', 'whole']);
    });

    test('whose summary is written before a refusal', async () => {
      const { options, writer } = summarized(['Looked.', 'Looked again.']);
      const known = (await first()).state.withUserMessage('Which colour?');
      const counted = [1, 2, 3].map((at): ScriptedAnswer => {
        const part = { type: 'tool-call', toolCallId: `c${at}`, toolName: 'look', input: {} } as const;
        return { content: [part], usage: { inputTokens: 1_200 * at, outputTokens: 5 } };
      });
      const next = await run([...counted, 'Black.'], options, known);
      expect(next.state.status).toBe('completed');
      expect(next.state.steps.flatMap(({ inferenceFailures }) => inferenceFailures)).toEqual([]);
      expect(writer.requests.length).toBeGreaterThan(0);
    });

    test('and no summary is tried at each step when the prompt alone exceeds the limit', async () => {
      const errors: unknown[] = [];
      const writer = scriptedDriver();
      const onError = (error: unknown): void => void errors.push(error);
      const { hook, compiler } = summarize({ driver: writer, maxTokens: 100_000, onError });
      const long = (await first()).state
        .withUserMessage('Which colour?')
        .withSystemPrompt('Be kind. '.repeat(2_000));
      const next = await run([call, call, call, call, 'Black.'], { hooks: [hook], compiler }, long);
      expect(next.state).toMatchObject({ status: 'completed', stepCount: 5 });
      expect(errors).toEqual([expect.objectContaining({ code: 'SUMMARY_WITHOUT_EFFECT' })]);
    });
  });

  test('reaches hooks with the tokens that the next request may have', async () => {
    const seen: number[] = [];
    const hook: Hook = {
      onContextTooLong(state, { maxTokens, clock }) {
        seen.push(maxTokens);
        return state.withMessageStore(
          state.store.withSection('messages', state.messages.slice(-1)),
          clock.now(),
        );
      },
    };
    const { driver, state } = await run(
      [tooLong, 'A cat.'],
      { hooks: [hook] },
      question.withUserMessage(page),
    );
    expect(state.status).toBe('completed');
    expect(driver.requests[1]?.messages.length).toBe(1);
    expect(seen[0]).toBeLessThan(1_536);
  });

  test.each([[['summarise']], [['summarize', 'summarize']], ['summarize']])(
    'refuses the ways %j',
    (whenTooLong) => {
      const options = { driver: scriptedDriver(), whenTooLong } as never;
      expect(() => createAgentLoop(options)).toThrow(/whenTooLong/);
    },
  );
});
