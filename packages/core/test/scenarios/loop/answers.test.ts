import { AgentState, createAgentLoop, subagent, tool, type AgentLoopOptions } from '@holdfast/core';
import { DriverError, type AssistantPart, type InferenceResponseInit } from '@holdfast/core/driver';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

const look = tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  execute: () => 'seen',
});
const call: AssistantPart = { type: 'tool-call', toolCallId: '1', toolName: 'look', input: {} };

async function run(script: readonly ScriptedAnswer[], options: Partial<AgentLoopOptions> = {}) {
  const driver = scriptedDriver(...script);
  const loop = createAgentLoop({ driver, tools: [look], ...options });
  const state = await loop.run(AgentState.empty().withUserMessage('Look'));
  driver.assertComplete();
  return { driver, state };
}

const usage = { inputTokens: 7, outputTokens: 3 };

describe('an empty or broken answer', () => {
  const none: readonly (readonly [string, ScriptedAnswer, string])[] = [
    ['no content', { content: [], usage }, 'DRIVER_EMPTY_ANSWER'],
    ['a blank text', { text: ' \n', usage }, 'DRIVER_EMPTY_ANSWER'],
    ['reasoning only', { content: [{ type: 'reasoning', text: 'hm' }], usage }, 'DRIVER_EMPTY_ANSWER'],
    ['nothing at the output limit', { content: [], finishReason: 'length', usage }, 'DRIVER_EMPTY_ANSWER'],
    ['calls without a call', { content: [], finishReason: 'tool-calls', usage }, 'DRIVER_EMPTY_ANSWER'],
    ['an error', { text: 'It is', finishReason: 'error', usage }, 'DRIVER_BROKEN_ANSWER'],
    [
      'an error in the words of a provider',
      { text: 'It is', finishReason: 'other', rawFinishReason: 'error', usage },
      'DRIVER_BROKEN_ANSWER',
    ],
    [
      'a malformed call',
      { content: [], finishReason: 'other', rawFinishReason: 'MALFORMED_FUNCTION_CALL', usage },
      'DRIVER_BROKEN_ANSWER',
    ],
  ];

  test.each(none)('is repeated once: %s', async (_, answer, code) => {
    const { state } = await run([answer, 'A cat.']);
    expect(state).toMatchObject({ status: 'completed', finalResponse: 'A cat.', stepCount: 1 });
    expect(state.steps[0]?.inferenceFailures).toMatchObject([{ error: { code } }]);
    expect(state.usage).toMatchObject({ inputTokens: 17, outputTokens: 8 });
  });

  test.each(none)('fails with a code the second time: %s', async (_, answer, code) => {
    const { state } = await run([answer, answer]);
    expect(state).toMatchObject({ status: 'failed', errors: [{ code }] });
    expect(state.usage).toMatchObject({ inputTokens: 14, outputTokens: 6 });
  });

  test.each(none)('is taken up by the fallback the second time: %s', async (_, answer) => {
    const { state, driver } = await run([answer, answer, 'A cat.'], { fallback: ['other'] });
    expect(state).toMatchObject({ status: 'completed', finalResponse: 'A cat.' });
    expect(driver.requests.map(({ llmConfig }) => llmConfig?.model)).toEqual([undefined, undefined, 'other']);
  });

  test('costs its price, also when it ends the execution', async () => {
    const prices = { large: { input: 1, output: 1 } };
    const driver = scriptedDriver({ content: [], usage }, { content: [], usage });
    const question = AgentState.empty().withLlmConfig({ model: 'large' }).withUserMessage('Look');
    const state = await createAgentLoop({ driver, prices }).run(question);
    expect(state.status).toBe('failed');
    expect(state.usage.isPriced).toBe(true);
    expect(state.cost).toBeCloseTo(20 / 1_000_000, 12);
  });

  test.each([
    ['stop', 'The model "large" answered with nothing (stop). Name a fallback model.'],
    ['length', 'The model "large" answered with nothing (length). Raise maxOutputTokens.'],
  ] as const)('names the model and what to do: %s', async (finishReason, message) => {
    const answer = { content: [], finishReason };
    const loop = createAgentLoop({ driver: scriptedDriver(answer, answer) });
    const state = await loop.run(
      AgentState.empty().withLlmConfig({ model: 'large' }).withUserMessage('Look'),
    );
    expect(state.errors[0]?.message).toBe(message);
  });

  test('does not repeat a call when no model may be called twice', async () => {
    const { state } = await run([{ content: [] }], { inferenceRetry: { maxElapsedSeconds: 0 } });
    expect(state).toMatchObject({ status: 'failed', errors: [{ code: 'DRIVER_EMPTY_ANSWER' }] });
  });

  test.each([
    ['a file', { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }],
    ['a part of the provider', { type: 'custom', kind: 'a.b' }],
  ] as const)('is not one with %s', async (_, part) => {
    expect((await run([{ content: [part] }])).state.status).toBe('completed');
  });
});

