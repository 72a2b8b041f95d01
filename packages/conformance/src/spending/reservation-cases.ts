import assert from 'node:assert/strict';
import { ACME, GRANTED, ledgerCase, LEDGER_START } from './ledger-case.ts';

const NANO = 0.000_000_001;
const DAY_END = Date.UTC(2027, 1, 1);

export const reservationCases = [
  ledgerCase('a reservation counts in every window, and a new owner has none', async (context) => {
    const { ledger, reserve, assertSpending } = context;
    await assertSpending(0, 0);
    assert.deepEqual(await reserve('a', 0.25), GRANTED);
    for (const window of ['hour', 'day', 'month', 'total'] as const) await assertSpending(0, 0.25, window);
    assert.equal((await ledger.read(ACME)).total.since, LEDGER_START);
  }),
  ledgerCase('an amount that reaches the limit fits, and a nano-dollar more does not', async (context) => {
    const { reserve, assertSpending } = context;
    assert.equal((await reserve('a', 1 + NANO)).isReserved, false);
    assert.deepEqual(await reserve('b', 1), GRANTED);
    assert.equal((await reserve('c', NANO)).isReserved, false);
    assert.deepEqual(await reserve('d', 0), GRANTED);
    await assertSpending(0, 1);
  }),
  ledgerCase(
    'a refusal states the window, its amounts and its end, and reserves nothing',
    async (context) => {
      const { reserve, settle, assertSpending } = context;
      await settle('a', 0.5);
      await reserve('b', 0.25);
      const refusal = { window: 'day', limit: 1, spent: 0.5, reserved: 0.25, until: DAY_END };
      assert.deepEqual(await reserve('c', 0.26), { isReserved: false, refusal });
      await assertSpending(0.5, 0.25);
      assert.deepEqual(await reserve('d', 0.25), GRANTED);
    },
  ),
  ledgerCase(
    'every window has a limit of its own, and the refusal names the window that ends last',
    async (context) => {
      const { reserve, settle } = context;
      await settle('a', 0.5);
      for (const window of ['hour', 'day', 'month', 'total'] as const) {
        const result = await reserve(`tight ${window}`, 0.1, { limits: { hour: 9, [window]: 0.5 } });
        assert.equal(result.isReserved ? undefined : result.refusal.window, window);
      }
      const limits = { hour: 0.5, day: 0.5, month: 0.5, total: 9 };
      const refusal = { window: 'month', limit: 0.5, spent: 0.5, reserved: 0, until: DAY_END };
      assert.deepEqual(await reserve('b', 0.1, { limits }), { isReserved: false, refusal });
      const total = { window: 'total', limit: 0.5, spent: 0.5, reserved: 0, until: undefined };
      const all = { ...limits, total: 0.5 };
      assert.deepEqual(await reserve('c', 0.1, { limits: all }), { isReserved: false, refusal: total });
    },
  ),
  ledgerCase('without limits every amount is reserved and counts', async ({ reserve, assertSpending }) => {
    assert.deepEqual(await reserve('a', 1_000, { limits: {} }), GRANTED);
    assert.deepEqual(await reserve('b', 1_000, { limits: { day: undefined } }), GRANTED);
    await assertSpending(0, 2_000);
  }),
  ledgerCase(
    'a repeated reservation of a call reserves once, also when nothing more fits',
    async (context) => {
      const { reserve, assertSpending } = context;
      await reserve('a', 0.75);
      assert.deepEqual(await reserve('a', 0.75), GRANTED);
      await assertSpending(0, 0.75);
      await reserve('b', 0.25);
      assert.deepEqual(await reserve('a', 0.75), GRANTED);
      await assertSpending(0, 1);
    },
  ),
  ledgerCase('a repeated reservation of a settled call reserves nothing', async (context) => {
    const { reserve, settle, assertSpending } = context;
    await reserve('a', 0.75);
    await settle('a', 1);
    assert.deepEqual(await reserve('a', 0.75), GRANTED);
    await assertSpending(1, 0);
  }),
  ledgerCase('a refused call can be reserved later', async (context) => {
    const { ledger, reserve, assertSpending } = context;
    await reserve('a', 1);
    assert.equal((await reserve('b', 0.5)).isReserved, false);
    await ledger.release({ owner: ACME, inferenceId: 'a' });
    assert.deepEqual(await reserve('b', 0.5), GRANTED);
    await assertSpending(0, 0.5);
  }),
];
