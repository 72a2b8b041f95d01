import { AgentStop, RunAbort, toolResult, type AgentState, type Tool } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { call, does, observe, readBack, told } from '../../support/builders.ts';
import { executionsOf, outcomesIn, resultsOf, used } from '../../support/tool-runs.ts';

describe('toolResult', () => {
  test('separates the value, the model output and the metadata', async () => {
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
      'absent metadata',
      () => toolResult({ value: 5, metadata: { a: undefined } }),
      { type: 'succeeded', value: 5 },
    ],
    [
      'facts with dates',
      () => toolResult({ value: 5, metadata: { at: new Date(0) } }),
      { type: 'succeeded', value: 5, metadata: { at: '1970-01-01T00:00:00.000Z' } },
    ],
    [
      'an object with the same members',
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
    ['a value that is not JSON', () => toolResult({ value: 1n }), 'NOT_JSON'],
    ['metadata that is not JSON', () => toolResult({ value: 1, metadata: { a: 1n } }), 'NOT_JSON'],
    ['metadata that is a list', () => toolResult({ value: 1, metadata: [1] as never }), 'NOT_JSON'],
    [
      'an invalid model output',
      () => toolResult({ value: 1, modelOutput: { type: 'odd' } as never }),
      'CONTEXT_INVALID',
    ],
  ];
  test.each(misfits)('with %s fails, and the model reads the error', async (_, execute, code) => {
    const { state } = await used(does('a', execute));
    expect([outcomesIn(state), state.errors[0]?.code, state.status]).toEqual([
      ['a failed'],
      code,
      'completed',
    ]);
    expect(state.metadata.values).toEqual({});
  });

  const unread: readonly (readonly [string, () => unknown])[] = [
    ['an async generator', () => items()],
    ['a promise of a generator', async () => items()],
    ['an iterator', () => [1].values()],
    ['a stream', () => new ReadableStream()],
    ['a tool result with a generator', () => toolResult({ value: items() })],
  ];
  async function* items(): AsyncGenerator<number> {
    yield 1;
  }
  test.each(unread)('%s is not read, and fails with a clear error', async (_, execute) => {
    const { state } = await used(does('a', execute));
    expect([outcomesIn(state), state.errors]).toEqual([
      ['a failed'],
      [
        {
          name: 'HoldfastError',
          code: 'TOOL_FAILED',
          message:
            'Tool "a" returned a generator or stream, which the loop does not read. ' +
            'The tool must return the result, or a promise of it.',
        },
      ],
    ]);
  });

  test('an iterable that is JSON is a value', async () => {
    const value = { [Symbol.asyncIterator]: () => items(), toJSON: () => [1] };
    const { state } = await used(does('a', () => value));
    expect(executionsOf(state)[0]?.value).toEqual([1]);
  });

  /** Three tools that set facts, one at a time. */
  const facts = (...order: string[]): readonly Tool[] =>
    order.map((name) =>
      does(name, () => toolResult({ value: name, metadata: { last: name, [name]: true } })),
    );

  test('sets metadata when the step is closed, not before', async () => {
    const seen: unknown[] = [];
    const looks = (state: AgentState): void => void seen.push(state.metadata.values);
    await observe({
      script: [call('a'), 'Done.'],
      tools: facts('a'),
      hooks: [{ afterToolUse: (_, { state }) => looks(state), afterStep: looks, afterExecution: looks }],
    });
    expect(seen).toEqual([{}, {}, { last: 'a', a: true }, { last: 'a', a: true }]);
  });

  test('merges metadata of several tools in the order of their calls, over existing values', async () => {
    const { state } = await observe({
      state: told().withMetadata('last', 'none', 1).withMetadata('kept', 1, 1),
      script: [call('b', 'a', 'c'), 'Done.'],
      tools: facts('a', 'b', 'c'),
      hooks: [{ afterToolUse: (_, { state: now }) => ({ state: now.withMetadata('last', 'a hook') }) }],
    });
    expect(state.metadata.values).toEqual({ last: 'c', kept: 1, b: true, a: true, c: true });
  });

  test('sets metadata when another process closes the step', async () => {
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

  test('sets metadata in a step that a tool stopped', async () => {
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
