import { runInNewContext } from 'node:vm';
import { structuredOutput, tool, type JsonObject, type JsonValue } from '@holdfast/core';
import type { AiSdkSchema } from '@holdfast/core/driver';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { observe } from '../../support/builders.ts';

const validate = (inputSchema: JsonObject, input: JsonValue) =>
  tool({ name: 'x', description: '', inputSchema, execute: () => null }).validate(input);

describe('arguments by JSON Schema: the problem that a model reads', () => {
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

describe('arguments by JSON Schema: all problems are listed at once', () => {
  const text = { type: 'string', minLength: 2, pattern: '^[a-z]+$' } as const;
  const trip: JsonObject = {
    type: 'object',
    properties: {
      to: text,
      seats: { type: 'integer', minimum: 1 },
      stops: {
        type: 'array',
        items: { type: 'object', properties: { at: text }, required: ['at'] },
        maxItems: 2,
      },
      'paid by': { enum: ['card', 'cash'] },
    },
    required: ['to', 'seats', 'stops'],
    additionalProperties: false,
  };
  const either: JsonObject = {
    anyOf: [
      {
        type: 'object',
        properties: { kind: { const: 'a' }, n: { type: 'number' } },
        required: ['kind', 'n'],
      },
      { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
    ],
  };
  const rows: readonly (readonly [name: string, JsonObject, JsonValue, problems: readonly string[]])[] = [
    [
      'several members',
      trip,
      { to: 7, seats: 0, stops: [] },
      ['to: expected string, found number 7', 'seats: expected at least 1, found number 0'],
    ],
    [
      'missing members beside wrong ones',
      trip,
      { to: 7 },
      ['seats: required, but missing', 'stops: required, but missing', 'to: expected string, found number 7'],
    ],
    [
      'several problems of one value',
      trip,
      { to: 'A', seats: 1, stops: [] },
      [
        'to: expected a string that matches ^[a-z]+$, found string "A"',
        'to: expected at least 2 characters, found number 1',
      ],
    ],
    [
      'inside of lists, with their paths',
      trip,
      { to: 'ulm', seats: 1, stops: [{ at: 1 }, {}, { at: 'bonn' }] },
      [
        'stops[0].at: expected string, found number 1',
        'stops[1].at: required, but missing',
        'stops: expected at most 2 items, found number 3',
      ],
    ],
    [
      'unknown members and odd names',
      trip,
      { to: 'ulm', seats: 1, stops: [], a: 1, 'paid by': 'x', b: 2 },
      [
        'a: not a known property (known: to, seats, stops, paid by)',
        '["paid by"]: expected one of ["card","cash"], found string "x"',
        'b: not a known property (known: to, seats, stops, paid by)',
      ],
    ],
    [
      'a value of another type: its type only',
      { type: 'string', enum: ['a'] },
      5,
      ['the arguments: expected string, found number 5'],
    ],
    [
      'all of several',
      { allOf: [{ required: ['a'] }, { required: ['b'] }], required: ['c'] },
      {},
      ['c: required, but missing', 'a: required, but missing', 'b: required, but missing'],
    ],
    [
      'a value that fits no alternative: the problems of each',
      either,
      { kind: 'c' },
      [
        'n: required, but missing and kind: expected one of ["a"], found string "c"; ' +
          'or kind: expected one of ["b"], found string "c"',
      ],
    ],
    [
      'alternatives with the same problem',
      { anyOf: [{ required: ['a'] }, { required: ['a'], minProperties: 1 }] },
      {},
      ['a: required, but missing'],
    ],
    [
      'too many of several',
      { oneOf: [{}, { type: 'number' }] },
      1,
      ['the arguments: expected a value that fits exactly one alternative, found number 1'],
    ],
    [
      'what it must not be',
      { not: { type: 'number' } },
      1,
      ['the arguments: expected a value that the schema does not exclude, found number 1'],
    ],
    [
      'a limit on both sides',
      { exclusiveMinimum: 2, minimum: 3, maximum: 0 },
      1,
      [
        'the arguments: expected more than 2, found number 1',
        'the arguments: expected at least 3, found number 1',
        'the arguments: expected at most 0, found number 1',
      ],
    ],
  ];
  test.each(rows)('%s', async (_, schema, input, problems) => {
    expect(await validate(schema, input)).toEqual({ problem: problems.join('; ') });
  });

  const list: JsonObject = { type: 'array', items: { type: 'number' } };
  const wrongItems = (count: number): string[] => Array.from({ length: count }, () => 'x');
  const problemsOf = async (input: JsonValue): Promise<readonly string[]> => {
    const found = await validate(list, input);
    return 'problem' in found ? found.problem.split('; ') : [];
  };

  test('up to 20 problems', async () => {
    expect(await problemsOf(wrongItems(20))).toHaveLength(20);
    const many = await problemsOf(wrongItems(10_000));
    expect(many).toHaveLength(21);
    expect(many.at(19)).toBe('[19]: expected number, found string "x"');
    expect(many.at(20)).toBe('further problems are not listed');
  });

  test('for a Standard Schema too', async () => {
    const inputSchema = z.array(z.number());
    const made = tool({ name: 'x', description: '', inputSchema, execute: () => null });
    const found = await made.validate(wrongItems(30));
    const problems = 'problem' in found ? found.problem.split('; ') : [];
    expect([problems.length, problems.at(20)]).toEqual([21, 'further problems are not listed']);
  });

  test('of at most 2,000 characters each', async () => {
    const made = tool({ name: 'x', description: '', inputSchema: z.strictObject({}), execute: () => null });
    const unknown = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`member${at}`, at]));
    const found = await made.validate(unknown);
    expect('problem' in found ? found.problem : '').toMatch(/^Unrecognized keys: "member0".{1900,2000}…$/);
  });

  test('in the error that a model reads', async () => {
    const made = tool({ name: 'book', description: '', inputSchema: trip, execute: () => null });
    const script = [{ calls: { book: { to: 7, seats: 0, stops: [] } } }, 'Sorry.'] as const;
    const { state } = await observe({ script, tools: [made] });
    expect(state.lastToolExecution?.error).toMatchObject({
      code: 'TOOL_ARGUMENTS_INVALID',
      message:
        'The arguments of tool "book" are not valid: to: expected string, found number 7; ' +
        'seats: expected at least 1, found number 0.',
    });
  });
});

