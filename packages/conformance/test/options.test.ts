import { driverTests, engineTests, sessionStoreCosts, sessionStoreTests } from '@holdfast/conformance';
import { MemorySessionStore } from '@holdfast/core';
import { expect, test } from 'vitest';

const createStore = async () => new MemorySessionStore();
const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) });

test.each<readonly [string, () => unknown, string]>([
  [
    'a store',
    () => sessionStoreTests(createStore, { reopn: createStore } as never),
    'did you mean "reopen"?',
  ],
  ['a store', () => sessionStoreTests(createStore, { faults: {} } as never), 'faults of abilities must be'],
  ['a store', () => sessionStoreTests({ createStore } as never), 'createStore must be a function'],
  [
    'an engine',
    () => engineTests(async () => ({}) as never, { clok: true } as never),
    'did you mean "clock"?',
  ],
  ['an engine', () => engineTests(undefined as never), 'createEngine must be a function'],
  ['a driver', () => driverTests({} as never), 'createDriver must be a function'],
])('an ability that would be missed is refused: of %s', (_, make, message) => {
  expect(make).toThrow(invalid(message));
});

test('invalid abilities are refused when costs are measured', async () => {
  await expect(sessionStoreCosts(createStore, { measure: 5 } as never)).rejects.toEqual(
    invalid('measure of abilities must be a function'),
  );
});
