import assert from 'node:assert/strict';
import { ACME, callOf, countGranted, GRANTED, ledgerCase } from './ledger-case.ts';

const limits = { day: 1 };

export const ledgerSharingCases = [
  ledgerCase('of 40 simultaneous reservations, as many succeed as fit', async (context) => {
    const { reserve, assertSpending } = context;
    const asked = Array.from({ length: 40 }, (_, index) => reserve(`call ${index}`, 0.1));
    assert.equal(countGranted(await Promise.all(asked)), 10);
    await assertSpending(0, 1);
  }),
  ledgerCase('of simultaneous repetitions, one counts', async ({ reserve, settle, assertSpending }) => {
    const same = Array.from({ length: 10 });
    assert.equal(countGranted(await Promise.all(same.map(() => reserve('a', 0.25)))), 10);
    await assertSpending(0, 0.25);
    await Promise.all(same.map(() => settle('a', 0.125)));
    await assertSpending(0.125, 0);
  }),
  ledgerCase('owners do not share limits', async ({ ledger, reserve, assertSpending }) => {
    const rich = { owner: 'rich', limits: { day: 100 } };
    await Promise.all([reserve('a', 1), reserve('a', 60, rich), reserve('b', 30, rich)]);
    assert.equal((await reserve('c', 11, rich)).isReserved, false);
    await ledger.settle({ owner: 'rich', inferenceId: 'a', amount: 50 });
    await assertSpending(0, 1);
    assert.equal((await ledger.read('rich')).day.spent, 50);
    assert.equal((await reserve('b', 0.1)).isReserved, false);
  }),
  ledgerCase(
    'another process has the same account',
    async ({ reserve, settle, assertSpending, reopened, clock }) => {
      await reserve('a', 0.5);
      await settle('b', 0.25);
      const other = await reopened();
      assert.equal((await other.read(ACME)).day.spent, 0.25);
      await other.settle({ ...callOf('b'), amount: 0.25 });
      const again = { ...callOf('a'), amount: 0.5, limits, expiresInSeconds: 60 };
      assert.deepEqual(await other.reserve(again), GRANTED);
      await other.settle({ ...callOf('a'), amount: 0.375 });
      await assertSpending(0.625, 0);
      await reserve('c', 0.25);
      clock.time += 60_000;
      const later = { ...callOf('d'), amount: 0.375, limits, expiresInSeconds: 60 };
      assert.deepEqual(await other.reserve(later), GRANTED);
      await other.close();
      await assertSpending(0.625, 0.375);
    },
    { needs: 'reopen' },
  ),
  ledgerCase(
    'processes that reserve at the same time share a limit',
    async ({ ledger, reopened, assertSpending }) => {
      const ledgers = [ledger, await reopened(), await reopened()];
      const asked = ledgers.flatMap((each, place) =>
        Array.from({ length: 10 }, (_, index) => {
          const call = callOf(`call ${index} of ${place}`);
          return each.reserve({ ...call, amount: 0.1, limits, expiresInSeconds: 60 });
        }),
      );
      assert.equal(countGranted(await Promise.all(asked)), 10);
      await assertSpending(0, 1);
    },
    { needs: 'reopen' },
  ),
];
