import {
  driverTests,
  engineTests,
  runWorkerProcess,
  sessionStoreCosts,
  sessionStoreTests,
} from '@holdfast/conformance';
import { expect, test } from 'vitest';

const create = async () => expect.fail('This test creates nothing.');
const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) });

const HARNESSES: Readonly<Record<string, (harness: never) => unknown>> = {
  'a store': sessionStoreTests,
  'a driver': driverTests,
  'an engine': engineTests,
};

test.each<readonly [kind: keyof typeof HARNESSES, harness: unknown, message: string]>([
  ['a store', { create, reopn: create }, 'has no option "reopn": did you mean "reopen"?'],
  ['a store', { create, faults: {} }, 'faults of the harness of a store must be'],
  [
    'a store',
    { create, limitSeconds: 0 },
    'limitSeconds of the harness of a store must be a number of seconds',
  ],
  ['a store', { createStore: create }, 'did you mean "create"?'],
  ['a store', {}, 'create of the harness of a store must be a function'],
  [
    'a store',
    create,
    'Known options: create, limitSeconds, reopen, measure, faults, remember, corrupt, countRows, indexedFilters, ',
  ],
  ['a store', { create, indexedFilters: ['owners'] }, 'indexedFilters of the harness of a store must be'],
  ['a store', { create, manySessions: 300 }, 'manySessions of the harness of a store must be'],
  ['an engine', { create, clok: true }, 'did you mean "clock"?'],
  ['an engine', { create, limitSeconds: '9' }, 'limitSeconds of the harness of an engine must be'],
  ['an engine', { create: undefined }, 'create of the harness of an engine must be a function'],
  ['an engine', { create, processes: true }, 'processes of the harness of an engine must be'],
  ['a driver', { create, streamin: true }, 'did you mean "streaming"?'],
  ['a driver', { create, refusals: ['overloded'] }, 'refusals of the harness of a driver must be'],
  ['a driver', create, 'the harness of a driver takes an object with options, found a function.'],
])('an invalid harness of %s is refused: %j', (kind, harness, message) => {
  expect(() => HARNESSES[kind]?.(harness as never)).toThrow(invalid(message));
});

test('an invalid harness is refused when costs are measured', async () => {
  await expect(sessionStoreCosts({ create, measure: 5 } as never)).rejects.toEqual(
    invalid('measure of the harness of a store must be a function'),
  );
});

test('a worker process without an engine is refused', () => {
  expect(() => runWorkerProcess({} as never)).toThrow(invalid('engine must be'));
});
