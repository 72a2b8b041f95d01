import { Worker } from 'node:worker_threads';
import { text } from 'node:stream/consumers';
import { systemClock } from '@holdfast/core';
import { expect, test } from 'vitest';

const UUID_4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
/** More than are made of one call for random bytes, many times over. */
const COUNT = 20_000;
const some = Array.from({ length: COUNT }, () => systemClock.newId());

test('ids of the system clock are UUIDs of version 4', () => {
  for (const id of some) expect(id).toMatch(UUID_4);
});

test('all ids are different', () => {
  expect(new Set(some).size).toBe(COUNT);
});

test('all bits are random except those of version and variant', () => {
  const ones = Array.from({ length: 128 }, () => 0);
  for (const id of some) {
    const bits = BigInt(`0x${id.replaceAll('-', '')}`);
    for (let bit = 0; bit < 128; bit++)
      ones[bit] = (ones[bit] ?? 0) + Number((bits >> BigInt(127 - bit)) & 1n);
  }
  const fixed = ones.flatMap((count, bit) => (count === 0 || count === COUNT ? [[bit, count / COUNT]] : []));
  expect(fixed).toEqual([
    [48, 0],
    [49, 1],
    [50, 0],
    [51, 0],
    [64, 1],
    [65, 0],
  ]); // 0100 and 10
  // A fair bit is further than this from half once in 10^22 times.
  const unfair = ones.filter((count) => count % COUNT !== 0 && Math.abs(count - COUNT / 2) >= 700);
  expect(unfair).toEqual([]);
});

test('workers of one process create different ids', async () => {
  const worker = (): Worker =>
    new Worker(new URL('support/uuid-worker.ts', import.meta.url), {
      stdout: true,
      execArgv: ['--conditions=@holdfast/source', '--disable-warning=ExperimentalWarning'],
    });
  const made = await Promise.all([1, 2].map(() => text(worker().stdout)));
  const ids = made.flatMap((lines) => lines.trim().split('\n'));
  expect(new Set([...ids, ...some]).size).toBe(400 + COUNT);
});
