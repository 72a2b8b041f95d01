import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentSession } from '@holdfast/core';
import { Redis } from 'ioredis';
import { bestTenth, median } from '../measure.ts';
import { shuffler } from '../shuffle.ts';
import { stateAfter } from '../states.ts';
import { commandTimes } from './counters.ts';
import { RedisServer } from './redis-server.ts';
import { openSessionStore } from './session-stores.ts';
import type { StorePeer } from './store-peer.ts';
import { STORES } from './store-peers.ts';
import { StoreRun } from './store-run.ts';

/** What is saved in turns: nothing that fills caches with whole documents. */
const IN_TURNS = ['store-redis', 'append-only', 'memory', 'ping'] as const;
type InTurns = (typeof IN_TURNS)[number];

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

/** What a server needed. */
export interface RedisCosts {
  /** Its name and version. */
  readonly server: string;
  /** Milliseconds of a save, the best tenth. */
  readonly times: Readonly<Record<InTurns, number>>;
  /** Microseconds of the server for a save. */
  readonly serverTime: number;
  /** Milliseconds of the longest command, or transaction, of a load of 10,000 messages. */
  readonly blocked: number;
}

/** Measures what Redis itself does, on a server that does nothing else. */
export async function measureRedis({ runs, steps, seed }: RedisOptions): Promise<RedisCosts> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const server = await RedisServer.start(folder);
  const bench = new RedisBench(server, folder, await StoreRun.of(steps), shuffler(seed));
  try {
    return {
      server: await server.describe(),
      times: await bench.timesInTurns(runs),
      serverTime: await bench.serverTime(runs),
      blocked: await bench.longestOfLoad(),
    };
  } finally {
    bench.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
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
    const times: Record<InTurns, number[]> = { 'store-redis': [], 'append-only': [], memory: [], ping: [] };
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
    return {
      'store-redis': bestTenth(times['store-redis']),
      'append-only': bestTenth(times['append-only']),
      memory: bestTenth(times.memory),
      ping: bestTenth(times.ping),
    };
  }

  /** Saves runs in the store only, one save after the other, and asks the server how long its commands took. */
  async serverTime(runs: number): Promise<number> {
    const each: number[] = [];
    for (let count = 0; count < runs; count++) {
      await this.client.flushall();
      const peer = await this.open('store-redis', 0);
      await this.client.config('RESETSTAT');
      for (const step of this.run.steps()) await peer.prepare(step)();
      each.push((await this.timeOfCommands()) / this.run.length);
      await peer.close();
    }
    return median(each);
  }

  /** Loads a long session. While a command or a transaction runs, the server serves nobody else. */
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
