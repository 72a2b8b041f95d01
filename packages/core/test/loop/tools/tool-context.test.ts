import { tool } from '@holdfast/core';
import { toolContext } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { emitted } from '../../support/builders.ts';

describe('toolContext() for tests', () => {
  test('has every member of a context, and passed members override the defaults', async () => {
    const context = toolContext({ attempt: 2 });
    const { saveProgress, addUsage, remaining, emit, attempt, signal, state } = context;
    saveProgress(1);
    addUsage({ inputTokens: 1 });
    emit(emitted(state));
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
