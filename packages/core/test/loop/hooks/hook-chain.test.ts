import { createAgentLoop } from '@holdfast/core';
import type { Hook } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { does, observe } from '../../builders.ts';

describe('the name of a hook', () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ['empty', ''],
    ['a number', 2],
    ['null', null],
    ['a function', () => 'a'],
  ];
  test.each(wrong)('cannot be %s', (_, name) => {
    const hooks = [{ beforeStep: () => undefined }, { name, beforeStep: () => undefined } as Hook];
    expect(() => createAgentLoop({ driver: scriptedDriver(), hooks })).toThrow(
      expect.objectContaining({
        name: 'TypeError',
        code: 'ARGUMENT_INVALID',
        message: expect.stringMatching(/^The name of hook 2 must be a text, found /),
      }),
    );
  });

  test('may be a member of a class', async () => {
    class Policy implements Hook {
      readonly #reason = 'Closed.';
      get name(): string {
        return 'policy';
      }
      beforeToolUse() {
        return { block: this.#reason };
      }
    }
    const script = [{ calls: { a: {} } }, 'Done.'];
    const { state } = await observe({ script, tools: [does('a')], hooks: [new Policy()] });
    expect(state.lastToolExecution?.blockedBy).toEqual([{ hook: 'policy', reason: 'Closed.' }]);
  });

  test.each<readonly [string, Hook, title: string]>([
    ['a name', { name: 'odd', beforeStep: () => 5 as never }, 'Hook "odd"'],
    ['no name', { beforeStep: () => 5 as never }, 'Hook 2'],
  ])('is in errors: %s', async (_, hook, title) => {
    // `observe` registers a hook of its own before these.
    const { state } = await observe({ hooks: [hook] });
    expect(state.errors[0]?.message).toBe(
      `${title} returned number 5 as the state from beforeStep; it may return a state or nothing.`,
    );
  });
});
