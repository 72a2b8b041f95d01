import { channelTests, type CreateChannel } from '@holdfast/conformance';
import { MemorySessionChannel } from '@holdfast/core/channel';
import { describe, expect, test } from 'vitest';
import { testCases } from '../run/test-cases.ts';

let last = new MemorySessionChannel();

const create: CreateChannel = async () => {
  const channel = (last = new MemorySessionChannel());
  return { channel, close: () => channel.close() };
};
const reopen: CreateChannel = async () => {
  const channel = last.connect();
  return { channel, close: () => channel.close() };
};

describe('MemorySessionChannel', () => {
  const all = channelTests({ create, reopen, tail: true });

  testCases(all);

  test('only losses are skipped, and names are unique', () => {
    const skipped = all.filter(({ skip }) => skip).map(({ name }) => name);
    expect(skipped.filter((name) => !name.startsWith('losses:'))).toEqual([]);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });
});
