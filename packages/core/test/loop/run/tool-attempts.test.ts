import {
  AgentStop,
  createAgentLoop,
  HoldfastError,
  RunAbort,
  tool,
  type Hook,
  type Tool,
  type ToolContext,
  type ToolEffect,
  type ToolRetry,
} from '@holdfast/core';
import type { Checkpoint } from '@holdfast/core/engine';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  call,
  does,
  never,
  nextStart,
  observe,
  told,
  type Observation,
  type Scenario,
} from '../../support/builders.ts';
import {
  executionsOf,
  impatientClock,
  noLuck,
  outcomesIn,
  resultsOf,
  tick,
  used,
} from '../../support/tool-runs.ts';

/** A tool that fails so many times, and then comes to `done`. */
function flaky(failures: number, retry: ToolRetry, seen: ToolContext[] = []): Tool {
  const execute = (_: unknown, context: ToolContext): string => {
    seen.push(context);
    if (context.attempt <= failures) throw new Error(`no luck ${context.attempt}`);
    return 'done';
  };
  return { ...does('flaky', execute), retry };
}

describe('a call has another attempt after its tool throws', () => {
  const rows: readonly (readonly [
    string,
    failures: number,
    ToolRetry,
    waits: readonly number[],
    outcome: string,
  ])[] = [
    ['not at all when it succeeds', 0, { maxAttempts: 3 }, [], 'done'],
    ['until it succeeds', 2, { maxAttempts: 3 }, [1, 2], 'done'],
    ['until the last attempt', Infinity, { maxAttempts: 3 }, [1, 2], 'no luck 3'],
    [
      'after pauses that double, up to a minute',
      Infinity,
      { maxAttempts: 10 },
      [1, 2, 4, 8, 16, 32, 60, 60, 60],
      'no luck 10',
    ],
    [
      'after pauses of the same length',
      Infinity,
      { maxAttempts: 4, delaySeconds: 5 },
      [5, 5, 5],
      'no luck 4',
    ],
    ['at once', Infinity, { maxAttempts: 3, delaySeconds: 0 }, [0, 0], 'no luck 3'],
    [
      'after pauses that depend on the attempt',
      Infinity,
      { maxAttempts: 4, delaySeconds: (attempt) => attempt * 10 },
      [10, 20, 30],
      'no luck 4',
    ],
    [
      'not when the error is not worth it',
      Infinity,
      { maxAttempts: 3, isRetryable: () => false },
      [],
      'no luck 1',
    ],
    [
      'while isRetryable returns true',
      Infinity,
      { maxAttempts: 5, isRetryable: (error) => (error as Error).message !== 'no luck 2' },
      [1],
      'no luck 2',
    ],
  ];
  test.each(rows)('%s', async (_, failures, retry, waits, result) => {
    const clock = impatientClock();
    const seen: ToolContext[] = [];
    const { state, trace } = await used(flaky(failures, retry, seen), { clock });
    const tries = waits.length + 1;
    expect(clock.waits).toEqual(waits);
    expect(clock.pending.size).toBe(0);
    expect(seen.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: tries }, (__, index) => index + 1),
    );
    expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    const [execution] = executionsOf(state);
    expect([execution?.attempt, resultsOf(state), state.status]).toEqual([tries, [result], 'completed']);
    expect(state.errors).toHaveLength(result === 'done' ? 0 : 1);
    // Hooks see the call once, listeners every try.
    expect(trace.filter((line) => line.endsWith('flaky'))).toEqual([
      'beforeToolUse flaky',
      ...Array.from({ length: tries }, () => '+started flaky'),
      `+${result === 'done' ? 'succeeded' : 'failed'} flaky`,
      'afterToolUse flaky',
    ]);
  });

  test('with the progress and usage of the attempt before', async () => {
    const seen: unknown[] = [];
    const goesOn: Tool = {
      ...does('goesOn', (_, { attempt, progress, saveProgress, addUsage }) => {
        seen.push(progress);
        saveProgress({ page: attempt });
        addUsage({ inputTokens: 10, outputTokens: 0, cost: 1 });
        if (attempt < 3) throw new Error('no luck');
        return 'done';
      }),
      retry: { maxAttempts: 3 },
    };
    const { state } = await used(goesOn, { clock: impatientClock() });
    expect(seen).toEqual([undefined, { page: 1 }, { page: 2 }]);
    const [execution] = executionsOf(state);
    expect([execution?.progress, execution?.usage.inputTokens]).toEqual([{ page: 3 }, 30]);
  });

  test('after a timeout, which applies to one attempt', async () => {
    const clock = manualClock(nextStart());
    const attempts: number[] = [];
    const slow: Tool = {
      ...does('slow', (_, { attempt }) => {
        attempts.push(attempt);
        if (attempt === 3) return 'done';
        void tick().then(() => clock.advance(6_000));
        return never;
      }),
      timeoutSeconds: 5,
      retry: { maxAttempts: 3, delaySeconds: 0.5 },
    };
    const { state } = await used(slow, { clock: { ...clock, after: impatient(clock) } });
    expect([attempts, resultsOf(state)]).toEqual([[1, 2, 3], ['done']]);
  });

  /** Time-outs of less than a second pass at once, longer ones by the clock. */
  function impatient(clock: ReturnType<typeof manualClock>): typeof clock.after {
    return (milliseconds, callback) => {
      if (milliseconds >= 1_000) return clock.after(milliseconds, callback);
      const timer = setImmediate(callback);
      return () => clearImmediate(timer);
    };
  }

  describe('except', () => {
    const retry = { maxAttempts: 3 };
    const strict = tool({
      name: 'a',
      description: 'a',
      inputSchema: { type: 'object', required: ['missing'] },
      execute: () => 1,
      retry,
    });
    const rejecting = { ...strict, validate: () => Promise.reject(new Error('schema is broken')) };
    const rowsOfNot: readonly (readonly [string, Tool, outcome: string, code: string | undefined])[] = [
      ['for arguments that do not fit', strict, 'failed', 'TOOL_ARGUMENTS_INVALID'],
      ['for a schema that throws', rejecting, 'failed', undefined],
      ['for an unknown tool', { ...does('b'), retry }, 'failed', 'TOOL_NOT_FOUND'],
      ['for a value that is not JSON', { ...does('a', () => 1n), retry }, 'failed', 'NOT_JSON'],
      [
        'for an invalid model output',
        { ...does('a'), retry, toModelOutput: () => 5 as never },
        'failed',
        'CONTEXT_INVALID',
      ],
    ];
    test.each(rowsOfNot)('%s', async (_, made, outcome, code) => {
      const clock = impatientClock();
      const { state } = await observe({ clock, script: [call('a'), 'Done.'], tools: [made] });
      const [execution] = executionsOf(state);
      expect([clock.waits, execution?.attempt, execution?.outcome?.type]).toEqual([[], 1, outcome]);
      expect(state.errors[0]?.code).toBe(code);
    });

    test('for an AgentStop', async () => {
      const clock = impatientClock();
      const stops = does('a', () => {
        throw new AgentStop('enough');
      });
      const { state } = await used({ ...stops, retry }, { clock, script: [call('a')] });
      expect([clock.waits, state.status, executionsOf(state)[0]?.attempt]).toEqual([[], 'stopped', 1]);
    });

    test('when a hook blocks it', async () => {
      const clock = impatientClock();
      const hooks: readonly Hook[] = [{ beforeToolUse: () => ({ block: 'no' }) }];
      const { state } = await used(flaky(9, retry), { clock, hooks });
      expect([clock.waits, outcomesIn(state)]).toEqual([[], ['flaky blocked']]);
    });

    test.each([1, 0, 1.5, Number.NaN, -2])('maxAttempts %d is refused', (maxAttempts) => {
      const init = { name: 'a', description: 'a', inputSchema: {}, execute: () => 1, retry: { maxAttempts } };
      expect(() => tool(init)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
    });
  });

  describe('with toolErrors "fail"', () => {
    const retry = { maxAttempts: 3 };
    test.each([
      [2, 'completed', undefined],
      [3, 'failed', 'errorForbade'],
    ])('only the last attempt counts: %i failures, %s', async (failures, status, reason) => {
      const clock = impatientClock();
      const script = failures === 2 ? [call('flaky'), 'Done.'] : [call('flaky')];
      const { state } = await used(flaky(failures, retry), { clock, script, toolErrors: 'fail' });
      expect([state.status, state.stopReason, clock.waits]).toEqual([status, reason, [1, 2]]);
    });
  });

  describe('and has no further attempt when, in a pause,', () => {
    const retry = { maxAttempts: 3 };
    /** Something happens while `flaky` waits for its second try. */
    async function inThePause(happens: () => void, scenario: Scenario): Promise<Observation> {
      const clock = manualClock(nextStart());
      const first = does('flaky', () => {
        void tick().then(happens);
        throw new Error('no luck');
      });
      const tools = [{ ...first, retry }, ...(scenario.tools ?? [])];
      const watched = { ...clock, after: () => () => undefined };
      return observe({ clock: watched, script: [call('flaky')], ...scenario, tools });
    }

    test.each(['continue', 'fail'] as const)(
      'the run is cancelled: the failure stays, and does not fail the run (%s)',
      async (toolErrors) => {
        const controller = new AbortController();
        const run = { signal: controller.signal };
        const { state } = await inThePause(() => controller.abort(), { run, toolErrors });
        expect([state.status, state.stopReason]).toEqual(['stopped', 'userRequested']);
        expect([outcomesIn(state), executionsOf(state)[0]?.attempt]).toEqual([['flaky failed'], 1]);
      },
    );

    test('the run is lost: nothing changes afterwards', async () => {
      const controller = new AbortController();
      const run = { signal: controller.signal };
      const { state } = await inThePause(() => controller.abort(new RunAbort('lost')), { run });
      expect(state.status).toBe('inProgress');
      expect(state.currentStep?.toolExecutions.map(({ outcome }) => outcome)).toEqual([undefined]);
    });
  });

  test('a run that yields completes its attempts first, so a process exit does not change the outcome', async () => {
    const clock = impatientClock();
    const controller = new AbortController();
    const run = { signal: controller.signal };
    const yields: Tool = {
      ...does('flaky', (_, { attempt }) => {
        controller.abort(new RunAbort('yield'));
        return attempt < 3 ? noLuck() : 'done';
      }),
      retry: { maxAttempts: 3 },
    };
    const script = [call('flaky', 'other')];
    const tools = [yields, does('other')];
    const { state } = await observe({ clock, run, script, tools, maxParallelTools: 1 });
    expect([state.status, state.currentStep?.toolExecutions.map(({ value }) => value)]).toEqual([
      'inProgress',
      ['done'],
    ]);
  });

  const stoppers: readonly (readonly [string, Scenario, end: readonly unknown[]])[] = [
    [
      'a tool that stops the run',
      {
        tools: [
          does('other', () => {
            throw new AgentStop('enough');
          }),
        ],
        toolErrors: 'fail',
      },
      ['stopped', 'stopRequested'],
    ],
    [
      'a hook that fails',
      { tools: [does('other')], hooks: [{ afterToolUse: noLuck }] },
      ['failed', undefined],
    ],
  ];
  test.each(stoppers)('there is no further attempt beside %s', async (_, scenario, end) => {
    const clock = impatientClock();
    const attempts: number[] = [];
    const flakyOne: Tool = {
      ...does('flaky', (__, { attempt }) => {
        attempts.push(attempt);
        return noLuck();
      }),
      retry: { maxAttempts: 3 },
    };
    const tools = [flakyOne, ...(scenario.tools ?? [])];
    const { state } = await observe({ ...scenario, clock, script: [call('flaky', 'other')], tools });
    expect([attempts, [state.status, state.stopReason]]).toEqual([[1], end]);
    expect(outcomesIn(state)[0]).toBe('flaky failed');
  });
});

