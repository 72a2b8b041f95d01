import assert from 'node:assert/strict';
import { GRANTED, ledgerCase } from './ledger-case.ts';

export const ledgerExpiryCases = [
  ledgerCase('a reservation is free at the instant at which it expires, and not before', async (context) => {
    const { clock, reserve, assertSpending } = context;
    await reserve('a', 1);
    clock.time += 59_999;
    await assertSpending(0, 1);
    assert.equal((await reserve('b', 0.5)).isReserved, false);
    clock.time += 1;
    await assertSpending(0, 0);
    assert.deepEqual(await reserve('b', 0.5), GRANTED);
    await assertSpending(0, 0.5);
  }),
  ledgerCase('each reservation expires at its own instant', async ({ clock, reserve, assertSpending }) => {
    await reserve('long', 0.25, { expiresInSeconds: 300 });
    await reserve('short', 0.5, { expiresInSeconds: 0.5 });
    clock.time += 30_000;
    await reserve('later', 0.125);
    clock.time += 30_000;
    await assertSpending(0, 0.375);
    clock.time += 240_000;
    await assertSpending(0, 0);
  }),
  ledgerCase('a settlement after the expiry of its reservation counts', async (context) => {
    const { clock, reserve, settle, assertSpending } = context;
    await reserve('a', 0.5);
    clock.time += 60_000;
    await reserve('b', 0.75);
    await settle('a', 0.5);
    await settle('a', 0.5);
    await assertSpending(0.5, 0.75);
  }),
  ledgerCase('a repeated reservation does not prolong the first one', async (context) => {
    const { clock, reserve, assertSpending } = context;
    await reserve('a', 0.5);
    clock.time += 30_000;
    await reserve('a', 0.5);
    clock.time += 30_000;
    await assertSpending(0, 0);
    assert.deepEqual(await reserve('a', 0.75), GRANTED);
    await assertSpending(0, 0.75);
  }),
];
