import {
  AgentState,
  createAgentLoop,
  hasErrorCode,
  redactedListener,
  type AgentEvent,
  type AgentLoopOptions,
  type RunOptions,
} from '@holdfast/core';
import { DRIVER_ERROR_KINDS, DriverError } from '@holdfast/core/driver';
import type { Checkpoint } from '@holdfast/core/engine';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { expectSound } from '../../support/builders.ts';
import { settled } from '../../support/durable-world.ts';

const rateLimited = (retryAfterSeconds?: number): DriverError =>
  new DriverError('rateLimited', 'Too many requests.', { retryAfterSeconds });
const wrongKey = new DriverError('authentication', 'The key is not valid.');
const question = AgentState.empty({ at: 0 }).withUserMessage('How are you?', undefined, 0);

/** A loop on a clock that the test moves; `types` lists its events without deltas. */
function loopOf(script: readonly ScriptedAnswer[], options: Partial<AgentLoopOptions> = {}) {
  const clock = manualClock(1_000);
  const driver = scriptedDriver(...script);
  const events: AgentEvent[] = [];
  const listeners = [(event: AgentEvent) => void events.push(event)];
  const loop = createAgentLoop({ driver, clock, listeners, ...options });
  /** Runs to the end, and moves the clock by seconds for as long as the run waits. */
  const run = async (state: AgentState, runOptions: RunOptions = {}): Promise<AgentState> => {
    const progress = { isOver: false };
    const done = loop.run(state, runOptions).finally(() => (progress.isOver = true));
    for (await settled(); !progress.isOver; await settled()) clock.advance(1_000);
    return expectSound(await done);
  };
  const types = (): readonly string[] =>
    events
      .filter(({ type }) => /^(inference-(started|failed|completed)|step-|execution-)/.test(type))
      .map(({ type }) => type);
  return { clock, driver, loop, run, events, types };
}

const retryOf = (state: AgentState) => state.execution?.waiting[0];

test.each([
  ['before its pause in the process', {}],
  ['before a fallback model is called', { fallback: ['small'] }],
] as const)('a failed call is saved %s, so that a crash does not lose it', async (_, options) => {
  const { run, driver } = loopOf([rateLimited(), 'Fine.'], options);
  const saves: unknown[] = [];
  const save: Checkpoint['save'] = async (state, point) => {
    saves.push([point, driver.requests.length, state.currentStep?.inferenceFailures.length ?? 0]);
    return state;
  };
  await run(question.withLlmConfig({ model: 'large' }), { checkpoint: { save } });
  expect(saves[0]).toEqual(['inference', 1, 1]);
});

describe('a temporary failure of a call', () => {
  test('is repeated in the same step, after a pause', async () => {
    const { run, types, driver, clock } = loopOf([rateLimited(), rateLimited(), 'Fine.']);
    const state = await run(question);
    expect(state.finalResponse).toBe('Fine.');
    expect(state.stepCount).toBe(1);
    driver.assertComplete();
    expect(types()).toEqual([
      'execution-started',
      'step-started',
      'inference-started',
      'inference-failed',
      'step-restarted',
      'inference-started',
      'inference-failed',
      'step-restarted',
      'inference-started',
      'inference-completed',
      'step-completed',
      'execution-completed',
    ]);
    const failures = state.lastStep?.inferenceFailures ?? [];
    expect(failures.map(({ error }) => error.code)).toEqual(['DRIVER_RATE_LIMITED', 'DRIVER_RATE_LIMITED']);
    expect(failures.every(({ retriedAt }) => retriedAt !== undefined)).toBe(true);
    expect(clock.now()).toBeLessThanOrEqual(8_000);
  });

  test('discards the partial response and counts the billed usage', async () => {
    const partialResponse = { text: 'Half an', usage: { inputTokens: 100, outputTokens: 7 } };
    const broken = new DriverError('network', 'The connection was reset.', { partialResponse });
    const { run } = loopOf([broken, 'Fine.'], { prices: { small: { input: 1, output: 1 } } });
    const state = await run(question.withLlmConfig({ model: 'small' }, 0));
    expect(state.messages.map((message) => message.role)).toEqual(['user', 'assistant']);
    expect(state.finalResponse).toBe('Fine.');
    expect(state.usage).toMatchObject({ inputTokens: 110, outputTokens: 12 });
    expect(state.usage.cost).toBeCloseTo(122 / 1_000_000, 10);
  });

  test('counts the usage of the error, which overrides that of the partial response', async () => {
    const usage = { inputTokens: 50, outputTokens: 0 };
    const { run } = loopOf([new DriverError('timeout', 'No answer in time.', { usage }), 'Fine.']);
    expect((await run(question)).usage).toMatchObject({ inputTokens: 60, outputTokens: 5 });
  });

  test('is not repeated when the billed usage has used up the budget', async () => {
    const usage = { inputTokens: 50, outputTokens: 0 };
    const { run, driver } = loopOf([new DriverError('network', 'Reset.', { usage }), 'Never asked for.'], {
      budget: { maxTokens: 40 },
    });
    const state = await run(question);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'tokenLimitReached' });
    expect(driver.requests).toHaveLength(1);
  });

  test('is repeated for a retryable error of another copy of core, and not for an error of another class', async () => {
    const { run, driver } = loopOf([new Error('Odd.'), 'Never.']);
    expect(await run(question)).toMatchObject({ status: 'failed' });
    expect(driver.requests).toHaveLength(1);
    const copy = Object.assign(new Error('Busy.'), {
      kind: 'overloaded',
      isRetryable: true,
      code: 'DRIVER_OVERLOADED',
    });
    expect((await loopOf([copy, 'Fine.']).run(question)).finalResponse).toBe('Fine.');
  });
});

