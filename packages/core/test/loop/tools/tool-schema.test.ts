import { tool } from '@holdfast/core';
import type { JsonObject, JsonValue } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const validate = (inputSchema: JsonObject, input: JsonValue) =>
  tool({ name: 'x', description: '', inputSchema, execute: () => null }).validate(input);

describe('arguments by JSON Schema: what a model is told', () => {
  const one = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { a: schema } });
  const rows: readonly (readonly [schema: JsonObject, input: JsonValue, problem?: string])[] = [
    [{ type: 'object' }, {}],
    [{ type: 'object' }, [], 'the arguments: expected object, found an array of 0'],
    [{ type: 'object', required: ['a'] }, {}, 'a: required, but missing'],
    [
      { type: 'object', properties: { a: {} }, additionalProperties: false },
      { b: 1 },
      'b: not a known property (known: a)',
    ],
    [one({ type: 'integer' }), { a: 1.5 }, 'a: expected integer, found number 1.5'],
    [one({ type: ['string', 'null'] }), { a: null }],
    [one({ enum: ['x', 'y'] }), { a: 'z' }, 'a: expected one of ["x","y"], found string "z"'],
    [one({ const: 1 }), { a: 1 }],
    [
      one({ type: 'array', items: { type: 'number' } }),
      { a: [1, 'b'] },
      'a[1]: expected number, found string "b"',
    ],
    [one({ minimum: 1 }), { a: 0 }, 'a: expected at least 1, found number 0'],
    [one({ minLength: 2 }), { a: '\u{1F600}' }, 'a: expected at least 2 characters, found number 1'],
    [one({ pattern: '^a' }), { a: 'b' }, 'a: expected a string that matches ^a, found string "b"'],
    // Not valid with the `u` flag, and common all the same.
    [one({ pattern: '^\\d{3}\\-\\d{4}$' }), { a: '555-1234' }],
    [
      one({ pattern: '^\\d{3}\\-\\d{4}$' }),
      { a: '555' },
      'a: expected a string that matches ^\\d{3}\\-\\d{4}$, found string "555"',
    ],
    // Not valid at all: it says nothing.
    [one({ pattern: '(' }), { a: 'b' }],
    [
      one({ anyOf: [{ type: 'string' }, { type: 'null' }] }),
      { a: 1 },
      'a: expected string, found number 1; or a: expected null, found number 1',
    ],
    [
      { type: 'object', properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'number' } } },
      { a: 'x' },
      'a: expected number, found string "x"',
    ],
  ];
  test.each(rows.map(([schema, input, problem]) => ({ schema, input, problem })))(
    '$schema: $input',
    async (row) => {
      const found = await validate(row.schema, row.input);
      expect(found).toEqual(row.problem === undefined ? { value: row.input } : { problem: row.problem });
    },
  );
});

describe('arguments by Standard Schema', () => {
  const named = { name: 'x', description: '', execute: () => null };

  test('are what the schema makes of them', async () => {
    const made = tool({
      ...named,
      inputSchema: z.object({ a: z.string().transform((text) => text.length) }),
    });
    expect(await made.validate({ a: 'four' })).toEqual({ value: { a: 4 } });
    expect(made.inputSchema).toMatchObject({ type: 'object', required: ['a'] });
  });

  test('may be checked later', async () => {
    const made = tool({
      ...named,
      inputSchema: z.object({ a: z.string().refine(async (text) => text === 'yes') }),
    });
    expect(await made.validate({ a: 'yes' })).toEqual({ value: { a: 'yes' } });
    expect(await made.validate({ a: 'no' })).toEqual({ problem: 'a: Invalid input' });
  });

  test('a schema that cannot be shown to a model needs one beside it', () => {
    const standard = { version: 1, vendor: 'mine', validate: (value: unknown) => ({ value }) } as const;
    const inputSchema = { '~standard': standard };
    expect(() => tool({ ...named, inputSchema })).toThrow(
      'The mine schema of tool "x" cannot be turned into JSON Schema.',
    );
    expect(tool({ ...named, inputSchema, jsonSchema: { type: 'object' } }).inputSchema).toEqual({
      type: 'object',
    });
  });
});

const wrong: readonly (readonly [string, object])[] = [
  ['a name with a space', { name: 'a b' }],
  ['no name', { name: '' }],
  ['a name that is too long', { name: 'x'.repeat(65) }],
  ['no time', { timeoutSeconds: 0 }],
  ['no number', { timeoutSeconds: Number.NaN }],
];
test.each(wrong)('%s is misuse', (_, init) => {
  const make = () => tool({ name: 'x', description: '', inputSchema: {}, execute: () => null, ...init });
  expect(make).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
});
