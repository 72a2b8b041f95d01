import type { Tool } from '@holdfast/core';
import type { UIToolOf } from '@holdfast/ui-ai-sdk';
import { expectTypeOf, test } from 'vitest';

test('the type of a tool for useChat has its input and its output', () => {
  type Pay = UIToolOf<Tool<{ euros: number }, { paid: number }>>;
  expectTypeOf<Pay>().toEqualTypeOf<{ input: { euros: number }; output: { paid: number } }>();
});
