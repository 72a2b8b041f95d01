import { createAgentLoop, SessionRuntime, tool, type SessionStore } from '@holdfast/core';
import type { SessionChannel } from '@holdfast/core/channel';
import type { Driver } from '@holdfast/core/driver';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';
import { SqliteSessionChannel, SqliteSessionStore } from '@holdfast/store-sqlite';
import { Redis } from 'ioredis';

export const STEPS = 5;
export const AGENT = 'bench';

/** Where the sessions and the channel are: the path of a file, or the URL of a Redis server. */
export interface PollingPlace {
  readonly store: 'sqlite' | 'redis';
  readonly location: string;
  readonly hasChannel: boolean;
}

export interface PollingParts {
  readonly store: SessionStore;
  readonly channel: SessionChannel | undefined;
  close(): Promise<void>;
}

export async function openPollingPlace(place: PollingPlace): Promise<PollingParts> {
  const { store, channel } = await open(place);
  return {
    store,
    channel,
    async close() {
      await channel?.close();
      await store.close();
    },
  };
}

async function open({
  store,
  location,
  hasChannel,
}: PollingPlace): Promise<Pick<PollingParts, 'store' | 'channel'>> {
  if (store === 'redis') return openRedis(location, hasChannel);
  return {
    store: await SqliteSessionStore.open({ path: location, busyTimeoutSeconds: 60 }),
    channel: hasChannel ? await SqliteSessionChannel.open({ path: `${location}.channel` }) : undefined,
  };
}

/** Waits for a server that is busy: `open` would refuse it after some seconds. */
async function openRedis(url: string, hasChannel: boolean): Promise<Pick<PollingParts, 'store' | 'channel'>> {
  const client = new Redis(url);
  await client.ping();
  const channel = hasChannel ? new RedisSessionChannel({ client }) : undefined;
  const store = new RedisSessionStore({ client });
  return { store: Object.assign(store, { close: async () => client.disconnect() }), channel };
}

/** An agent that responds at once: it calls a tool in each step but the last. */
export function newRuntime(store: SessionStore): SessionRuntime {
  const act = tool({
    name: 'act',
    description: 'Acts.',
    inputSchema: { type: 'object' },
    execute: () => 'done',
  });
  const driver: Driver = {
    async infer({ messages }) {
      const done = messages.toArray().filter(({ role }) => role === 'tool').length;
      if (done >= STEPS - 1) return { text: 'Done.' };
      return { content: [{ type: 'tool-call', toolCallId: `call ${done}`, toolName: 'act', input: {} }] };
    },
  };
  return new SessionRuntime({ store, agents: { [AGENT]: createAgentLoop({ driver, tools: [act] }) } });
}
