import type { AgentState } from '@holdfast/core';
import type { SessionStoreName } from './session-stores.ts';
import type { StorePeer, StorePlace } from './store-peer.ts';

type OpenPeer = (place: StorePlace, first: AgentState) => StorePeer | Promise<StorePeer>;

export interface StoreEntry {
  /** Where it keeps the run, and so what is counted. */
  readonly kind: 'redis' | 'file' | 'memory';
  /** Imports the adapter, and opens a store for a run that begins with a state. */
  readonly open: (place: StorePlace, first: AgentState) => Promise<StorePeer>;
}

/** A store whose adapter `load` imports. */
function peer(kind: StoreEntry['kind'], load: () => Promise<OpenPeer>): StoreEntry {
  return { kind, open: async (place, first) => (await load())(place, first) };
}

/** A store of this repository. */
function own(kind: StoreEntry['kind'], name: SessionStoreName, isClaimed = false): StoreEntry {
  return peer(kind, async () => {
    const { ours } = await import('./peers/ours.ts');
    return (place, first) => ours(name, place, first, isClaimed);
  });
}

/** The whole document in a file of SQLite. */
function wholeInFile(synchronous: 'FULL' | 'NORMAL'): StoreEntry {
  return peer('file', async () => {
    const { wholeJsonSqlite } = await import('./peers/whole-json-sqlite.ts');
    return (place) => wholeJsonSqlite(place, synchronous);
  });
}

/** Everything that is measured, in the order of the tables. */
export const STORES = {
  'store-redis': own('redis', 'redis'),
  'store-redis-claimed': own('redis', 'redis', true),
  'store-sqlite': own('file', 'sqlite'),
  'store-sqlite-normal': own('file', 'sqlite NORMAL'),
  memory: own('memory', 'memory'),
  'append-only': peer('redis', async () => (await import('./peers/compare-and-set.ts')).appendOnly),
  'whole-json': peer('redis', async () => (await import('./peers/compare-and-set.ts')).wholeJson),
  keyv: peer('redis', async () => (await import('./peers/keyv.ts')).keyv),
  'mastra-snapshot': peer('redis', async () => (await import('./peers/mastra-snapshot.ts')).mastraSnapshot),
  'mastra-messages': peer('redis', async () => (await import('./peers/mastra-messages.ts')).mastraMessages),
  'langgraph-shim': peer('redis', async () => (await import('./peers/langgraph-redis.ts')).langgraphRedis),
  'whole-json-sqlite': wholeInFile('FULL'),
  'whole-json-sqlite-normal': wholeInFile('NORMAL'),
  'langgraph-sqlite': peer('file', async () => (await import('./peers/langgraph-sqlite.ts')).langgraphSqlite),
  ping: peer('redis', async () => (await import('./peers/ping.ts')).ping),
};

export type StoreName = keyof typeof STORES;

/** The stores that write the whole run at every save. */
export const WHOLE_STORES = [
  'whole-json',
  'keyv',
  'mastra-snapshot',
  'langgraph-shim',
] as const satisfies readonly StoreName[];

// The keys of the table above are the names.
export const STORE_NAMES = Object.keys(STORES) as readonly StoreName[];
