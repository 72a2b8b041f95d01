import { runThroughOutage } from '@holdfast/conformance/test';
import { systemClock } from '@holdfast/core';
import { expect, test } from 'vitest';
import { throttled } from './support/request-proxy.ts';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase();

test('the outcome of a call is saved as soon as the table accepts requests again', async () => {
  const after = (_: number, callback: () => void): (() => void) => {
    const timer = setImmediate(callback); // a pause of the store itself
    return () => clearImmediate(timer);
  };
  const store = await database.newStore({ clock: { ...systemClock, after }, maxAttempts: 1 });
  const outage = {
    begin: () => {
      database.proxy.fault = async () => throttled();
    },
    end: () => {
      database.proxy.fault = undefined;
    },
  };
  const { session, starts, pauses } = await runThroughOutage(store, outage);
  expect([starts, pauses, session.state.finalResponse]).toEqual([1, 6, 'Paid.']);
  const [execution] = session.state.steps[0]?.toolExecutions ?? [];
  expect([execution?.outcome?.type, execution?.attempt]).toEqual(['succeeded', 1]);
});
