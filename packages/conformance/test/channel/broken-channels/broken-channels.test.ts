import { channelTests, type ChannelHarness } from '@holdfast/conformance';
import { MemorySessionChannel, type SessionChannel } from '@holdfast/core/channel';
import { describe, expect, test } from 'vitest';
import { defects, SHARING_DEFECTS, type Defect } from './defects.ts';
import redCases from './red-cases.json' with { type: 'json' };

/**
 * The cases that each channel with a defect fails, by the name of the defect. It is maintained by hand: add the lines of
 * a new case.
 */
const expected: Readonly<Record<string, readonly string[]>> = redCases;

function harnessOf(defect: Defect, isShared: boolean): ChannelHarness {
  let last = new MemorySessionChannel();
  const broken = (inner: MemorySessionChannel) => {
    const channel: SessionChannel = Object.assign(
      Object.create(inner) as MemorySessionChannel,
      bound(inner),
      defect(inner),
    );
    return { channel, close: () => inner.close() };
  };
  return {
    create: async () => broken((last = new MemorySessionChannel())),
    ...(isShared && { reopen: async () => broken(last.connect()) }),
    tail: true,
    waitSeconds: 0,
  };
}

/** The methods of a channel, with the channel as `this`. */
function bound(inner: MemorySessionChannel): Partial<MemorySessionChannel> {
  const { capabilities } = inner;
  return {
    capabilities,
    publish: (...given) => inner.publish(...given),
    subscribe: (...given) => inner.subscribe(...given),
    notify: (...given) => inner.notify(...given),
    onNotification: (...given) => inner.onNotification(...given),
    close: () => inner.close(),
  };
}

/** Returns the names of the cases that a channel with this defect fails. */
async function failuresOf(defect: Defect, isShared = false): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, skip, run } of channelTests(harnessOf(defect, isShared)))
    if (!skip) await run().catch(() => failed.push(name));
  return failed;
}

describe('a channel that', () => {
  test.for(Object.entries(defects))('%s', async ([name, defect]) => {
    expect(await failuresOf(defect, SHARING_DEFECTS.has(name))).toEqual(expected[name]);
  });
});

test('a channel without a defect fails no case', async () => {
  expect(await failuresOf(() => ({}), true)).toEqual([]);
});

test('every channel with a defect fails a case', () => {
  expect(Object.keys(expected)).toEqual(Object.keys(defects));
  expect(Object.values(expected).filter((names) => names.length === 0)).toEqual([]);
});

test('every case but those of losses is failed by a channel with a defect', () => {
  const tests = channelTests(harnessOf(() => ({}), true)).filter(({ skip }) => !skip);
  const failed = new Set(Object.values(expected).flat());
  expect(tests.map(({ name }) => name).filter((name) => !failed.has(name))).toEqual([]);
});
