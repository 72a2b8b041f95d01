import { ScriptedSessions, SHORT_LEASE_SECONDS } from '@holdfast/conformance/test';
import { systemClock, type Clock } from '@holdfast/core';
import { PollingEngine, type ExecutionEngine } from '@holdfast/core/engine';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';
import type { Redis } from 'ioredis';

/**
 * More sessions of a group than a case has. An engine with such a limit learns the group of each session before its work.
 */
const GROUP_CONCURRENCY = 1_000;

/** Opens a polling engine that other processes wake by a channel: it polls too rarely for the cases. */
export function openPolling(
  client: Redis,
  prefix: string,
  clock: Clock = systemClock,
  leaseSeconds = SHORT_LEASE_SECONDS,
) {
  const store = new RedisSessionStore({ client, prefix, clock });
  const channel = new RedisSessionChannel({ client, prefix });
  const limits = { againAfterSeconds: SHORT_LEASE_SECONDS, groupConcurrency: GROUP_CONCURRENCY };
  const init = { store, channel, clock, pollSeconds: 1, ...limits };
  const engine: ExecutionEngine = new ScriptedSessions(store, clock, leaseSeconds).on(
    new PollingEngine(init),
  );
  const close = async (): Promise<void> => {
    await channel.close();
    await store.close();
  };
  return { engine, close };
}
