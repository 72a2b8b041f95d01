import assert from 'node:assert/strict';
import { HOSTILE_IDS } from '../store/case/hostile-ids.ts';
import { ACME, callOf, GRANTED, ledgerCase } from './ledger-case.ts';

const VALID = { ...callOf('a'), amount: 0.5, limits: { day: 1 }, expiresInSeconds: 60 };
const WRONG: readonly object[] = [
  { owner: '' },
  { owner: 'x'.repeat(1_001) },
  { owner: 'lone \ud800' },
  { owner: undefined },
  { inferenceId: '' },
  { inferenceId: 'x'.repeat(201) },
  { inferenceId: '\udc00' },
  { amount: -0.01 },
  { amount: Number.NaN },
  { amount: Number.POSITIVE_INFINITY },
  { amount: 9_007_200 },
  { amount: '1' },
];
const WRONG_RESERVATIONS: readonly object[] = [
  ...WRONG,
  { limits: { week: 1 } },
  { limits: { day: -1 } },
  { limits: undefined },
  { expiresInSeconds: 0 },
  { expiresInSeconds: Number.NaN },
];

export const ledgerValueCases = [
  ledgerCase('amounts add without rounding errors, down to a nano-dollar', async (context) => {
    const { reserve, settle, assertSpending } = context;
    for (let index = 0; index < 30; index++) await settle(`tenth ${index}`, 0.1);
    await assertSpending(3, 0);
    await reserve('a', 0.000_000_001, { limits: { day: 3.000_000_001 } });
    await reserve('b', 0.2, { limits: {} });
    await assertSpending(3, 0.200_000_001);
    await settle('a', 0.000_000_002);
    await assertSpending(3.000_000_002, 0.2);
  }),
  ledgerCase('a window counts amounts of millions, and no more than it can count', async (context) => {
    const { settle, assertSpending } = context;
    await settle('a', 5_000_000.000_000_1);
    await assertSpending(5_000_000.000_000_1, 0);
    await settle('b', 9_007_199);
    await assertSpending(9_007_199.254_740_991, 0);
    await settle('c', 1);
    await assertSpending(9_007_199.254_740_991, 0);
  }),
  ledgerCase('every text is an owner of its own', async ({ ledger }) => {
    const amountOf = (index: number): number => (index + 1) / 1_000;
    for (const [index, owner] of HOSTILE_IDS.entries()) {
      const amount = amountOf(index);
      await ledger.reserve({ owner, inferenceId: 'reserved', amount, limits: {}, expiresInSeconds: 60 });
      await ledger.settle({ owner, inferenceId: 'a', amount });
    }
    for (const [index, owner] of HOSTILE_IDS.entries()) {
      const { spent, reserved } = (await ledger.read(owner)).total;
      assert.deepEqual([owner, spent, reserved], [owner, amountOf(index), amountOf(index)]);
    }
  }),
  ledgerCase('every text is a call of its own', async ({ reserve, settle, assertSpending }) => {
    const ids = HOSTILE_IDS.filter((id) => id.length <= 200);
    for (const id of ids) assert.deepEqual(await reserve(id, 0.01, { limits: {} }), GRANTED);
    await assertSpending(0, ids.length / 100);
    for (const id of [...ids, ...ids]) await settle(id, 0.001);
    await assertSpending(ids.length / 1_000, 0);
  }),
  ledgerCase('invalid arguments are refused and change nothing', async ({ ledger, assertSpending }) => {
    const invalid = { code: 'ARGUMENT_INVALID' };
    for (const wrong of WRONG_RESERVATIONS)
      await assert.rejects(ledger.reserve({ ...VALID, ...wrong }), invalid, JSON.stringify(wrong));
    for (const wrong of WRONG)
      await assert.rejects(ledger.settle({ ...callOf('a'), amount: 0.5, ...wrong }), invalid);
    await assert.rejects(ledger.release({ owner: '\ud800', inferenceId: 'a' }), invalid);
    await assert.rejects(ledger.read(''), invalid);
    await assertSpending(0, 0, 'total');
  }),
  ledgerCase('a closed ledger refuses every call', async ({ ledger, reserve, settle }) => {
    await ledger.close();
    await ledger.close();
    const closed = { code: 'STORE_UNAVAILABLE' };
    await assert.rejects(reserve('a', 0.5), closed);
    await assert.rejects(settle('a', 0.5), closed);
    await assert.rejects(ledger.release(callOf('a')), closed);
    await assert.rejects(ledger.read(ACME), closed);
  }),
];