describe('a response that was cut at the output limit', () => {
  const cut: ScriptedAnswer = { content: [call], finishReason: 'length' };

  test('tells the model why its calls did not run', async () => {
    const { driver } = await run([cut, 'Short.']);
    expect(JSON.stringify(driver.requests[1]?.messages.last)).toContain('reached its output limit');
  });

  test('counts as a failed step, which the stop names', async () => {
    const { state } = await run([cut, cut, cut], { maxConsecutiveFailures: 2 });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'retryLimitReached' });
    expect(state.stopSignal?.message).toContain('output limit');
  });

  test('is told to the caller of a subagent', async () => {
    const inner = scriptedDriver({ text: 'The first half of', finishReason: 'length' });
    const sub = subagent({ name: 'sub', description: 'Works.', loop: createAgentLoop({ driver: inner }) });
    const { state } = await run([{ calls: { sub: { prompt: 'x' } } }, 'Done.'], { tools: [sub] });
    expect(state.steps[0]?.toolExecutions[0]?.value).toBe(
      'The first half of\n[The answer was cut: it reached the output limit.]',
    );
  });
});

describe('calls that the request did not allow', () => {
  test.each([
    ['none', 'allowed no tool calls'],
    [{ toolName: 'other' }, 'allowed calls of "other" only'],
  ] as const)('do not run: %j', async (toolChoice, why) => {
    let ran = 0;
    const tools = ['look', 'other'].map((name) =>
      tool({ name, description: 'Looks.', inputSchema: { type: 'object' }, execute: () => ++ran }),
    );
    const { driver, state } = await run([{ calls: { look: {} } }, 'Done.'], { tools, toolChoice });
    expect([ran, state.status]).toEqual([0, 'completed']);
    expect(JSON.stringify(driver.requests[1]?.messages.last)).toContain(why.replaceAll('"', String.raw`\"`));
  });

  test('run when they are of the chosen tool', async () => {
    const { state } = await run([{ calls: { look: {} } }, 'Done.'], { toolChoice: { toolName: 'look' } });
    expect(state.steps[0]?.toolExecutions[0]?.value).toBe('seen');
  });
});

describe("finalStep: 'answer'", () => {
  const options = { budget: { maxSteps: 2 }, finalStep: 'answer' } as const;

  test('lets the last step answer, with its tools in the request', async () => {
    const { driver, state } = await run([{ calls: { look: {} } }, 'A cat.'], options);
    expect(state).toMatchObject({ status: 'completed', finalResponse: 'A cat.' });
    expect(driver.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'none']);
    expect(driver.requests[1]?.tools).toHaveLength(1);
    expect(JSON.stringify(driver.requests[1]?.messages.last)).toContain('This is the last step');
    expect(JSON.stringify(state.messages)).not.toContain('This is the last step');
    expect(JSON.stringify(state.lastStep?.input)).toContain('This is the last step');
  });

  test('answers calls of a model that makes some all the same', async () => {
    const { state } = await run([{ calls: { look: {} } }, { calls: { look: {} } }], options);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'stepsLimitReached', stepCount: 2 });
    expect(state.steps[1]?.toolExecutions).toEqual([]);
  });

  test('tells it once when the call of the last step is repeated', async () => {
    const { driver } = await run([{ calls: { look: {} } }, { content: [] }, 'A cat.'], options);
    expect(JSON.stringify(driver.requests[2]?.messages).match(/last step/g)).toHaveLength(1);
  });

  test('changes nothing without a limit or without tools', async () => {
    const { driver } = await run(['Hi.'], { ...options, budget: { maxSteps: 1 }, tools: [] });
    expect(driver.requests[0]?.toolChoice).toBe('auto');
  });
});

describe('tokens that a provider may bill without a report', () => {
  const long = 'word '.repeat(400);

  test('of an aborted answer are an estimate, which says so', async () => {
    const abort = new AbortController();
    const driver = scriptedDriver(() => {
      abort.abort();
      return { text: long, finishReason: 'aborted', usage: {} };
    });
    const loop = createAgentLoop({ driver });
    const state = await loop.run(AgentState.empty().withUserMessage(long), { signal: abort.signal });
    expect(state.usage).toMatchObject({ unreportedCalls: 1, isComplete: false });
    expect(state.usage.inputTokens).toBeGreaterThan(400);
    expect(state.usage.outputTokens).toBeGreaterThan(400);
  });

  test('of an answer that broke off are an estimate, and reported tokens stay', async () => {
    const broken = (partial: InferenceResponseInit) =>
      new DriverError('network', 'Lost.', { partialResponse: partial });
    const { state } = await run([broken({ text: long }), broken({ text: long, usage }), 'Done.'], {
      inferenceRetry: { initialDelaySeconds: 0.001 },
    });
    const [first, second] = state.steps[0]?.inferenceFailures ?? [];
    expect(first?.usage).toMatchObject({ unreportedCalls: 1 });
    expect(first?.usage?.outputTokens).toBeGreaterThan(400);
    expect(second?.usage).toMatchObject({ unreportedCalls: 0, ...usage });
  });

  test('that an error reports count when it ends the execution', async () => {
    const filtered = new DriverError('contentFiltered', 'Refused.', {
      usage: { inputTokens: 100, outputTokens: 0 },
    });
    const { state } = await run([filtered]);
    expect(state).toMatchObject({ status: 'failed', usage: { inputTokens: 100 } });
  });

  test('do not exist for a call that the provider refused', async () => {
    const { state } = await run([new DriverError('authentication', 'No key.')], {
      inferenceRetry: { onExhausted: 'fail' },
    });
    expect(state.usage.totalTokens).toBe(0);
  });
});
