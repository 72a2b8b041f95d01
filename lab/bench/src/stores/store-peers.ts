import type { AgentState } from '@holdfast/core';
import type { StorePeer, StorePlace } from './store-peer.ts';

export type StoreName =
  | 'store-redis'
  | 'store-redis-claimed'
  | 'store-sqlite'
  | 'store-sqlite-normal'
  | 'memory'
  | 'append-only'
  | 'whole-json'
  | 'keyv'
  | 'mastra-snapshot'
  | 'mastra-messages'
  | 'langgraph-shim'
  | 'whole-json-sqlite'
  | 'whole-json-sqlite-normal'
  | 'langgraph-sqlite'
  | 'ping';

export interface StoreEntry {
  /** Where it keeps the run, and so what is counted. */
  readonly kind: 'redis' | 'file' | 'memory';
  /** Imports the adapter, and opens a store for a run that begins with a state. */
  readonly open: (place: StorePlace, first: AgentState) => Promise<StorePeer>;
}

/** Everything that is measured, in the order of the tables. */
export const STORES: Readonly<Record<StoreName, StoreEntry>> = {
  'store-redis': {
    kind: 'redis',
    open: async (place, first) => (await import('./peers/ours.ts')).ours('redis', place, first),
  },
  'store-redis-claimed': {
    kind: 'redis',
    open: async (place, first) => (await import('./peers/ours.ts')).ours('redis', place, first, true),
  },
  'store-sqlite': {
    kind: 'file',
    open: async (place, first) => (await import('./peers/ours.ts')).ours('sqlite', place, first),
  },
  'store-sqlite-normal': {
    kind: 'file',
    open: async (place, first) => (await import('./peers/ours.ts')).ours('sqlite NORMAL', place, first),
  },
  memory: {
    kind: 'memory',
    open: async (place, first) => (await import('./peers/ours.ts')).ours('memory', place, first),
  },
  'append-only': {
    kind: 'redis',
    open: async (place) => (await import('./peers/compare-and-set.ts')).appendOnly(place),
  },
  'whole-json': {
    kind: 'redis',
    open: async (place) => (await import('./peers/compare-and-set.ts')).wholeJson(place),
  },
  keyv: {
    kind: 'redis',
    open: async (place) => (await import('./peers/keyv.ts')).keyv(place),
  },
  'mastra-snapshot': {
    kind: 'redis',
    open: async (place) => (await import('./peers/mastra-snapshot.ts')).mastraSnapshot(place),
  },
  'mastra-messages': {
    kind: 'redis',
    open: async (place) => (await import('./peers/mastra-messages.ts')).mastraMessages(place),
  },
  'langgraph-shim': {
    kind: 'redis',
    open: async (place) => (await import('./peers/langgraph-redis.ts')).langgraphRedis(place),
  },
  'whole-json-sqlite': {
    kind: 'file',
    open: async (place) => (await import('./peers/whole-json-sqlite.ts')).wholeJsonSqlite(place, 'FULL'),
  },
  'whole-json-sqlite-normal': {
    kind: 'file',
    open: async (place) => (await import('./peers/whole-json-sqlite.ts')).wholeJsonSqlite(place, 'NORMAL'),
  },
  'langgraph-sqlite': {
    kind: 'file',
    open: async (place) => (await import('./peers/langgraph-sqlite.ts')).langgraphSqlite(place),
  },
  ping: {
    kind: 'redis',
    open: async (place) => (await import('./peers/ping.ts')).ping(place),
  },
};

/** Those that write all of the run at every save. */
export const WHOLE_STORES = [
  'whole-json',
  'keyv',
  'mastra-snapshot',
  'langgraph-shim',
] as const satisfies readonly StoreName[];

// The keys of the table above are the names.
export const STORE_NAMES = Object.keys(STORES) as readonly StoreName[];
