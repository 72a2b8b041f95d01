import assert from 'node:assert/strict';
import { callOf, GRANTED, ledgerCase } from './ledger-case.ts';

const DAY_MS = 86_400_000;

export const settlementCases = [
  ledgerCase('a settlement replaces the reservation by the cost, whether less or more', async (context) => {
    const { reserve, settle, assertSpending } = context;
    await reserve('a', 0.5);
    await reserve('b', 0.25);
    await settle('a', 0.1);
    await assertSpending(0.1, 0.25);
    await settle('b', 5);
    for (const window of ['hour', 'day', 'month', 'total'] as const) await assertSpending(5.1, 0, window);
    assert.equal((await reserve('c', 0)).isReserved, false);
  }),
  ledgerCase('a second settlement of a call changes nothing', async (context) => {
    const { reserve, settle, assertSpending } = context;
    await reserve('a', 0.5);
    await settle('a', 0.25);
    await settle('a', 0.25);
    await settle('a', 0.75);
    await assertSpending(0.25, 0);
    await settle('b', 0.5);
    await settle('b', 0.5);
    await assertSpending(0.75, 0);
  }),
  ledgerCase('a second settlement changes nothing 31 days later', async (context) => {
    const { clock, settle, assertSpending } = context;
    await settle('a', 0.25);
    clock.time += DAY_MS;
    await settle('b', 0.25);
    clock.time += 30 * DAY_MS;
    await settle('a', 0.25);
    await assertSpending(0, 0, 'month');
    await assertSpending(0.5, 0, 'total');
  }),
  ledgerCase('a settlement without a reservation counts', async ({ settle, reserve, assertSpending }) => {
    await settle('a', 0.75);
    await assertSpending(0.75, 0);
    assert.equal((await reserve('b', 0.5)).isReserved, false);
  }),
  ledgerCase('a release ends the reservation of its call alone', async (context) => {
    const { ledger, reserve, settle, assertSpending } = context;
    await reserve('a', 0.5);
    await reserve('b', 0.25);
    await ledger.release(callOf('a'));
    await ledger.release(callOf('a'));
    await ledger.release(callOf('unknown'));
    await assertSpending(0, 0.25);
    await settle('b', 0.1);
    await ledger.release(callOf('b'));
    await settle('b', 0.1);
    await assertSpending(0.1, 0);
  }),
  ledgerCase('a settlement after a release counts once', async (context) => {
    const { ledger, reserve, settle, assertSpending } = context;
    await reserve('a', 0.5);
    await ledger.release(callOf('a'));
    await settle('a', 0.25);
    await settle('a', 0.25);
    await assertSpending(0.25, 0);
    assert.deepEqual(await reserve('b', 0.75), GRANTED);
  }),
];