describe('each attempt is saved before it begins', () => {
  async function savedAttempts(effect: ToolEffect, save?: Checkpoint['save']) {
    const clock = impatientClock();
    const seen: (readonly [attempt: number, saved: number | undefined])[] = [];
    let saved: number | undefined;
    const flakyOne: Tool = {
      ...does('flaky', (_, { attempt }) => {
        seen.push([attempt, saved]);
        return attempt < 3 ? noLuck() : 'done';
      }),
      effect,
      retry: { maxAttempts: 3 },
    };
    const checkpoint: Checkpoint = {
      async save(state, point) {
        const attempt = state.currentStep?.toolExecutions[0]?.attempt;
        if (attempt === 2 && save) return save(state, point);
        saved = attempt;
        return state;
      },
    };
    const options = { clock, driver: scriptedDriver(call('flaky'), 'Done.'), tools: [flakyOne] };
    const state = await createAgentLoop(options)
      .run(told(), { checkpoint })
      .catch(() => undefined);
    return { seen, state };
  }

  test.each(['once', 'idempotent', 'ask'] as const)('of a tool with the effect %s', async (effect) => {
    const { seen, state } = await savedAttempts(effect);
    expect([seen, state?.finalResponse]).toEqual([
      [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
      'Done.',
    ]);
  });

  test('but not of a tool without an effect', async () => {
    const { seen } = await savedAttempts('readOnly');
    expect(seen).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  });

  test('and does not begin when the save fails', async () => {
    const { seen, state } = await savedAttempts('once', () => Promise.reject(new Error('down')));
    expect([seen, state]).toEqual([[[1, 1]], undefined]);
  });
});

test('a tool that throws an error with the code of invalid arguments has another attempt', async () => {
  const clock = impatientClock();
  const throws: Tool = {
    ...does('a', (_, { attempt }) => {
      if (attempt === 2) return 'done';
      throw new HoldfastError('TOOL_ARGUMENTS_INVALID', 'of an inner tool');
    }),
    retry: { maxAttempts: 2 },
  };
  const { state } = await used(throws, { clock });
  expect(resultsOf(state)).toEqual(['done']);
});
