import { AgentStop, createAgentLoop, HoldfastError, RunAbort, tool, toolResult, Usage } from '@holdfast/core';
import type {
  AgentEvent,
  AgentLoopOptions,
  AgentState,
  Clock,
  Hook,
  Tool,
  ToolContext,
  ToolRetry,
} from '@holdfast/core';
import { manualClock, scriptedDriver, steppedClock, toolContext } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../support/arbitraries.ts';
import type { Observation, Scenario } from '../../support/builders.ts';
import {
  call,
  deferred,
  does,
  expectSound,
  never,
  nextStart,
  observe,
  readBack,
  told,
} from '../../support/builders.ts';
const tick = (): Promise<void> => new Promise(setImmediate);
const noLuck = (): never => {
  throw new Error('no luck');
};

/** What the model reads of the tools, in order. */
function resultsOf(state: AgentState): unknown[] {
  return [...state.messages].flatMap((message) =>
    message.role === 'tool'
      ? message.content.map(({ output }) => ('value' in output ? output.value : output))
      : [],
  );
}

const executionsOf = (state: AgentState) => state.steps.flatMap(({ toolExecutions }) => toolExecutions);
const outcomes = (state: AgentState): string[] =>
  executionsOf(state).map(({ name, outcome }) => `${name} ${outcome?.type}`);

/** One call of a tool, and what the model says then. */
async function used(made: Tool, scenario: Scenario = {}): Promise<Observation> {
  return observe({ script: [call(made.name), 'Done.'], tools: [made], ...scenario });
}

describe('a time-out', () => {
  const late = (seconds: number, more: Partial<Tool> = {}) => {
    const clock = manualClock(nextStart());
    const slow = does('slow', async () => {
      clock.advance(seconds * 1_000);
      await tick();
      return 'done';
    });
    return { clock, slow: { ...slow, timeoutSeconds: 10, ...more } };
  };

  test.each([
    [9.999, 'succeeded', 'done'],
    [10, 'failed', 'Tool "slow" took longer than 10 seconds; whether it had its effect is unknown.'],
    [60, 'failed', 'Tool "slow" took longer than 10 seconds; whether it had its effect is unknown.'],
  ])('after %d seconds of 10: %s', async (seconds, outcome, result) => {
    const { clock, slow } = late(seconds);
    const { state } = await used(slow, { clock });
    expect([outcomes(state), resultsOf(state), state.status]).toEqual([
      [`slow ${outcome}`],
      [result],
      'completed',
    ]);
    expect(state.errors.map(({ code }) => code)).toEqual(outcome === 'failed' ? ['TOOL_TIMEOUT'] : []);
  });

  test('is of one tool: the others go on', async () => {
    const { clock, slow } = late(10);
    const { state } = await observe({
      clock,
      script: [call('a', 'slow', 'b'), 'Done.'],
      tools: [does('a'), slow, does('b', () => tick().then(() => 'b'))],
    });
    expect(outcomes(state)).toEqual(['a succeeded', 'slow failed', 'b succeeded']);
  });

  test('ends a run with toolErrors "fail"', async () => {
    const { clock, slow } = late(10);
    const { state } = await used(slow, { clock, script: [call('slow')], toolErrors: 'fail' });
    expect([state.status, state.stopReason]).toEqual(['failed', 'errorForbade']);
  });

  test('what the tool comes to later changes nothing', async () => {
    const clock = manualClock(nextStart());
    const { promise, resolve } = deferred<string>();
    const slow = does('slow', () => (clock.advance(10_000), promise));
    const { state } = await used({ ...slow, timeoutSeconds: 10 }, { clock });
    const before = JSON.stringify(state);
    resolve('late');
    await tick();
    expect(JSON.stringify(state)).toBe(before);
    expect(outcomes(state)).toEqual(['slow failed']);
  });

  test.each([0, -1, Number.NaN])('of %d seconds cannot be', (timeoutSeconds) => {
    const init = { name: 'a', description: 'a', inputSchema: {}, execute: () => 1, timeoutSeconds };
    expect(() => tool(init)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  });
});

describe('tools of one step run side by side', () => {
  /** Runs tools that take so many ticks each. */
  async function inParallel(durations: readonly number[], maxParallelTools: number) {
    const [begun, ended]: [number[], number[]] = [[], []];
    let [running, most] = [0, 0];
    const tools = durations.map((duration, index) =>
      does(`t${index}`, async () => {
        begun.push(index);
        most = Math.max(most, ++running);
        for (let passed = 0; passed < duration; passed++) await tick();
        running--;
        ended.push(index);
        return toolResult({ value: index, metadata: { [`t${index}`]: true, last: index } });
      }),
    );
    const driver = scriptedDriver(call(...tools.map(({ name }) => name)), 'Done.');
    const state = await createAgentLoop({ driver, tools, maxParallelTools }).run(told());
    return { state: expectSound(state), begun, ended, most };
  }

  const durations = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 10 });
  const limit = fc.constantFrom(1, 2, 3, 8, Infinity);
  test('at most so many at a time, begun in the order of the calls; whatever ends first, results stay in that order', async () => {
    await fc.assert(
      fc.asyncProperty(durations, limit, async (times, maxParallelTools) => {
        const { state, begun, ended, most } = await inParallel(times, maxParallelTools);
        const order = times.map((_, index) => index);
        expect(most).toBe(Math.min(times.length, maxParallelTools));
        expect(begun).toEqual(order);
        expect(ended.toSorted((left, right) => left - right)).toEqual(order);
        expect(resultsOf(state)).toEqual(order);
        expect(state.steps[0]?.executedToolCalls.map(({ toolName }) => toolName)).toEqual(
          order.map((index) => `t${index}`),
        );
        expect(Object.keys(state.metadata.values)).toEqual(
          order.flatMap((index) => (index === 0 ? ['t0', 'last'] : [`t${index}`])),
        );
        expect(state.metadata.get('last')).toBe(times.length - 1);
      }),
      cases(60),
    );
  });

  test('8 at a time unless something else is said', async () => {
    let [running, most] = [0, 0];
    const busy = does('busy', async () => {
      most = Math.max(most, ++running);
      await tick();
      running--;
    });
    await observe({ script: [call(...Array.from({ length: 20 }, () => 'busy')), 'Done.'], tools: [busy] });
    expect(most).toBe(8);
  });
});

