import { createAgentLoop, toolResult, type AgentLoopOptions, type Tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { does } from '../../support/builders.ts';
import { executionsOf, resultsOf, used } from '../../support/tool-runs.ts';

describe('a value that is too long is truncated, with a note', () => {
  const face = '\u{1F600}';
  const rows: readonly (readonly [string, value: unknown, limit: number, result: unknown])[] = [
    ['a text below the limit', 'abc', 4, 'abc'],
    ['a text at the limit', 'abcd', 4, 'abcd'],
    ['a text beyond it', 'abcde', 4, 'abcd\n[Truncated: the first 4 of 5 characters are shown.]'],
    ['JSON at the limit', { a: 1 }, 7, { a: 1 }],
    ['JSON beyond it', { a: 12 }, 7, '{"a":12\n[Truncated: the first 7 of 8 characters are shown.]'],
    ['a list beyond it', [1, 2, 3], 3, '[1,\n[Truncated: the first 3 of 7 characters are shown.]'],
    ['a number is never too long', 123_456, 1, 123_456],
    ['nor is a truth', false, 1, false],
    ['null is not truncated', null, 1, null],
    [
      'half a character at the end',
      `ab${face}cd`,
      3,
      'ab\uFFFD\n[Truncated: the first 3 of 6 characters are shown.]',
    ],
    [
      'a whole character at the end',
      `ab${face}cd`,
      4,
      `ab${face}\n[Truncated: the first 4 of 6 characters are shown.]`,
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

  test('at 100,000 characters by default', async () => {
    const at = await used(does('a', () => 'x'.repeat(100_000)));
    expect(resultsOf(at.state)).toEqual(['x'.repeat(100_000)]);
    const beyond = await used(does('a', () => 'x'.repeat(100_001)));
    expect(resultsOf(beyond.state)[0]).toMatch(
      /x\n\[Truncated: the first 100000 of 100001 characters are shown\.\]$/,
    );
  });

  test('an error that its record has shortened gets no second note', async () => {
    const { state } = await used(
      does('a', () => {
        throw new Error('x'.repeat(2_000_000));
      }),
    );
    const { message = '' } = state.errors[0] ?? {};
    expect(message).toHaveLength(100_000);
    expect(message).toMatch(/x\n\[The error was too long: its other parts were not kept\.\]$/);
  });

  test('a tool’s own model output is not truncated', async () => {
    const output = { type: 'text', value: 'In short.' } as const;
    const given = await used(
      does('a', () => toolResult({ value: 'abcdef', modelOutput: output })),
      { maxToolResultLength: 3 },
    );
    expect([resultsOf(given.state), executionsOf(given.state)[0]?.value]).toEqual([
      ['In short.'],
      'abc\n[Truncated: the first 3 of 6 characters are shown.]',
    ]);
  });

  test('toModelOutput is called for whole values, not for truncated ones', async () => {
    const asked: unknown[] = [];
    const shortens: Tool = {
      ...does('a', () => 'abcdef'),
      toModelOutput: ({ output }) => (asked.push(output), { type: 'text', value: 'In short.' }),
    };
    const cut = await used(shortens, { maxToolResultLength: 3 });
    expect(resultsOf(cut.state)).toEqual(['abc\n[Truncated: the first 3 of 6 characters are shown.]']);
    const whole = await used(shortens);
    expect([resultsOf(whole.state), asked]).toEqual([['In short.'], ['abcdef']]);
  });

  test.each([0, -1, Number.NaN])('the limit %d is refused', (maxToolResultLength) => {
    const options: AgentLoopOptions = { driver: scriptedDriver(), maxToolResultLength };
    expect(() => createAgentLoop(options)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  });
});
