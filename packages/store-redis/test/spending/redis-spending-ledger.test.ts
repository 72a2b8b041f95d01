import { spendingLedgerTests, type CreateLedger } from '@holdfast/conformance';
import { manualClock } from '@holdfast/core/testing';
import { RedisSpendingLedger } from '@holdfast/store-redis';
import { describe, expect, test } from 'vitest';
import { testCases } from '@holdfast/conformance/vitest';
import { newPrefix, testServer } from '../support/harness.ts';

const server = testServer();
let prefix = '';

const reopen: CreateLedger = async (clock) => {
  const ledger = new RedisSpendingLedger({ client: server.client, clock, prefix });
  return { ledger, close: () => ledger.close() };
};

const create: CreateLedger = (clock) => {
  prefix = newPrefix();
  return reopen(clock);
};

testCases(spendingLedgerTests({ create, reopen }));

const CALL = { owner: 'acme', inferenceId: 'a' };

describe('the clock of the server', () => {
  test('determines windows and reservations', async () => {
    const ledger = new RedisSpendingLedger({ client: server.client, prefix: newPrefix() });
    const [seconds] = await server.client.time();
    await ledger.reserve({ ...CALL, amount: 0.5, limits: {}, expiresInSeconds: 3_600 });
    const { hour, total } = await ledger.read('acme');
    const since = total.since ?? 0;
    expect(Math.floor(since / 1_000) - Number(seconds)).toBeOneOf([0, 1, 2]);
    expect(hour).toEqual({
      spent: 0,
      reserved: 0.5,
      since: since - (since % 3_600_000),
      until: expect.any(Number),
    });
  });

  test('removes the ids of an owner that stays away', async () => {
    const prefix = newPrefix();
    const ledger = new RedisSpendingLedger({ client: server.client, prefix, keepIdsSeconds: 900 });
    await ledger.settle({ ...CALL, amount: 0.5 });
    const [key = ''] = await server.client.keys(`${prefix}:*:settled:acme`);
    const remaining = await server.client.pttl(key);
    expect(remaining).toBeGreaterThan(800_000);
    expect(remaining).toBeLessThanOrEqual(900_000);
  });
});

test('the ids of settled calls are removed when they need not be kept any longer', async () => {
  const clock = manualClock(1_800_000_000_000);
  const prefix = newPrefix();
  const ledger = new RedisSpendingLedger({ client: server.client, clock, prefix, keepIdsSeconds: 100 });
  for (let call = 0; call < 50; call++) {
    await ledger.settle({ owner: 'acme', inferenceId: `call ${call}`, amount: 0.1 });
    clock.advance(10_000);
  }
  const [key = ''] = await server.client.keys(`${prefix}:*:settled:acme`);
  expect(await server.client.zcard(key)).toBe(10);
});

test('the keys of an owner are in one slot', async () => {
  const prefix = newPrefix();
  const ledger = new RedisSpendingLedger({ client: server.client, prefix });
  const owner = '}{:a{b}';
  await ledger.settle({ owner, inferenceId: 'a', amount: 0.5 });
  await ledger.reserve({ owner, inferenceId: 'b', amount: 0.5, limits: {}, expiresInSeconds: 60 });
  const keys = await server.client.keys(`${prefix}:*`);
  const tags = keys.map((key) => /\{([^}]+)\}/u.exec(key)?.[1]);
  expect(keys).toHaveLength(3);
  expect(new Set(tags)).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{16}$/u)]));
});

test.each<readonly [string, string, string]>([
  ['2', 'STATE_VERSION', 'a newer release wrote this'],
  ['0', 'STATE_FORMAT', 'choose another prefix'],
  ['none', 'STATE_FORMAT', 'choose another prefix'],
])('an account of layout %s is refused and not changed', async (layout, code, says) => {
  const prefix = newPrefix();
  const ledger = new RedisSpendingLedger({ client: server.client, prefix });
  await ledger.settle({ ...CALL, amount: 0.5 });
  const [key = ''] = await server.client.keys(`${prefix}:*:account:acme`);
  if (layout === 'none') await server.client.hdel(key, 'layout');
  else await server.client.hset(key, 'layout', layout);
  const before = await server.client.hgetall(key);
  const refused = expect.objectContaining({ code, message: expect.stringContaining(says) });
  await expect(ledger.settle({ ...CALL, inferenceId: 'b', amount: 0.5 })).rejects.toEqual(refused);
  await expect(ledger.read('acme')).rejects.toEqual(refused);
  expect(await server.client.hgetall(key)).toEqual(before);
});

test('a key of another type is refused', async () => {
  const prefix = newPrefix();
  const ledger = new RedisSpendingLedger({ client: server.client, prefix });
  await ledger.settle({ ...CALL, amount: 0.5 });
  const [key = ''] = await server.client.keys(`${prefix}:*:account:acme`);
  await server.client.set(key, 'a text');
  await expect(ledger.read('acme')).rejects.toMatchObject({ code: 'STATE_FORMAT' });
});

test('open creates a client of its own', async () => {
  const url = `redis://127.0.0.1:${server.port}`;
  const ledger = await RedisSpendingLedger.open({ url, prefix: newPrefix() });
  await ledger.settle({ ...CALL, amount: 0.5 });
  expect((await ledger.read('acme')).total.spent).toBe(0.5);
  await ledger.close();
});

test.each<readonly [object, string]>([
  [{ url: 'redis://localhost', nonsense: 1 }, 'RedisSpendingLedger.open has no option "nonsense".'],
  [{ host: 'localhost' }, 'use RedisSpendingLedger.open({ url })'],
  [{}, 'RedisSpendingLedger.open needs one of the options url, redis and cluster.'],
])('RedisSpendingLedger.open refuses %o', async (options, message) => {
  await expect(RedisSpendingLedger.open(options as never)).rejects.toThrow(message);
});