describe('a failure that lasts longer than a run waits', () => {
  test('suspends the execution until the provider accepts calls again, without counting time worked', async () => {
    const { run, clock, types } = loopOf([rateLimited(60), 'Fine.'], { budget: { maxSeconds: 10 } });
    const waiting = await run(question);
    expect(waiting.status).toBe('suspended');
    expect(retryOf(waiting)).toMatchObject({
      type: 'retry',
      until: 61_000,
      error: { code: 'DRIVER_RATE_LIMITED' },
    });
    expect(await run(waiting)).toBe(waiting); // too early
    clock.advance(60_000);
    const stored = AgentState.fromJSON(JSON.parse(JSON.stringify(waiting)));
    const state = await run(stored);
    expect(state.finalResponse).toBe('Fine.');
    expect(state.execution?.workedSeconds).toBeLessThan(1);
    expect(types().filter((type) => type === 'step-started')).toHaveLength(1);
  });

  test('doubles the pauses, with jitter, until the retries are exhausted', async () => {
    const delays: number[] = [];
    const { run, clock } = loopOf(
      Array.from({ length: 40 }, () => rateLimited()),
      {
        inferenceRetry: {
          maxPauseSeconds: 0,
          initialDelaySeconds: 10,
          maxDelaySeconds: 400,
          maxElapsedSeconds: 3_600,
        },
      },
    );
    let state = await run(question);
    for (let at = clock.now(); state.status === 'suspended'; at = clock.now()) {
      const until = (retryOf(state) as { readonly until: number }).until;
      delays.push((until - at) / 1_000);
      clock.advance(until - at);
      state = await run(state);
    }
    const [first, second, third] = delays;
    for (const [index, delay] of [first, second, third].entries()) {
      expect(delay).toBeGreaterThanOrEqual(5 * 2 ** index);
      expect(delay).toBeLessThanOrEqual(10 * 2 ** index);
    }
    expect(Math.max(...delays)).toBeLessThanOrEqual(400);
    expect(delays.reduce((sum, delay) => sum + delay)).toBeLessThanOrEqual(3_600);
    expect(state).toMatchObject({ status: 'failed' });
    expect(state.errors.at(-1)).toMatchObject({ code: 'DRIVER_RATE_LIMITED' });
  });

  test.each([['an abort stops it', new AbortController(), 'stopped']] as const)(
    '%s while it waits in the process',
    async (_, controller, status) => {
      const { loop, clock } = loopOf([rateLimited(4), 'Never.']);
      const running = loop.run(question, { signal: controller.signal });
      await settled();
      controller.abort();
      expect(await running).toMatchObject({ status });
      expect(clock.now()).toBe(1_000);
    },
  );

  test('a deadline applies during the pause', async () => {
    const { run } = loopOf([rateLimited(4), 'Never.'], { budget: { deadline: 3_000 } });
    expect(await run(question)).toMatchObject({ status: 'stopped', stopReason: 'timeLimitReached' });
  });
});