describe('arguments by Standard Schema', () => {
  const named = { name: 'x', description: '', execute: () => null };

  test('are the output of the schema', async () => {
    const made = tool({
      ...named,
      inputSchema: z.object({ a: z.string().transform((text) => text.length) }),
    });
    expect(await made.validate({ a: 'four' })).toEqual({ value: { a: 4 } });
    expect(made.inputSchema).toMatchObject({ type: 'object', required: ['a'] });
  });

  test('are shown as closed objects at every level, and checked by the schema', async () => {
    const open = z.object({
      list: z.array(z.object({ a: z.string() })),
      rest: z.record(z.string(), z.object({})),
    });
    const made = tool({ ...named, inputSchema: open });
    expect(made.inputSchema).toMatchObject({
      additionalProperties: false,
      properties: {
        list: { items: { additionalProperties: false } },
        rest: { additionalProperties: { additionalProperties: false } },
      },
    });
    expect(await made.validate({ list: [{ a: 'x', b: 1 }], rest: {}, more: 1 })).toEqual({
      value: { list: [{ a: 'x' }], rest: {} },
    });
  });

  test('may be checked asynchronously', async () => {
    const made = tool({
      ...named,
      inputSchema: z.object({ a: z.string().refine(async (text) => text === 'yes') }),
    });
    expect(await made.validate({ a: 'yes' })).toEqual({ value: { a: 'yes' } });
    expect(await made.validate({ a: 'no' })).toEqual({ problem: 'a: Invalid input' });
  });

  test('may be checked by a promise of another realm', async () => {
    const made = (result: unknown) => {
      const validate = () => runInNewContext('Promise.resolve(result)', { result }) as never;
      const inputSchema = { '~standard': { version: 1, vendor: 'mine', validate } } as const;
      return tool({ ...named, inputSchema, jsonSchema: {} }).validate({});
    };
    expect(await made({ value: 1 })).toEqual({ value: 1 });
    expect(await made({ issues: [{ message: 'refused' }] })).toEqual({ problem: 'refused' });
  });

  test('need a JSON Schema when the schema cannot describe itself', () => {
    const standard = { version: 1, vendor: 'mine', validate: (value: unknown) => ({ value }) } as const;
    const inputSchema = { '~standard': standard };
    expect(() => tool({ ...named, inputSchema })).toThrow(
      'The mine schema of tool "x" has no JSON Schema form.',
    );
    expect(tool({ ...named, inputSchema, jsonSchema: { type: 'object' } }).inputSchema).toEqual({
      type: 'object',
    });
  });
});

/** A schema as the AI SDK makes it; `packages/driver-ai-sdk` has a test with the AI SDK itself. */
function aiSdkSchema(members: object): AiSdkSchema<{ readonly a: number }> {
  const marked = { [Symbol.for('vercel.ai.schema')]: true, _type: undefined, validate: undefined };
  // As they are: one of them may be a getter that throws.
  const schema = Object.defineProperties(marked, Object.getOwnPropertyDescriptors(members));
  return schema as unknown as AiSdkSchema<{ readonly a: number }>;
}

