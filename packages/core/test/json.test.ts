import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentState, hasErrorCode, HoldfastError, StateFormatError } from '@holdfast/core';
import { roundedInteger, toJsonObject, toJsonValue } from '@holdfast/core/driver';
import { fasterGrowth, repeated } from '../../../tools/config/vitest.growth.ts';
import { cases } from '../../../tools/config/vitest.properties.ts';
import { expectDeeplyFrozen, jsonValues } from './support/arbitraries.ts';

const runs = cases(500);
/** What JSON itself makes of a value, `null` for nothing. */
const throughText = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null');

test('a JSON value is copied, frozen and equal', () => {
  fc.assert(
    fc.property(jsonValues, (value) => {
      const copy = toJsonValue(value);
      assert.deepStrictEqual(copy, throughText(value));
      expectDeeplyFrozen(copy);
      expect(toJsonValue(copy)).toBe(copy);
    }),
    runs,
  );
});

test('any value is converted as by JSON.stringify', () => {
  const anything = fc.anything({
    withDate: true,
    withBoxedValues: true,
    withSparseArray: true,
    withNullPrototype: true,
  });
  fc.assert(
    fc.property(anything, (value) => assert.deepStrictEqual(toJsonValue(value), throughText(value))),
    runs,
  );
});

const odd: readonly (readonly [name: string, value: unknown])[] = [
  ['nothing', undefined],
  ['a function', () => 1],
  ['a symbol', Symbol('x')],
  ['not a number', [Number.NaN, Infinity, -0]],
  ['dates', { at: new Date(0), bad: new Date(Number.NaN) }],
  [
    'a toJSON that returns its own object',
    Object.assign(
      Object.create({
        toJSON() {
          return this as unknown;
        },
      }) as object,
      { a: 1 },
    ),
  ],
  ['a toJSON that returns an object with a toJSON', { toJSON: () => ({ toJSON: () => 1, b: 2 }) }],
  [
    'a toJSON that receives its key',
    [{ toJSON: (key: string) => key }, { a: { toJSON: (key: string) => key } }],
  ],
  ['a toJSON that is not a function', { toJSON: 1 }],
  ['holes', [1, , 3]], // oxlint-disable-line no-sparse-arrays
  ['holes inside', { a: [, [, 1]] }], // oxlint-disable-line no-sparse-arrays
  ['__proto__', JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":null}}')],
  [
    'an object of a class',
    new (class Row {
      readonly id = 1;
    })(),
  ],
  ['an object without members of its own', Object.create({ kind: 'row' })],
  ['hidden members', Object.defineProperty({ a: 1 }, 'b', { value: 2, enumerable: false })],
  ['another realm', runInNewContext('({ a: [1, { b: new Date(0) }] })')],
];
test.for(odd)('%s is converted as by JSON.stringify', ([, value]) =>
  assert.deepStrictEqual(toJsonValue(value), throughText(value)),
);

const circular: Record<string, unknown> = {};
circular['self'] = circular;
test.for<[string, unknown]>([
  ['a BigInt', 1n],
  ['a BigInt inside', { a: [1n] }],
  ['a cycle', circular],
  [
    'a toJSON that throws',
    {
      toJSON: () => {
        throw new TypeError('no');
      },
    },
  ],
  [
    'a getter that throws',
    {
      get a() {
        throw new TypeError('no');
      },
    },
  ],
])('%s is refused as not JSON', ([, value]) => {
  expect(() => toJsonValue(value)).toThrow(expect.objectContaining({ code: 'NOT_JSON' }));
});

test.for<[value: unknown, message: string]>([
  [new Map([[1, 2]]), 'JSON cannot hold the Map. Convert it with Object.fromEntries().'],
  [{ tags: new Set(['a']) }, 'JSON cannot hold the Set in "tags". Convert it with Array.from().'],
  [
    new Error('No such user.'),
    'JSON cannot hold the Error (No such user.). Throw it, or convert its message.',
  ],
  [
    [new RangeError('Too far.')],
    'JSON cannot hold the RangeError (Too far.) in "0". Throw it, or convert its message.',
  ],
  [
    new Response('{}', { status: 404, statusText: 'Not Found' }),
    'JSON cannot hold the Response (404 Not Found).',
  ],
  [{ at: Promise.resolve(1) }, 'JSON cannot hold the Promise in "at". Await it.'],
  [new Uint8Array([1, 2]), 'JSON cannot hold the Uint8Array.'],
  [new ArrayBuffer(2), 'JSON cannot hold the ArrayBuffer.'],
  [new Headers({ a: 'b' }), 'JSON cannot hold the Headers.'],
  [new URLSearchParams('a=b'), 'JSON cannot hold the URLSearchParams.'],
  [/a/, 'JSON cannot hold the RegExp.'],
  [new Blob(['a']), 'JSON cannot hold the Blob.'],
])('%o is refused, because JSON would lose it', ([value, message]) => {
  const pattern = new RegExp(`^${message.replaceAll(/[().]/g, String.raw`\$&`)}`);
  expect(() => toJsonValue(value)).toThrow(
    expect.objectContaining({ code: 'NOT_JSON', message: expect.stringMatching(pattern) }),
  );
});

test('only an object is a JSON object', () => {
  expect(toJsonObject({ a: 1 })).toEqual({ a: 1 });
  for (const value of [[], null, 'x', undefined, 5])
    expect(() => toJsonObject(value)).toThrow(expect.objectContaining({ code: 'NOT_JSON' }));
});

test('a copied value cannot change a prototype', () => {
  const copy = toJsonValue(JSON.parse('{"__proto__":{"polluted":true}}'));
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  expect(Object.keys(copy as object)).toEqual(['__proto__']);
});

describe('depth', () => {
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`);
  const nestedObject = (depth: number): unknown =>
    JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

  test.for([nested, nestedObject])('a value with 1,000 levels in a state can be read back', (make) => {
    const state = AgentState.empty().withMetadata('deep', make(1_000) as never);
    assert.deepStrictEqual(
      JSON.stringify(AgentState.fromJSON(JSON.parse(JSON.stringify(state)))),
      JSON.stringify(state),
    );
  });

  test.for([nested, nestedObject])(
    'a value of any depth is either refused at once or written and read',
    (make) => {
      for (let depth = 500; depth < 20_000; depth = Math.floor(depth * 1.2)) {
        let state: AgentState;
        try {
          state = AgentState.empty().withMetadata('deep', make(depth) as never);
        } catch (error) {
          assert.ok(hasErrorCode(error, 'NOT_JSON'));
          continue;
        }
        expect(AgentState.fromJSON(JSON.parse(JSON.stringify(state))).metadata.has('deep')).toBe(true);
      }
    },
  );

  test.for([nested, nestedObject])('a document with too many levels of nesting is a format error', (make) => {
    const document = {
      ...AgentState.empty().toJSON(),
      context: { metadata: { deep: make(100_000) }, sections: [] },
    };
    expect(() => AgentState.fromJSON(document)).toThrow(StateFormatError);
  });
});

describe('errors', () => {
  test('have a code, a cause, data and the name of their class', () => {
    const cause = new Error('why');
    const error = new HoldfastError('NOT_JSON', 'No.', { cause, data: { a: 1 } });
    expect([error.name, error.code, error.cause, error.data]).toEqual([
      'HoldfastError',
      'NOT_JSON',
      cause,
      { a: 1 },
    ]);
    expect(new HoldfastError('NOT_JSON', 'No.')).not.toHaveProperty('cause');
    expect(new StateFormatError('$.a', 'b', 'c')).toMatchObject({
      name: 'StateFormatError',
      path: '$.a',
      message: 'Invalid document at $.a: expected b, found c.',
    });
  });
  test.for<[unknown, boolean]>([
    [new HoldfastError('NOT_JSON', ''), true],
    [{ code: 'NOT_JSON' }, true],
    [new Error('NOT_JSON'), false],
    [{ code: 'OTHER' }, false],
    [null, false],
    ['NOT_JSON', false],
  ])('%o has the code: %s', ([error, has]) => expect(hasErrorCode(error, 'NOT_JSON')).toBe(has));
});

describe('a whole number that JSON.parse would round', () => {
  const rounded = [
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '1'.repeat(400),
    '9'.repeat(309),
  ];
  test.each(rounded)('is found wherever it stands: %s', (number) => {
    for (const text of [
      number,
      ` ${number} `,
      `{"a":[1,${number}]}`,
      `["\\"","${'0'.repeat(20)}",${number},2]`,
    ])
      expect(roundedInteger(text)).toBe(number);
    for (let space = 0; space < 20; space++)
      expect(roundedInteger(`[1,${' '.repeat(space)}${number},3]`)).toBe(number);
  });

  const others = [
    '9007199254740992',
    '-9007199254740991',
    '1152921504606846976',
    '12345678901234567000',
    '0.1234567890123456789',
    '52.520006599999998',
    '12345678901234567890.5',
    '1234567890123456789e2',
    '1e21',
    '0',
    '"12345678901234567890"',
    '{"12345678901234567890":"\\\\"}',
    '["a\\"12345678901234567890"]',
    '',
  ];
  test.each(others)('is not %s', (text) => {
    expect(roundedInteger(text)).toBeUndefined();
  });

  test('is in no text that JSON.stringify wrote', () => {
    const whole = fc
      .double({ noNaN: true })
      .map((value) => (Math.abs(value) < 1e25 ? Math.trunc(value) : value));
    fc.assert(
      fc.property(fc.oneof(jsonValues, fc.array(whole), fc.bigInt().map(Number)), (value) => {
        expect(roundedInteger(JSON.stringify(value))).toBeUndefined();
      }),
      runs,
    );
  });

  test('is found exactly when parsing and writing changes the digits', () => {
    const digits = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });
    fc.assert(
      fc.property(digits, (value) => {
        const number = Number(value);
        const isSame = String(number) === String(value) || BigInt(number) === value;
        expect(roundedInteger(`{"a":"x","b":${value}}`)).toBe(isSame ? undefined : String(value));
      }),
      runs,
    );
  });

  test('takes time in proportion to the text', async () => {
    const texts = [
      repeated('1'),
      repeated('\\"', '"', '"'),
      repeated('1', '["', '",12345678901234567890]'),
      repeated('123456789012345,', '[', '1]'),
    ];
    expect(await fasterGrowth(roundedInteger, texts)).toEqual([]);
  });
});