describe('a value that is too long is cut, and says so', () => {
  const face = '\u{1F600}';
  const rows: readonly (readonly [string, value: unknown, limit: number, result: unknown])[] = [
    ['a text below the limit', 'abc', 4, 'abc'],
    ['a text at the limit', 'abcd', 4, 'abcd'],
    ['a text beyond it', 'abcde', 4, 'abcd\n[Cut: the first 4 of 5 characters are shown.]'],
    ['JSON at the limit', { a: 1 }, 7, { a: 1 }],
    ['JSON beyond it', { a: 12 }, 7, '{"a":12\n[Cut: the first 7 of 8 characters are shown.]'],
    ['a list beyond it', [1, 2, 3], 3, '[1,\n[Cut: the first 3 of 7 characters are shown.]'],
    ['a number is never too long', 123_456, 1, 123_456],
    ['nor is a truth', false, 1, false],
    ['nor is nothing', null, 1, null],
    [
      'half a character at the cut',
      `ab${face}cd`,
      3,
      'ab\uFFFD\n[Cut: the first 3 of 6 characters are shown.]',
    ],
    [
      'a whole character at the cut',
      `ab${face}cd`,
      4,
      `ab${face}\n[Cut: the first 4 of 6 characters are shown.]`,
    ],
    ['half a character below the limit', '\uD83D', 4, '\uD83D'],
    ['no limit', 'x'.repeat(200_000), Infinity, 'x'.repeat(200_000)],
  ];
  test.each(rows)('%s', async (_, value, maxToolResultLength, result) => {
    const { state } = await used(
      does('a', () => value),
      { maxToolResultLength },
    );
    expect(resultsOf(state)).toEqual([result]);
    expect(executionsOf(state)[0]?.value).toEqual(result);
  });

  test('at 100,000 characters unless something else is said', async () => {
    const at = await used(does('a', () => 'x'.repeat(100_000)));
    expect(resultsOf(at.state)).toEqual(['x'.repeat(100_000)]);
    const beyond = await used(does('a', () => 'x'.repeat(100_001)));
    expect(resultsOf(beyond.state)[0]).toMatch(
      /x\n\[Cut: the first 100000 of 100001 characters are shown\.\]$/,
    );
  });

  test('what the tool wants the model to read is its own affair', async () => {
    const output = { type: 'text', value: 'In short.' } as const;
    const given = await used(
      does('a', () => toolResult({ value: 'abcdef', modelOutput: output })),
      { maxToolResultLength: 3 },
    );
    expect([resultsOf(given.state), executionsOf(given.state)[0]?.value]).toEqual([
      ['In short.'],
      'abc\n[Cut: the first 3 of 6 characters are shown.]',
    ]);
  });

  test('toModelOutput is asked of whole values, not of cut ones', async () => {
    const asked: unknown[] = [];
    const shortens: Tool = {
      ...does('a', () => 'abcdef'),
      toModelOutput: (value) => (asked.push(value), { type: 'text', value: 'In short.' }),
    };
    const cut = await used(shortens, { maxToolResultLength: 3 });
    expect(resultsOf(cut.state)).toEqual(['abc\n[Cut: the first 3 of 6 characters are shown.]']);
    const whole = await used(shortens);
    expect([resultsOf(whole.state), asked]).toEqual([['In short.'], ['abcdef']]);
  });

  test.each([0, -1, Number.NaN])('a limit of %d cannot be', (maxToolResultLength) => {
    const options: AgentLoopOptions = { driver: scriptedDriver(), maxToolResultLength };
    expect(() => createAgentLoop(options)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  });
});

describe('toolResult', () => {
  test('tells the value, what the model reads, and facts for the metadata apart', async () => {
    const modelOutput = { type: 'text', value: 'Three rows.' } as const;
    const { state } = await used(
      does('query', () => toolResult({ value: [1, 2, 3], modelOutput, metadata: { lastQuery: 'rows' } })),
    );
    const [execution] = executionsOf(state);
    expect(execution?.outcome).toEqual({
      type: 'succeeded',
      value: [1, 2, 3],
      modelOutput,
      metadata: { lastQuery: 'rows' },
    });
    expect([resultsOf(state), state.metadata.values]).toEqual([['Three rows.'], { lastQuery: 'rows' }]);
  });

  const plain: readonly (readonly [string, () => unknown, outcome: object])[] = [
    ['a bare value', () => toolResult({ value: 5 }), { type: 'succeeded', value: 5 }],
    ['no value', () => toolResult({ value: undefined }), { type: 'succeeded', value: null }],
    ['no facts', () => toolResult({ value: 5, metadata: {} }), { type: 'succeeded', value: 5 }],
    [
      'facts that are not said',
      () => toolResult({ value: 5, metadata: { a: undefined } }),
      { type: 'succeeded', value: 5 },
    ],
    [
      'facts with dates',
      () => toolResult({ value: 5, metadata: { at: new Date(0) } }),
      { type: 'succeeded', value: 5, metadata: { at: '1970-01-01T00:00:00.000Z' } },
    ],
    [
      'something that looks like one',
      () => ({ value: 5, metadata: { a: 1 } }),
      {
        type: 'succeeded',
        value: { value: 5, metadata: { a: 1 } },
      },
    ],
  ];
  test.each(plain)('%s', async (_, execute, outcome) => {
    const { state } = await used(does('a', execute));
    expect(executionsOf(state)[0]?.outcome).toEqual(outcome);
  });

  const misfits: readonly (readonly [string, () => unknown, code: string])[] = [
    ['a value that is no JSON', () => toolResult({ value: 1n }), 'NOT_JSON'],
    ['facts that are no JSON', () => toolResult({ value: 1, metadata: { a: 1n } }), 'NOT_JSON'],
    ['facts that are a list', () => toolResult({ value: 1, metadata: [1] as never }), 'NOT_JSON'],
    [
      'an output that is none',
      () => toolResult({ value: 1, modelOutput: { type: 'odd' } as never }),
      'CONTEXT_INVALID',
    ],
  ];
  test.each(misfits)('%s is a failure that the model reads', async (_, execute, code) => {
    const { state } = await used(does('a', execute));
    expect([outcomes(state), state.errors[0]?.code, state.status]).toEqual([['a failed'], code, 'completed']);
    expect(state.metadata.values).toEqual({});
  });

  const unread: readonly (readonly [string, () => unknown])[] = [
    ['an async generator', () => items()],
    ['a promise of one', async () => items()],
    ['an iterator', () => [1].values()],
    ['a stream', () => new ReadableStream()],
    ['a tool result with one', () => toolResult({ value: items() })],
  ];
  async function* items(): AsyncGenerator<number> {
    yield 1;
  }
  test.each(unread)('%s is not read: a failure that says so', async (_, execute) => {
    const { state } = await used(does('a', execute));
    expect([outcomes(state), state.errors]).toEqual([
      ['a failed'],
      [
        {
          name: 'HoldfastError',
          code: 'TOOL_FAILED',
          message:
            'Tool "a" returned a generator or stream, which is not read: its result is unknown. ' +
            'The tool must return the result, or a promise of it.',
        },
      ],
    ]);
  });

  test('something iterable that is JSON is a value', async () => {
    const value = { [Symbol.asyncIterator]: () => items(), toJSON: () => [1] };
    const { state } = await used(does('a', () => value));
    expect(executionsOf(state)[0]?.value).toEqual([1]);
  });

  /** Three tools that set facts, one at a time. */
  const facts = (...order: string[]): readonly Tool[] =>
    order.map((name) =>
      does(name, () => toolResult({ value: name, metadata: { last: name, [name]: true } })),
    );

  test('facts are there when the step has closed, not before', async () => {
    const seen: unknown[] = [];
    const looks = (state: AgentState): void => void seen.push(state.metadata.values);
    await observe({
      script: [call('a'), 'Done.'],
      tools: facts('a'),
      hooks: [{ afterToolUse: (_, { state }) => looks(state), afterStep: looks, afterExecution: looks }],
    });
    expect(seen).toEqual([{}, {}, { last: 'a', a: true }, { last: 'a', a: true }]);
  });

  test('facts of several tools are merged in the order of the calls, over those that were there', async () => {
    const { state } = await observe({
      state: told().withMetadata('last', 'none', 1).withMetadata('kept', 1, 1),
      script: [call('b', 'a', 'c'), 'Done.'],
      tools: facts('a', 'b', 'c'),
      hooks: [{ afterToolUse: (_, { state: now }) => ({ state: now.withMetadata('last', 'a hook') }) }],
    });
    expect(state.metadata.values).toEqual({ last: 'c', kept: 1, b: true, a: true, c: true });
  });

  test('facts are kept by a process that ends in the middle of the step', async () => {
    const controller = new AbortController();
    const [a, , c] = facts('a', 'b', 'c') as [Tool, Tool, Tool];
    const b = does('b', () => {
      controller.abort(new RunAbort('yield'));
      return toolResult({ value: 'b', metadata: { last: 'b' } });
    });
    const script = [call('a', 'b', 'c')];
    const made = { script, tools: [a, b, c], maxParallelTools: 1 };
    const first = await observe({ ...made, run: { signal: controller.signal } });
    expect([first.state.status, first.state.metadata.values]).toEqual(['inProgress', {}]);
    expect(first.state.currentStep?.toolExecutions.map(({ name }) => name)).toEqual(['a', 'b']);
    const { state } = await observe({ ...made, state: readBack(first.state), script: ['Done.'] });
    expect([state.status, state.metadata.values]).toEqual(['completed', { last: 'c', a: true, c: true }]);
  });

  test('facts of a step that a tool stopped are kept', async () => {
    const stops = does('stops', () => {
      throw new AgentStop('enough');
    });
    const { state } = await observe({
      script: [call('a', 'stops', 'b')],
      tools: [...facts('a', 'b'), stops],
      maxParallelTools: 1,
    });
    expect([state.status, state.metadata.values]).toEqual(['stopped', { last: 'a', a: true }]);
  });
});

/** A clock in which every time-out passes as soon as nothing else happens. */
interface ImpatientClock extends Clock {
  /** How long each was, in seconds. */
  readonly waits: number[];
  /** Those that have neither passed nor been called off. */
  readonly pending: Set<unknown>;
}

function impatientClock(): ImpatientClock {
  const clock = manualClock(nextStart());
  const [waits, pending]: [number[], Set<unknown>] = [[], new Set()];
  return {
    ...clock,
    waits,
    pending,
    after(milliseconds, callback) {
      waits.push(milliseconds / 1_000);
      const timer = setImmediate(() => {
        pending.delete(timer);
        clock.advance(milliseconds);
        callback();
      });
      pending.add(timer);
      return () => {
        clearImmediate(timer);
        pending.delete(timer);
      };
    },
  };
}

/** A tool that fails so many times, and then comes to `done`. */
function flaky(failures: number, retry: ToolRetry, seen: ToolContext[] = []): Tool {
  const execute = (_: unknown, context: ToolContext): string => {
    seen.push(context);
    if (context.attempt <= failures) throw new Error(`no luck ${context.attempt}`);
    return 'done';
  };
  return { ...does('flaky', execute), retry };
}

describe('a call is tried again when its tool throws', () => {
  const rows: readonly (readonly [
    string,
    failures: number,
    ToolRetry,
    waits: readonly number[],
    outcome: string,
  ])[] = [
    ['not at all when it succeeds', 0, { maxAttempts: 3 }, [], 'done'],
    ['until it succeeds', 2, { maxAttempts: 3 }, [1, 2], 'done'],
    ['until no try is left', Infinity, { maxAttempts: 3 }, [1, 2], 'no luck 3'],
    [
      'after pauses that double, up to a minute',
      Infinity,
      { maxAttempts: 10 },
      [1, 2, 4, 8, 16, 32, 60, 60, 60],
      'no luck 10',
    ],
    ['after a pause of one length', Infinity, { maxAttempts: 4, delaySeconds: 5 }, [5, 5, 5], 'no luck 4'],
    ['at once', Infinity, { maxAttempts: 3, delaySeconds: 0 }, [0, 0], 'no luck 3'],
    [
      'after pauses by the try',
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
      'as long as the error is worth it',
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

  test('what was kept and used in one try is there in the next', async () => {
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

  test('a time-out is of one try, and worth another', async () => {
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

  describe('but not', () => {
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
      ['for a tool that there is not', { ...does('b'), retry }, 'failed', 'TOOL_NOT_FOUND'],
      ['for a value that is no JSON', { ...does('a', () => 1n), retry }, 'failed', 'NOT_JSON'],
      [
        'for an output for the model that is none',
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
      expect([clock.waits, outcomes(state)]).toEqual([[], ['flaky blocked']]);
    });

    test.each([1, 0, 1.5, Number.NaN, -2])('%d times in all: that cannot be', (maxAttempts) => {
      const init = { name: 'a', description: 'a', inputSchema: {}, execute: () => 1, retry: { maxAttempts } };
      expect(() => tool(init)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
    });
  });

  describe('with toolErrors "fail"', () => {
    const retry = { maxAttempts: 3 };
    test.each([
      [2, 'completed', undefined],
      [3, 'failed', 'errorForbade'],
    ])('only the last try counts: %i failures, %s', async (failures, status, reason) => {
      const clock = impatientClock();
      const script = failures === 2 ? [call('flaky'), 'Done.'] : [call('flaky')];
      const { state } = await used(flaky(failures, retry), { clock, script, toolErrors: 'fail' });
      expect([state.status, state.stopReason, clock.waits]).toEqual([status, reason, [1, 2]]);
    });
  });

  describe('and is left alone when, in a pause,', () => {
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
      'the run is cancelled: its failure stands, and does not fail the run (%s)',
      async (toolErrors) => {
        const controller = new AbortController();
        const run = { signal: controller.signal };
        const { state } = await inThePause(() => controller.abort(), { run, toolErrors });
        expect([state.status, state.stopReason]).toEqual(['stopped', 'userRequested']);
        expect([outcomes(state), executionsOf(state)[0]?.attempt]).toEqual([['flaky failed'], 1]);
      },
    );

    test('the run is lost: nothing changes any more', async () => {
      const controller = new AbortController();
      const run = { signal: controller.signal };
      const { state } = await inThePause(() => controller.abort(new RunAbort('lost')), { run });
      expect(state.status).toBe('inProgress');
      expect(state.currentStep?.toolExecutions.map(({ outcome }) => outcome)).toEqual([undefined]);
    });
  });

  test('a run that yields makes the tries first: that the process goes does not change what a call comes to', async () => {
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
  test.each(stoppers)('beside %s there is no other try', async (_, scenario, end) => {
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
    expect(outcomes(state)[0]).toBe('flaky failed');
  });
});

describe('what a tool can say while it runs', () => {
  test('saveProgress: it is in the state at once, and in what is stored', async () => {
    const states: AgentState[] = [];
    const saves = does('saves', async (_, { saveProgress }) => {
      saveProgress({ page: 1 });
      await tick();
      saveProgress({ page: 2 });
      saveProgress({ page: 2 });
    });
    const clock = steppedClock(nextStart());
    const loop = createAgentLoop({ driver: scriptedDriver(call('saves'), 'Done.'), tools: [saves], clock });
    const hook = await loop.run(told(), { onEvent: ({ state }) => void states.push(state) });
    const progress = (state: AgentState): unknown =>
      (state.currentStep ?? state.steps[0])?.toolExecutions[0]?.progress;
    expect([progress(hook), progress(readBack(hook))]).toEqual([{ page: 2 }, { page: 2 }]);
    expect(states.some((state) => progress(state) === undefined)).toBe(true);
  });

  test('saveProgress of what is no JSON is a failure of the tool', async () => {
    const { state } = await used(does('a', (_, { saveProgress }) => saveProgress(1n as never)));
    expect([outcomes(state), state.errors[0]?.code]).toEqual([['a failed'], 'NOT_JSON']);
  });

  test('addUsage counts in the totals, of a failed call too', async () => {
    const spends = does('spends', (_, { addUsage }) => {
      addUsage(Usage.of({ inputTokens: 100, outputTokens: 10, cost: 1 }));
      addUsage({ inputTokens: 1, outputTokens: 1, cost: 0.5 });
      throw new Error('no luck');
    });
    const { state, events } = await used(spends);
    expect(executionsOf(state)[0]?.usage.toJSON()).toEqual({ inputTokens: 101, outputTokens: 11, cost: 1.5 });
    expect([state.usage.inputTokens, state.usage.outputTokens, state.cost]).toEqual([121, 21, 1.5]);
    const totals = events.flatMap((event) =>
      event.type === 'usage-updated' ? [event.usage.totalTokens] : [],
    );
    expect(totals).toEqual([15, 125, 127, 142]);
  });

  test.each([{ inputTokens: -1 }, { tokens: 5 }, 5, null])(
    'addUsage(%j) is a failure of the tool',
    async (usage) => {
      const { state } = await used(does('a', (_, { addUsage }) => addUsage(usage as never)));
      expect([outcomes(state), state.usage.totalTokens]).toEqual([['a failed'], 30]);
    },
  );

  test('usage reaches the limits of the run', async () => {
    const spends = does('spends', (_, { addUsage }) => addUsage({ inputTokens: 1_000, outputTokens: 0 }));
    const { state, driver } = await used(spends, { script: [call('spends')], budget: { maxTokens: 1_000 } });
    expect([driver.requests.length, state.stopReason]).toEqual([1, 'tokenLimitReached']);
  });

  test('emit tells the listeners, and changes nothing else', async () => {
    const inner = told();
    const event: AgentEvent = { type: 'execution-started', at: 1, state: inner };
    const emits = does('emits', (_, { emit }) => emit(event));
    const { events, state } = await used(emits);
    expect(events).toContain(event);
    expect(state.status).toBe('completed');
  });

  test('a listener that throws harms no tool', async () => {
    const event: AgentEvent = { type: 'execution-started', at: 1, state: told() };
    const { state } = await used(
      does('emits', (_, { emit }) => (emit(event), 'done')),
      { listeners: [noLuck] },
    );
    expect(outcomes(state)).toEqual(['emits succeeded']);
  });

  test('progress and usage are not announced as another start', async () => {
    const busy = does('busy', (_, { saveProgress, addUsage }) => {
      saveProgress(1);
      addUsage({ inputTokens: 1, outputTokens: 1 });
      saveProgress(2);
    });
    const { events } = await used(busy);
    const ofTool = events.map(({ type }) => type).filter((type) => type.startsWith('tool-'));
    expect(ofTool).toEqual(['tool-started', 'tool-completed']);
  });

  test('while a run yields, what its tools say still counts', async () => {
    const controller = new AbortController();
    const yields = does('yields', async (_, { addUsage, saveProgress }) => {
      controller.abort(new RunAbort('yield'));
      await tick();
      addUsage({ inputTokens: 7, outputTokens: 0 });
      saveProgress('far');
      return 'done';
    });
    const { state } = await observe({
      run: { signal: controller.signal },
      script: [call('yields', 'other')],
      tools: [yields, does('other')],
      maxParallelTools: 1,
    });
    const execution = state.currentStep?.toolExecutions[0];
    expect([execution?.value, execution?.usage.inputTokens, execution?.progress]).toEqual(['done', 7, 'far']);
  });

  const shapes: readonly (readonly [string, (context: ToolContext) => ToolContext])[] = [
    ['as it is', (context) => context],
    ['copied', (context) => ({ ...context })],
  ];
  const limits: readonly (readonly [string, Partial<Tool>])[] = [
    ['', {}],
    [', of a tool with a time-out', { timeoutSeconds: 10 }],
  ];
  const contexts = shapes.flatMap(([shape, take]) =>
    limits.map(([limit, more]) => ({ name: `${shape}${limit}`, take, more })),
  );
  test.each(contexts)('the context can be taken apart: $name', async ({ take, more }) => {
    const seen: unknown[] = [];
    const takesApart = does('a', (_, context) => {
      const { toolCallId, idempotencyKey, attempt, signal, state, clock, progress } = take(context);
      const { saveProgress, addUsage, remaining, emit } = take(context);
      saveProgress('far');
      addUsage({ inputTokens: 1, outputTokens: 1 });
      emit({ type: 'execution-started', at: 1, state });
      seen.push(toolCallId, attempt, progress, signal.aborted, remaining().maxSteps, state.stepCount);
      seen.push(typeof clock.now(), idempotencyKey);
    });
    const { state } = await used({ ...takesApart, ...more });
    const [execution] = executionsOf(state);
    expect(seen).toEqual(['call_1_1', 1, undefined, false, 19, 1, 'number', execution?.id]);
    expect([execution?.progress, execution?.usage.totalTokens]).toEqual(['far', 2]);
  });
});

describe('what a tool says after its try has ended changes nothing', () => {
  const inner = told();
  /** All that a tool can say. */
  function saysAll({ saveProgress, addUsage, remaining, emit }: ToolContext): void {
    saveProgress({ late: true });
    addUsage({ inputTokens: 1_000, outputTokens: 1_000, cost: 1_000 });
    emit({ type: 'execution-started', at: 1, state: inner });
    remaining();
  }
  const nothingSaid = ({ state, events }: Observation): void => {
    const [first] = [...executionsOf(state), ...(state.currentStep?.toolExecutions ?? [])];
    expect([first?.progress, first?.usage]).toEqual([undefined, Usage.none]);
    expect(events.filter((event) => event.state === inner)).toEqual([]);
  };

  type Kept = { context?: ToolContext };
  const keeps = (kept: Kept, result: (context: ToolContext) => unknown = () => 'kept'): Tool =>
    does('keeps', (_, context) => {
      kept.context ??= context;
      return result(context);
    });
  const say = (kept: Kept): void => saysAll(kept.context as ToolContext);

  const rows: readonly (readonly [string, (kept: Kept) => Scenario])[] = [
    [
      'while another tool of its step runs',
      (kept) => ({
        script: [call('keeps', 'says'), 'Done.'],
        tools: [keeps(kept), does('says', () => tick().then(() => say(kept)))],
      }),
    ],
    [
      'before its end is taken in',
      (kept) => ({
        script: [call('first', 'keeps'), 'Done.'],
        tools: [does('first'), keeps(kept)],
        hooks: [
          {
            afterToolUse: async ({ name }) => {
              if (name !== 'first') return;
              await tick();
              say(kept);
            },
          },
        ],
      }),
    ],
    [
      'in a later step',
      (kept) => ({
        script: [call('keeps'), call('says'), 'Done.'],
        tools: [keeps(kept), does('says', () => say(kept))],
      }),
    ],
    ['after the step', (kept) => ({ tools: [keeps(kept)], hooks: [{ afterStep: () => say(kept) }] })],
    [
      'at the end of the run',
      (kept) => ({ tools: [keeps(kept)], hooks: [{ afterExecution: () => say(kept) }] }),
    ],
    [
      'from one try in another',
      (kept) => ({
        clock: impatientClock(),
        tools: [
          {
            ...keeps(kept, ({ attempt }) => (attempt === 1 ? noLuck() : say(kept))),
            retry: { maxAttempts: 2 },
          },
        ],
      }),
    ],
    [
      'in the pause between two tries',
      (kept) => ({
        clock: impatientClock(),
        tools: [
          {
            ...keeps(kept, ({ attempt }) => {
              if (attempt === 2) return 'done';
              setImmediate(() => say(kept));
              return noLuck();
            }),
            retry: { maxAttempts: 2 },
          },
        ],
      }),
    ],
  ];
  test.each(rows)('%s', async (_, scenario) => {
    const kept: Kept = {};
    const observation = await observe({ script: [call('keeps'), 'Done.'], ...scenario(kept) });
    expect(observation.state.status).toBe('completed');
    nothingSaid(observation);
    const before = JSON.stringify(observation.state);
    say(kept);
    expect(JSON.stringify(observation.state)).toBe(before);
    nothingSaid(observation);
  });

  test('after its time-out', async () => {
    const kept: Kept = {};
    const clock = manualClock(nextStart());
    const slow = { ...keeps(kept, () => (clock.advance(5_000), never)), timeoutSeconds: 5 };
    const observation = await observe({
      clock,
      script: [call('keeps', 'says'), 'Done.'],
      tools: [slow, does('says', () => tick().then(() => say(kept)))],
    });
    expect(outcomes(observation.state)).toEqual(['keeps failed', 'says succeeded']);
    nothingSaid(observation);
  });

  test.each(['cancel', 'lost'] as const)('after the run was aborted (%s)', async (kind) => {
    const kept: Kept = {};
    const controller = new AbortController();
    const aborts = keeps(kept, async () => {
      controller.abort(new RunAbort(kind));
      await tick();
      say(kept);
      return never;
    });
    const observation = await observe({
      run: { signal: controller.signal },
      script: [call('keeps')],
      tools: [aborts],
    });
    await tick();
    nothingSaid(observation);
    expect(observation.driver.requests).toHaveLength(1);
  });

  test('a stream that is over stays over', async () => {
    const kept: Kept = {};
    const driver = scriptedDriver(call('keeps'), 'Done.');
    const stream = createAgentLoop({ driver, tools: [keeps(kept)] }).stream(told());
    for await (const { type } of stream) expect(type).not.toBe('tool-blocked');
    say(kept);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});

describe('a context to call a tool with in a test', () => {
  test('has all that a tool may ask for, and what is given wins', async () => {
    const context = toolContext({ attempt: 2 });
    const { saveProgress, addUsage, remaining, emit, attempt, signal, state } = context;
    saveProgress(1);
    addUsage({ inputTokens: 1 });
    emit({ type: 'execution-started', at: 1, state });
    expect([attempt, signal.aborted, remaining().isEmpty]).toEqual([2, false, true]);
    const add = tool({
      name: 'add',
      description: 'Adds.',
      inputSchema: { type: 'object' },
      execute: ({ a, b }: { a: number; b: number }) => a + b,
    });
    expect(await add.execute({ a: 1, b: 2 }, context)).toBe(3);
  });
});

test('a tool that throws an error with the code of bad arguments itself is tried again: only the loop knows the arguments', async () => {
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
