import { describe, expect, test } from 'vitest';
import { AgentState, HoldfastError, invalidArgument, type ErrorRecord } from '@holdfast/core';
import { expectRoundTrip, START as T } from '../../support/arbitraries.ts';

const begun = AgentState.empty({ at: T }).withExecutionStatus('inProgress', T);
/** What a state keeps of something that was thrown. */
function kept(thrown: unknown): ErrorRecord | undefined {
  const state = begun.withError(thrown, T);
  expectRoundTrip(state);
  return state.errors[0];
}

const withToJson = { toJSON: () => JSON.parse('{') as unknown };
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

test.for<[string, unknown, ErrorRecord]>([
  ['an error', new RangeError('no'), { name: 'RangeError', message: 'no' }],
  [
    'an error with a code',
    invalidArgument('no'),
    { name: 'RangeError', message: 'no', code: 'ARGUMENT_INVALID' },
  ],
  [
    'an error with data',
    new HoldfastError('A', 'no', { data: { at: new Date(0) } }),
    { name: 'HoldfastError', message: 'no', code: 'A', data: { at: '1970-01-01T00:00:00.000Z' } },
  ],
  ['data that is not JSON', Object.assign(new Error('no'), { data: 1n }), { name: 'Error', message: 'no' }],
  [
    'data that throws',
    Object.assign(new Error('no'), { data: withToJson }),
    { name: 'Error', message: 'no' },
  ],
  ['a code that is a number', Object.assign(new Error('no'), { code: 5 }), { name: 'Error', message: 'no' }],
  ['a name that is a number', { name: 5, message: 'no' }, { name: 'Error', message: 'no' }],
  ['a message that is a number', { message: 5 }, { name: 'Error', message: '{"message":5}' }],
  ['a text', 'no', { name: 'Error', message: 'no' }],
  ['nothing', undefined, { name: 'Error', message: 'undefined' }],
  ['null', null, { name: 'Error', message: 'null' }],
  ['a symbol', Symbol('x'), { name: 'Error', message: 'Symbol(x)' }],
  ['a cycle', cyclic, { name: 'Error', message: 'The thrown value is not an error: an object.' }],
  ['an object', { id: 7 }, { name: 'Error', message: '{"id":7}' }],
  ['a BigInt', 10n, { name: 'Error', message: 'The thrown value is not an error: bigint 10.' }],
  ['a map', new Map(), { name: 'Error', message: 'Map' }],
  ['a map inside', { of: new Map() }, { name: 'Error', message: '{"of":{}}' }],
  [
    'a response',
    new Response('', { status: 503, statusText: 'Busy' }),
    { name: 'Error', message: 'Response (503 Busy)' },
  ],
  ['a long text', 'x'.repeat(5_000), { name: 'Error', message: `${'x'.repeat(4_000)}…` }],
  [
    'a cause that is a string',
    new Error('no', { cause: 'wind' }),
    { name: 'Error', message: 'no', cause: { name: 'Error', message: 'wind' } },
  ],
])('%s', ([, thrown, record]) => expect(kept(thrown)).toEqual(record));

describe('records of many errors are limited', () => {
  const errors = Array.from({ length: 10 }, (_, index) => new Error(`e${index}`));
  test('causes are followed eight deep', () => {
    let error = new Error('root');
    for (let depth = 9; depth >= 0; depth--) error = new Error(`e${depth}`, { cause: error });
    const messages: string[] = [];
    for (let record = kept(error); record !== undefined; record = record.cause) messages.push(record.message);
    expect(messages).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7', 'e8']);
  });
  test('an error that contains itself is followed eight levels deep', () => {
    const error = new AggregateError([], 'all');
    error.errors.push(error);
    let [depth, record] = [0, kept(error)];
    for (; record?.errors !== undefined; depth++) record = record.errors[0];
    expect(depth).toBe(8);
  });
  test('the first eight of several errors are in the record, in order', () => {
    expect(kept(new AggregateError(errors, 'all'))).toEqual({
      name: 'AggregateError',
      message: 'all',
      errors: errors.slice(0, 8).map(({ message }) => ({ name: 'Error', message })),
    });
  });
  test.for<[string, unknown]>([
    ['none', []],
    ['a value that is not a list', 'errors'],
    ['nothing', undefined],
  ])('%s is left out', ([, value]) => {
    expect(kept({ message: 'all', errors: value })).toEqual({ name: 'Error', message: 'all' });
  });
});
