import assert from 'node:assert/strict';
import type { Instant } from '@holdfast/core';
import { ACME, callOf, GRANTED, ledgerCase } from './ledger-case.ts';

/** An instant, and the beginnings and ends of its hour, day and month. */
const CALENDAR: readonly (readonly [Instant, ...(readonly [Instant, Instant])[]])[] = [
  [
    Date.UTC(2028, 1, 29, 23, 59, 59, 999),
    [Date.UTC(2028, 1, 29, 23), Date.UTC(2028, 2, 1)],
    [Date.UTC(2028, 1, 29), Date.UTC(2028, 2, 1)],
    [Date.UTC(2028, 1, 1), Date.UTC(2028, 2, 1)],
  ],
  [
    Date.UTC(2028, 11, 31, 12),
    [Date.UTC(2028, 11, 31, 12), Date.UTC(2028, 11, 31, 13)],
    [Date.UTC(2028, 11, 31), Date.UTC(2029, 0, 1)],
    [Date.UTC(2028, 11, 1), Date.UTC(2029, 0, 1)],
  ],
  [
    Date.UTC(2100, 1, 28, 23, 30),
    [Date.UTC(2100, 1, 28, 23), Date.UTC(2100, 2, 1)],
    [Date.UTC(2100, 1, 28), Date.UTC(2100, 2, 1)],
    [Date.UTC(2100, 1, 1), Date.UTC(2100, 2, 1)],
  ],
];

export const windowCases = [
  ledgerCase('windows are hours, days and months of the calendar, UTC', async ({ ledger, clock, settle }) => {
    for (const [at, hour, day, month] of CALENDAR) {
      clock.time = at;
      await settle(`at ${at}`, 0.1);
      const found = await ledger.read(ACME);
      const bounds = [found.hour, found.day, found.month].map(({ since, until }) => [since, until]);
      assert.deepEqual(bounds, [hour, day, month]);
    }
    const { spent, until } = (await ledger.read(ACME)).total;
    assert.deepEqual({ spent, until }, { spent: 0.3, until: undefined });
  }),
  ledgerCase('a window that ends leaves the longer windows as they are', async (context) => {
    const { clock, settle, assertSpending, reserve } = context;
    await settle('a', 0.5);
    clock.time = Date.UTC(2027, 0, 31, 11);
    await assertSpending(0, 0, 'hour');
    await assertSpending(0.5, 0, 'day');
    await settle('b', 0.5);
    await assertSpending(0.5, 0, 'hour');
    await assertSpending(1, 0, 'day');
    assert.equal((await reserve('c', 0.5)).isReserved, false);
    clock.time = Date.UTC(2027, 1, 1);
    for (const window of ['hour', 'day', 'month'] as const) await assertSpending(0, 0, window);
    await assertSpending(1, 0, 'total');
    assert.deepEqual(await reserve('c', 0.5), GRANTED);
  }),
  ledgerCase('a call that ends in the next window counts there, and its reservation too', async (context) => {
    const { clock, reserve, settle, assertSpending } = context;
    clock.time = Date.UTC(2027, 0, 31, 23, 59, 30);
    await reserve('a', 0.75);
    clock.time += 30_000;
    await assertSpending(0, 0.75, 'month');
    assert.equal((await reserve('b', 0.5)).isReserved, false);
    await settle('a', 0.5);
    for (const window of ['hour', 'day', 'month', 'total'] as const) await assertSpending(0.5, 0, window);
  }),
  ledgerCase('a clock that goes back empties no window', async (context) => {
    const { ledger, clock, settle, assertSpending, reserve } = context;
    await settle('a', 0.5);
    clock.time = Date.UTC(2027, 1, 1);
    await settle('b', 0.75);
    clock.time -= 1;
    await assertSpending(0.75, 0);
    assert.equal((await reserve('c', 0.5)).isReserved, false);
    await settle('d', 0.125);
    clock.time += 1;
    await assertSpending(0.875, 0);
    await ledger.release(callOf('a'));
    await assertSpending(1.375, 0, 'total');
  }),
];