describe('arguments by a schema of the AI SDK', () => {
  const named = { name: 'x', description: '', execute: () => null };
  const shown = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const;

  test('are checked by the JSON Schema when the schema has no check', async () => {
    const made = tool({ ...named, inputSchema: aiSdkSchema({ jsonSchema: shown }) });
    expect(made.inputSchema).toEqual(shown);
    expect(await made.validate({ a: 1 })).toEqual({ value: { a: 1 } });
    expect(await made.validate({})).toEqual({ problem: 'a: required, but missing' });
  });

  const fails = (error: unknown) => () => ({ success: false, error });
  const checks: readonly (readonly [string, validate: (value: unknown) => unknown, expected: object])[] = [
    ['a value', () => ({ success: true, value: { a: 2 } }), { value: { a: 2 } }],
    ['a value, later', async () => ({ success: true, value: { a: 2 } }), { value: { a: 2 } }],
    ['an error', fails(new Error('no good')), { problem: 'no good' }],
    [
      'an error, later',
      async () => ({ success: false, error: new Error('no good') }),
      { problem: 'no good' },
    ],
    [
      'an error with issues',
      fails(
        Object.assign(new Error('no'), { issues: [{ message: 'odd', path: ['a', 0] }, { message: 'bad' }] }),
      ),
      { problem: 'a.0: odd; bad' },
    ],
    [
      'an error whose cause is a list of issues',
      fails(new Error('no', { cause: [{ message: 'odd', path: [{ key: 'a' }] }] })),
      { problem: 'a: odd' },
    ],
    ['something that is not an error', fails('no good'), { problem: 'no good' }],
  ];
  test.each(checks)('are checked by the schema’s own check: %s', async (_, check, expected) => {
    const made = tool({ ...named, inputSchema: aiSdkSchema({ jsonSchema: shown, validate: check }) });
    expect(await made.validate({ a: 1 })).toEqual(expected);
  });

  const refused: readonly (readonly [string, unknown, message: string])[] = [
    [
      'with a promise of its JSON Schema',
      aiSdkSchema({ jsonSchema: Promise.resolve(shown) }),
      'The AI SDK schema of tool "x" has a promise instead of a JSON Schema. Pass "jsonSchema" beside the schema.',
    ],
    [
      'that has no JSON Schema',
      aiSdkSchema({
        get jsonSchema() {
          throw new Error('No conversion.');
        },
      }),
      'The AI SDK schema of tool "x" has no JSON Schema form: No conversion. Pass "jsonSchema" beside the schema.',
    ],
    [
      'without its mark',
      { jsonSchema: shown, validate: undefined },
      'found an object with a member "jsonSchema".',
    ],
    ['that is a function', () => aiSdkSchema({ jsonSchema: shown }), 'found a function.'],
    ['that is a string', 'number', 'found string "number".'],
    ['that is a list', [shown], 'found an array of 1.'],
    ['that is absent', undefined, 'found nothing.'],
  ];
  test.each(refused)('are refused with a schema %s', (_, inputSchema, message) => {
    const error = { code: 'TOOL_SCHEMA_INVALID', message: expect.stringContaining(message) };
    expect(() => tool({ ...named, inputSchema: inputSchema as JsonObject })).toThrow(
      expect.objectContaining(error),
    );
    const output = { ...error, code: 'OUTPUT_SCHEMA_INVALID' };
    expect(() => structuredOutput(inputSchema as JsonObject)).toThrow(
      expect.objectContaining({
        ...output,
        message: expect.stringContaining(message.replace('tool "x"', 'the output')),
      }),
    );
  });

  test('are accepted with a promise of a JSON Schema and a JSON Schema beside it', async () => {
    const inputSchema = aiSdkSchema({ jsonSchema: Promise.resolve(shown) });
    const made = tool({ ...named, inputSchema, jsonSchema: shown });
    expect(made.inputSchema).toEqual(shown);
    expect(await made.validate({})).toEqual({ problem: 'a: required, but missing' });
  });

  test('may have a JSON Schema with a member "jsonSchema"', () => {
    const inputSchema = { type: 'object', jsonSchema: 'draft-07' };
    expect(tool({ ...named, inputSchema }).inputSchema).toEqual(inputSchema);
  });

  test('are checked in the same way for a structured output', async () => {
    const output = structuredOutput(aiSdkSchema({ jsonSchema: shown }), { maxRepairs: 0 });
    const { state } = await observe({ script: ['{"a":1}'], hooks: [output] });
    expectTypeOf(output.read(state)).toEqualTypeOf<{ readonly a: number }>();
    expect(output.read(state)).toEqual({ a: 1 });
  });
});

const wrong: readonly (readonly [string, object])[] = [
  ['a name with a space', { name: 'a b' }],
  ['no name', { name: '' }],
  ['a name that is too long', { name: 'x'.repeat(65) }],
  ['no time', { timeoutSeconds: 0 }],
  ['no number', { timeoutSeconds: Number.NaN }],
  [
    'a generator',
    {
      *execute() {
        yield 1;
      },
    },
  ],
  [
    'an async generator',
    {
      async *execute() {
        yield 1;
      },
    },
  ],
];
test.each(wrong)('%s is refused', (_, init) => {
  const make = () => tool({ name: 'x', description: '', inputSchema: {}, execute: () => null, ...init });
  expect(make).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
});
