import {
  connectToNode,
  duplicateClient,
  isClusterClient,
  type ClusterClient,
  type LinkClient,
} from './channel-client.ts';
import { ChannelLink } from './channel-link.ts';
import { hashSlot } from './hash-slot.ts';
import type { RedisChannelClient } from '../server/redis-client.ts';

/** Knows which server holds a shard channel, and connects to it. */
export interface ShardOwners {
  /** True when a channel can get another server. */
  readonly canChange: boolean;
  /** Resolves when the servers are known. @throws ChannelUnavailableError when no server replies. */
  ready(): Promise<void>;
  /** The address of the server that holds a channel, as far as is known. */
  ownerOf(channel: string): string | undefined;
  /** Creates a client of a server; `undefined` when the address is unknown. */
  connect(owner: string): LinkClient | undefined;
  /** Asks the servers again. Resolves when one has replied, or none. */
  refresh(): Promise<void>;
  /** Adds a listener that is called when servers have told which channels they hold. */
  onRefresh(listener: () => void): void;
}

/**
 * The owners of shard channels.
 * @param commands the client that sends the commands of the channel: in a Cluster, it follows each slot that moves
 */
export function shardOwners(client: RedisChannelClient, commands: LinkClient): ShardOwners {
  return isClusterClient(commands) ? clusterOwners(commands) : oneOwner(client);
}

function oneOwner(client: RedisChannelClient): ShardOwners {
  return {
    canChange: false,
    ready: async () => undefined,
    ownerOf: () => 'the server',
    connect: () => duplicateClient(client),
    refresh: async () => undefined,
    onRefresh: () => undefined,
  };
}

function clusterOwners(commands: ClusterClient): ShardOwners {
  const link = new ChannelLink(commands);
  return {
    canChange: true,
    ready: () => link.send(async () => undefined),
    ownerOf: (channel) => commands.slots[hashSlot(channel)]?.[0],
    connect: (owner) => connectToNode(commands, owner),
    refresh: () => new Promise((resolve) => commands.refreshSlotsCache(() => resolve())),
    onRefresh: (listener) => void commands.on('refresh', listener),
  };
}
