import { tool, type Tool } from '@holdfast/core';
import { z } from 'zod';
import { evaluate } from '../arithmetic.ts';

/** Works out arithmetic, exactly as far as doubles go. */
export const calculator: Tool = tool({
  name: 'calculator',
  description:
    'Works out an arithmetic expression: numbers, + - * / % ^ and parentheses. Use it for every sum.',
  inputSchema: z.object({ expression: z.string().min(1).describe('For example: 17 * (2 + 3)') }),
  effect: 'readOnly',
  execute: ({ expression }) => ({ expression, value: evaluate(expression) }),
});
