import { ScriptedSessions } from '@holdfast/conformance/test';
import { systemClock } from '@holdfast/core';
import type { Clock } from '@holdfast/core';
import { PollingEngine } from '@holdfast/core/engine';
import type { ExecutionEngine } from '@holdfast/core/engine';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';

export const LEASE_SECONDS = 2;

/** The place of an engine's sessions. */
export interface PollingPlace {
  readonly url: string;
  readonly prefix: string;
}

/** Opens a polling engine that other processes wake by a channel: it polls too rarely for the cases. */
export async function openPolling({ url, prefix }: PollingPlace, clock: Clock = systemClock) {
  const [store, channel] = await Promise.all([
    RedisSessionStore.open({ url, prefix, clock }),
    RedisSessionChannel.open({ url, prefix }),
  ]);
  const polling = new PollingEngine({
    store,
    channel,
    clock,
    pollSeconds: 1,
    againAfterSeconds: LEASE_SECONDS,
  });
  const engine: ExecutionEngine = new ScriptedSessions(store, clock, LEASE_SECONDS).on(polling);
  const close = async (): Promise<void> => {
    await channel.close();
    await store.close();
  };
  return { engine, close };
}
