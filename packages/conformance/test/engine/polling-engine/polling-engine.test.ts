import { engineTests, type CreateEngine } from '@holdfast/conformance';
import { MemorySessionStore } from '@holdfast/core';
import { MemorySessionChannel } from '@holdfast/core/channel';
import { PollingEngine } from '@holdfast/core/engine';
import { describe, expect, test } from 'vitest';
import { testCases } from '../../run/test-cases.ts';
import { FAILED_BY_DESIGN } from './by-design.ts';
import { ScriptedSessions } from './scripted-sessions.ts';

/** Without a channel, the clock is that of the machine. */
const leaseSecondsOf = (hasChannel: boolean): number => (hasChannel ? 30 : 1);
/** With a clock that stands still, each millisecond that passes is a poll. */
const POLL_SECONDS = 0.001;

interface HarnessOptions {
  readonly hasChannel: boolean;
  readonly groupConcurrency?: number;
}

/** Two engines on one store in memory, with a channel or without one. */
function memoryHarness({ hasChannel, groupConcurrency }: HarnessOptions) {
  let store: MemorySessionStore;
  let channel: MemorySessionChannel | undefined;
  const lockSeconds = leaseSecondsOf(hasChannel);
  const reopen: CreateEngine = async (clock) => {
    const options = { pollSeconds: POLL_SECONDS, groupConcurrency };
    const engine = new PollingEngine({ store, channel, clock, ...options });
    return {
      engine: new ScriptedSessions(store, clock, lockSeconds).on(engine),
      close: async () => undefined,
    };
  };
  const create: CreateEngine = async (clock) => {
    store = new MemorySessionStore({ clock });
    channel = hasChannel ? new MemorySessionChannel() : undefined;
    return reopen(clock);
  };
  return { create, reopen, clock: hasChannel, lockSeconds };
}

const withChannel = engineTests({ ...memoryHarness({ hasChannel: true }), waitSeconds: 0 });
const isByDesign = (name: string): boolean => Object.hasOwn(FAILED_BY_DESIGN, name);
/** Two workers may pass such a case by chance. */
const isLuck = (name: string): boolean => /^sharing: \w+ take turns/.test(name);

describe('PollingEngine on a store in memory, with a channel', () => {
  const passed = withChannel.filter(({ name, skip }) => !skip && !isByDesign(name));

  testCases(passed);

  const failed = withChannel.filter(({ name }) => isByDesign(name));

  test.for(failed.filter(({ name }) => !isLuck(name)))('$name: cannot hold', async ({ run }) => {
    await expect(run()).rejects.toBeInstanceOf(Error);
  });

  test('the list of cases that cannot hold is right', () => {
    expect(failed.map(({ name }) => name).toSorted()).toEqual(Object.keys(FAILED_BY_DESIGN).toSorted());
  });
});

describe('PollingEngine with a limit for each group', () => {
  const limited = engineTests({
    ...memoryHarness({ hasChannel: true, groupConcurrency: 1 }),
    waitSeconds: 0,
  });

  testCases(limited.filter(({ name }) => name.startsWith('lanes: sessions with')));
});

describe('PollingEngine on a store in memory, without a channel', () => {
  const all = engineTests({ ...memoryHarness({ hasChannel: false }), turnMilliseconds: 1 });
  const polled = all.filter(
    ({ name, skip }) => !skip && !isByDesign(name) && /^(?:moments|reopening|sharing)/.test(name),
  );

  testCases(polled);
});
