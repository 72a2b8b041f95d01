import { jsonSchema, lazySchema, zodSchema } from '@ai-sdk/provider-utils';
import { structuredOutput, tool, type JsonValue, type StructuredOutput, type Tool } from '@holdfast/core';
import { toolContext } from '@holdfast/core/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const named = { name: 'greet', description: 'Greets somebody.' };
const shown = {
  type: 'object',
  properties: { name: { type: 'string' }, times: { type: 'number' } },
  required: ['name', 'times'],
} as const;

/** The outcome of a call with these arguments. */
async function called(made: Tool, input: JsonValue): Promise<unknown> {
  const validation = await made.validate(input);
  return 'problem' in validation ? validation.problem : made.execute(validation.value, toolContext());
}

describe('schemas of the AI SDK are schemas of tools', () => {
  test('jsonSchema() checks the arguments by its JSON Schema', async () => {
    const made = tool({
      ...named,
      inputSchema: jsonSchema<{ name: string; times: number }>({ ...shown, required: [...shown.required] }),
      execute(args) {
        expectTypeOf(args).toEqualTypeOf<{ name: string; times: number }>();
        return `Hello ${args.name}`;
      },
    });
    expect(made.inputSchema).toEqual(shown);
    expect(await called(made, { name: 'Ada', times: 1 })).toBe('Hello Ada');
    expect(await called(made, { name: 1 })).toBe(
      'times: required, but missing; name: expected string, found number 1',
    );
  });

  test('jsonSchema() with a validate function checks the arguments by the function', async () => {
    const inputSchema = jsonSchema<{ name: string }>(
      { type: 'object' },
      {
        validate: (value) =>
          typeof (value as { name?: unknown }).name === 'string'
            ? { success: true, value: { name: (value as { name: string }).name.toUpperCase() } }
            : { success: false, error: new Error('Give a name.') },
      },
    );
    const made = tool({ ...named, inputSchema, execute: ({ name }) => name });
    expect(await called(made, { name: 'Ada' })).toBe('ADA');
    expect(await called(made, {})).toBe('Give a name.');
  });

  test('jsonSchema() accepts a function that returns the schema', () => {
    const inputSchema = jsonSchema(() => ({ type: 'object' }));
    expect(tool({ ...named, inputSchema, execute: () => null }).inputSchema).toEqual({ type: 'object' });
  });

  test('zodSchema() reports all issues with their paths', async () => {
    const inputSchema = zodSchema(z.object({ name: z.string().trim(), times: z.array(z.number()) }));
    const made = tool({
      ...named,
      inputSchema,
      execute(args) {
        expectTypeOf(args).toEqualTypeOf<{ name: string; times: number[] }>();
        return args.name;
      },
    });
    expect(made.inputSchema).toMatchObject({ type: 'object', required: ['name', 'times'] });
    expect(await called(made, { name: ' Ada ', times: [] })).toBe('Ada');
    expect(await called(made, { name: 1, times: [1, 'x'] })).toBe(
      'name: Invalid input: expected string, received number; ' +
        'times.1: Invalid input: expected number, received string',
    );
  });

  test('they are schemas of structured outputs too', () => {
    const output = structuredOutput(jsonSchema<{ name: string }>({ type: 'object' }));
    expectTypeOf(output).toEqualTypeOf<StructuredOutput<{ name: string }>>();
    expect(output.responseFormat).toEqual({ type: 'json', schema: { type: 'object' } });
  });

  test('lazySchema() is refused, because it is a function', () => {
    const inputSchema = lazySchema(() => jsonSchema({ type: 'object' }));
    const make = () => tool({ ...named, inputSchema: inputSchema as never, execute: () => null });
    expect(make).toThrow(expect.objectContaining({ code: 'TOOL_SCHEMA_INVALID' }));
  });
});
