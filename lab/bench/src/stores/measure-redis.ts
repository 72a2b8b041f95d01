import { AgentSession } from '@holdfast/core';
import { Redis } from 'ioredis';
import type { RedisServer } from 'test-servers';
import { bestTenth, median } from '../measure.ts';
import { shuffler } from '../shuffle.ts';
import { stateAfter } from '../states.ts';
import { commandTimes } from './counters.ts';
import { describeServer, withRedis } from './redis-server.ts';
import { openSessionStore } from './session-stores.ts';
import type { StorePeer } from './store-peer.ts';
import { STORES } from './store-peers.ts';
import { StoreRun } from './store-run.ts';

/** The stores that take turns. None of them writes whole documents, which would fill the caches of the processor. */
const IN_TURNS = ['store-redis', 'store-redis-claimed', 'append-only', 'memory', 'ping'] as const;
type InTurns = (typeof IN_TURNS)[number];
const SAVERS = ['store-redis', 'store-redis-claimed', 'append-only'] as const;
type Saver = (typeof SAVERS)[number];

/** 10,002 messages, 8.6 MB as JSON. */
const LONG_STEPS = 5_000;
const LONG_RESULT = 240;
const LOADS = 5;
/** The commands that run others, which are counted beside them. */
const CONTAINERS = ['eval', 'evalsha', 'fcall', 'exec'];
const ADMIN = ['config', 'info', 'slowlog'];

export interface RedisOptions {
  /** Runs that are saved; as many again before, to warm up. */
  readonly runs: number;
  readonly steps: number;
  /** Orders the stores within a step. */
  readonly seed: number;
}

/** The costs of a server. */
export interface RedisCosts {
  /** Its name and version. */
  readonly server: string;
  /** Milliseconds of a save, the best tenth. */
  readonly times: Readonly<Record<InTurns, number>>;
  /** Microseconds of the server for a save, in the best run: a server that has to wait for the machine counts that, too. */
  readonly serverTimes: Readonly<Record<Saver, number>>;
  /** Milliseconds of the longest command, or transaction, of a load of 10,000 messages. */
  readonly blocked: number;
}

/** Measures what Redis itself does, on a server that does nothing else. */
export function measureRedis({ runs, steps, seed }: RedisOptions): Promise<RedisCosts> {
  return withRedis(async (server, folder) => {
    const bench = new RedisBench(server, folder, await StoreRun.of(steps), shuffler(seed));
    const costs = {
      server: await describeServer(server),
      times: await bench.timesInTurns(runs),
      serverTimes: await bench.serverTimes(runs),
      blocked: await bench.longestOfLoad(),
    };
    bench.close();
    return costs;
  });
}

class RedisBench {
  private readonly server: RedisServer;
  private readonly folder: string;
  private readonly run: StoreRun;
  private readonly shuffle: <T>(things: readonly T[]) => T[];
  private readonly client: Redis;

  constructor(server: RedisServer, folder: string, run: StoreRun, shuffle: <T>(things: readonly T[]) => T[]) {
    this.server = server;
    this.folder = folder;
    this.run = run;
    this.shuffle = shuffle;
    this.client = new Redis(server.url(0));
  }

  close(): void {
    this.client.disconnect();
  }

  /** Saves runs in all of them, which take turns at every step. */
  async timesInTurns(runs: number): Promise<Record<InTurns, number>> {
    const times = emptyLists(IN_TURNS);
    for (let count = -runs; count < runs; count++) {
      await this.client.flushall();
      const peers: (readonly [InTurns, StorePeer])[] = [];
      for (const [index, name] of IN_TURNS.entries()) peers.push([name, await this.open(name, index)]);
      for (const step of this.run.steps()) {
        for (const [name, peer] of this.shuffle(peers)) {
          const save = peer.prepare(step);
          const started = performance.now();
          await save();
          if (count >= 0) times[name].push(performance.now() - started);
        }
      }
      for (const [, peer] of peers) await peer.close();
    }
    return mapped(times, bestTenth);
  }

  /** Saves a run in one of them only, one save after the other, and asks the server how long its commands took. */
  async serverTimes(runs: number): Promise<Record<Saver, number>> {
    const times = emptyLists(SAVERS);
    for (let count = 0; count < runs; count++) {
      for (const name of this.shuffle(SAVERS)) times[name].push(await this.serverTime(name));
    }
    return mapped(times, (values) => Math.min(...values));
  }

  private async serverTime(name: Saver): Promise<number> {
    await this.client.flushall();
    const peer = await this.open(name, 0);
    await this.client.config('RESETSTAT');
    for (const step of this.run.steps()) await peer.prepare(step)();
    const time = await this.timeOfCommands();
    await peer.close();
    return time / this.run.length;
  }

  /** Loads a long session. While a command or a transaction runs, the server serves no other client. */
  async longestOfLoad(): Promise<number> {
    const { client } = this;
    await client.flushall();
    await client.config('SET', 'slowlog-log-slower-than', 0, 'slowlog-max-len', 100_000);
    const place = { url: this.server.url(0), folder: this.folder };
    const { store, close } = await openSessionStore('redis', place);
    const state = await stateAfter(LONG_STEPS, LONG_RESULT);
    const { sessionId } = await store.create(AgentSession.create({ definition: { name: 'bench' }, state }));
    const longest: number[] = [];
    for (let count = 0; count < LOADS; count++) {
      await client.config('RESETSTAT');
      await client.slowlog('RESET');
      const loaded = await store.load(sessionId);
      if (loaded?.state.messages.length !== state.messages.length) throw new Error('Messages are missing.');
      longest.push(Math.max(await this.longestCommand(), await this.meanTransaction()) / 1_000);
    }
    await close();
    return median(longest);
  }

  private open(name: InTurns, database: number): Promise<StorePeer> {
    const place = { url: this.server.url(database), folder: this.folder };
    return STORES[name].open(place, this.run.first);
  }

  private async timeOfCommands(): Promise<number> {
    const times = [...(await commandTimes(this.client))].filter(([name]) => !isAdmin(name));
    const containers = times.filter(([name]) => CONTAINERS.includes(name));
    return (containers.length > 0 ? containers : times).reduce((sum, [, { time }]) => sum + time, 0);
  }

  private async longestCommand(): Promise<number> {
    const entries = (await this.client.slowlog('GET', 100_000)) as readonly SlowEntry[];
    const times = entries.map(([, , time, [name = '']]) => (isAdmin(name) ? 0 : time));
    return Math.max(0, ...times);
  }

  /** A transaction as a whole is not in the log of slow commands. */
  private async meanTransaction(): Promise<number> {
    const { time, calls } = (await commandTimes(this.client)).get('exec') ?? { time: 0, calls: 1 };
    return time / calls;
  }
}

/** Number, moment, microseconds, the command with its arguments. */
type SlowEntry = readonly [number, number, number, readonly string[]];

/** Of this measurement, `config|resetstat` too. */
function isAdmin(name: string): boolean {
  return ADMIN.includes(name.toLowerCase().split('|')[0] ?? '');
}

function emptyLists<Name extends string>(names: readonly Name[]): Record<Name, number[]> {
  return Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
}

function mapped<Name extends string>(
  lists: Readonly<Record<Name, readonly number[]>>,
  summary: (values: readonly number[]) => number,
): Record<Name, number> {
  const entries = Object.entries<readonly number[]>(lists).map(([name, values]) => [name, summary(values)]);
  return Object.fromEntries(entries) as Record<Name, number>;
}