describe('a failure that time does not resolve', () => {
  test.each(['authentication', 'quotaExceeded', 'modelNotFound'] as const)(
    '%s fails a loop without a runtime',
    async (kind) => {
      const { run } = loopOf([new DriverError(kind, 'No.')]);
      const state = await run(question);
      expect(state.status).toBe('failed');
      expect(hasErrorCode(state.errors[0], 'DRIVER_FAILED')).toBe(false);
    },
  );

  test.each(['authentication', 'quotaExceeded', 'modelNotFound'] as const)(
    '%s waits for retry() with onExhausted "suspend"',
    async (kind) => {
      const { run, clock } = loopOf([new DriverError(kind, 'No.'), 'Never.'], {
        inferenceRetry: { onExhausted: 'suspend', maxSuspendedSeconds: 3_600 },
      });
      const waiting = await run(question);
      expect(retryOf(waiting)).toMatchObject({ type: 'retry', failAt: 3_601_000 });
      expect(retryOf(waiting)).not.toHaveProperty('until');
      clock.advance(3_599_000);
      expect(await run(waiting)).toBe(waiting);
      clock.advance(1_000);
      expect(await run(waiting)).toMatchObject({ status: 'failed', errors: [{ message: 'No.' }] });
    },
  );

  test.each(['contextTooLong', 'contentFiltered', 'invalidRequest', 'unknown'] as const)(
    '%s fails at once with any onExhausted',
    async (kind) => {
      const { run, driver } = loopOf([new DriverError(kind, 'No.')], {
        inferenceRetry: { onExhausted: 'suspend' },
      });
      expect(await run(question)).toMatchObject({ status: 'failed' });
      expect(driver.requests).toHaveLength(1);
    },
  );

  test('every kind has its own code', () => {
    const codes = DRIVER_ERROR_KINDS.map((kind) => new DriverError(kind, 'No.').code);
    expect(new Set(codes).size).toBe(DRIVER_ERROR_KINDS.length);
    expect(() => new DriverError('odd' as never, 'No.')).toThrow(RangeError);
  });
});

describe('a stored execution that waits for a retry', () => {
  test('is a document of version 2 that is read back unchanged; version 1 has no such entry', async () => {
    const { run } = loopOf([wrongKey], { inferenceRetry: { onExhausted: 'suspend' } });
    const document = (await run(question)).toJSON();
    expect(document.version).toBe(2);
    expect(() => AgentState.fromJSON({ ...structuredClone(document), version: 1 })).toThrow(/version 2/);
    const read = AgentState.fromJSON(structuredClone(document));
    expect(read.currentStep?.pendingRetry?.error.code).toBe('DRIVER_AUTHENTICATION');
  });
});

test('a redacted listener sees that a call failed and when it is repeated, but no message of an error', async () => {
  const events: AgentEvent[] = [];
  const listener = redactedListener((event) => void events.push(event));
  const secret = new DriverError('rateLimited', 'Too many requests of Ada.', { retryAfterSeconds: 60 });
  const { run } = loopOf([rateLimited(), secret], { listeners: [listener] });
  await run(question);
  const failed = events.filter(({ type }) => type === 'inference-failed');
  expect(failed).toMatchObject([
    { error: { code: 'DRIVER_RATE_LIMITED', message: '[redacted]' } },
    { error: { code: 'DRIVER_RATE_LIMITED', message: '[redacted]' }, retryAt: expect.any(Number) },
  ]);
  expect(events.at(-1)).toMatchObject({
    type: 'execution-suspended',
    state: { execution: { waiting: [{ type: 'retry', error: { message: '[redacted]' } }] } },
  });
  expect(JSON.stringify(events)).not.toContain('Ada');
});

test.each([
  { maxElapsedSeconds: 1e300 },
  { maxSuspendedSeconds: 1e300 },
  { maxSuspendedSeconds: -1 },
  { maxPauseSeconds: Number.NaN },
  { maxRetries: 3 },
])('%o is refused', (inferenceRetry) => {
  expect(() => createAgentLoop({ driver: scriptedDriver(), inferenceRetry })).toThrow(
    expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
  );
});
