import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { RedisServer } from 'test-servers';
import { shuffler } from '../shuffle.ts';
import { FileCounters, RedisCounters, type Counters, type Counts } from './counters.ts';
import { withRedis } from './redis-server.ts';
import type { RunStep, StorePeer, StorePlace } from './store-peer.ts';
import { STORES, type StoreEntry, type StoreName } from './store-peers.ts';
import { newBytes, StoreRun } from './store-run.ts';

/** One save: milliseconds, and what it wrote. */
interface Cost extends Counts {
  readonly time: number;
}

/** The cost of saving a run in one store. */
export interface StoreCosts {
  /** By step. */
  readonly costs: readonly Cost[];
  /** Bytes that it keeps; `null` when they are not counted. */
  readonly stored: number | null;
}

/** The size of a run, and the cost of saving it after each step. */
export interface RunCosts {
  /** Bytes of JSON, by step. */
  readonly newBytes: readonly number[];
  readonly stores: Readonly<Partial<Record<StoreName, StoreCosts>>>;
  /** The reasons of those that could not be opened. */
  readonly skipped: Readonly<Partial<Record<StoreName, string>>>;
}

interface Measured {
  readonly name: StoreName;
  readonly peer: StorePeer;
  readonly counters: Counters | undefined;
  /** The counts that reading the counters adds. */
  readonly reading: Counts;
  readonly costs: Cost[];
}

const NOTHING: Counts = { bytes: 0, commands: 0, scripts: 0 };

export interface SavesOptions {
  readonly names: readonly StoreName[];
  readonly steps: number;
  /** Steps of a run before, to warm up. */
  readonly warmUp: number;
  /** Orders the stores within a step. */
  readonly seed: number;
}

/**
 * Saves one run in all stores: after each step in each of them, every time in another order, so that what disturbs one
 * disturbs all. They share one Redis server, where each has a database.
 */
export function measureSaves({ names, steps, warmUp, seed }: SavesOptions): Promise<RunCosts> {
  return withRedis(async (server, folder) => {
    const shuffle = shuffler(seed);
    await saveRun(names, server, join(folder, 'warm-up'), await StoreRun.of(warmUp), shuffle);
    await emptied(server);
    return saveRun(names, server, join(folder, 'run'), await StoreRun.of(steps), shuffle);
  });
}

async function emptied(server: RedisServer): Promise<void> {
  const client = new Redis(server.url(0));
  await client.flushall();
  client.disconnect();
}

async function saveRun(
  names: readonly StoreName[],
  server: RedisServer,
  folder: string,
  run: StoreRun,
  shuffle: <T>(things: readonly T[]) => T[],
): Promise<RunCosts> {
  const stores: Measured[] = [];
  const skipped: [StoreName, string][] = [];
  for (const [index, name] of names.entries()) {
    const place = { url: server.url(index), folder: join(folder, name) };
    await opened(name, place, run).then(
      (store) => stores.push(store),
      (error: unknown) => skipped.push([name, String(error)]),
    );
  }
  const added: number[] = [];
  for (const step of run.steps()) {
    added.push(newBytes(step));
    for (const store of shuffle(stores)) store.costs.push(await costOf(store, step));
  }
  const entries = [];
  for (const store of stores) entries.push([store.name, await finished(store, run)] as const);
  return { newBytes: added, stores: Object.fromEntries(entries), skipped: Object.fromEntries(skipped) };
}

async function opened(name: StoreName, place: StorePlace, run: StoreRun): Promise<Measured> {
  mkdirSync(place.folder, { recursive: true });
  const { kind, open } = STORES[name];
  const peer = await open(place, run.first);
  const counters = countersOf(kind, place);
  return { name, peer, counters, reading: await readingCost(counters), costs: [] };
}

function countersOf(kind: StoreEntry['kind'], { url, folder }: StorePlace): Counters | undefined {
  switch (kind) {
    case 'redis':
      return new RedisCounters(url);
    case 'file':
      return new FileCounters(folder);
    case 'memory':
      return undefined;
  }
}

async function readingCost(counters: Counters | undefined): Promise<Counts> {
  await counters?.read();
  const [before, after] = [await counters?.read(), await counters?.read()];
  return before && after ? difference(before, after) : NOTHING;
}

async function costOf({ peer, counters, reading }: Measured, step: RunStep): Promise<Cost> {
  const save = peer.prepare(step);
  const before = await counters?.read();
  const started = performance.now();
  await save();
  const time = performance.now() - started;
  const after = await counters?.read();
  const counts = before && after ? difference(reading, difference(before, after)) : NOTHING;
  return { time, ...counts };
}

function difference(before: Counts, after: Counts): Counts {
  return {
    bytes: after.bytes - before.bytes,
    commands: after.commands - before.commands,
    scripts: after.scripts - before.scripts,
  };
}

/** @throws Error when a store has not kept the run. */
async function finished({ name, peer, counters, costs }: Measured, run: StoreRun): Promise<StoreCosts> {
  const messages = await peer.messages();
  if (messages !== run.messageCount) {
    throw new Error(`${name} has ${messages} messages, not ${run.messageCount}.`);
  }
  await peer.close();
  const stored = (await counters?.stored()) ?? null;
  counters?.close();
  return { costs, stored };
}
