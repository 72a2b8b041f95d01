import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Job } from '../loop/job.ts';
import { median } from '../measure.ts';
import { cpuSince } from '../process.ts';
import type { Metrics } from '../results.ts';
import { describeServer, startRedis } from '../stores/redis-server.ts';
import type { RunStep } from '../stores/store-peer.ts';
import { StoreRun } from '../stores/store-run.ts';
import { openBusyPeer, type BusyName, type BusyPeer } from './busy-peers.ts';
import { CommitFloor } from './commit-floor.ts';

const TOOL_STEPS = 3;
const MODEL_DELAY = 20;
/** The steps that each session saves, one after the other. */
const SAVED_STEPS = 20;

export interface BusyOptions {
  readonly name: BusyName;
  /** So many at once. */
  readonly sessions: number;
  /** How often so many are started; half as often before, to warm up. */
  readonly waves: number;
}

/**
 * Milliseconds until all runs of a wave are done, of the process's CPU for them, and that the event loop comes late (99th
 * percentile); writes a second meanwhile: create, claim, save and release. Saves a second of sessions that do nothing
 * else, and of the floor.
 */
export type BusyMetric = 'time' | 'cpu' | 'delay' | 'writes' | 'saves' | 'floor';

/** The costs of one peer. A member is absent when the peer does not do that work. */
export interface BusyCosts {
  readonly server: string;
  readonly metrics: Metrics<BusyMetric>;
}

/** Has many sessions work at once in a store, in a process that does nothing else. */
export async function measureBusy({ name, sessions, waves }: BusyOptions): Promise<BusyCosts> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const server = await startRedis();
  try {
    const place = { url: server.url(0), folder: join(folder, 'store') };
    mkdirSync(place.folder);
    const peer = await openBusyPeer(name, place);
    const floor = new CommitFloor(folder);
    const bench = new BusyBench(peer, floor, sessions, await StoreRun.of(SAVED_STEPS));
    for (let count = 0; count < waves / 2; count++) await bench.wave();
    const measured: Metrics<BusyMetric>[] = [];
    for (let count = 0; count < waves; count++) measured.push(await bench.wave());
    floor.close();
    await peer.close();
    return { server: await describeServer(server), metrics: mediansOf(measured) };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

class BusyBench {
  private readonly peer: BusyPeer;
  private readonly floor: CommitFloor;
  private readonly sessions: number;
  private readonly first: StoreRun['first'];
  private readonly steps: readonly RunStep[];

  constructor(peer: BusyPeer, floor: CommitFloor, sessions: number, run: StoreRun) {
    this.peer = peer;
    this.floor = floor;
    this.sessions = sessions;
    this.first = run.first;
    this.steps = [...run.steps()];
  }

  /** All kinds of work one after the other, so that a slow moment of the disk hits each. */
  async wave(): Promise<Metrics<BusyMetric>> {
    const runs = await this.runsAtOnce();
    const { begin } = this.peer;
    if (!begin) return runs;
    const floor = await this.savesASecond(async () => this.floor.begin());
    const saves = await this.savesASecond(() => begin(this.first));
    return { ...runs, saves, floor };
  }

  private async runsAtOnce(): Promise<Metrics<BusyMetric>> {
    const { peer, sessions } = this;
    const job = new Job({ steps: TOOL_STEPS, delay: MODEL_DELAY });
    const run = peer.run(job);
    globalThis.gc?.();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const [written, usage, started] = [peer.writes(), process.cpuUsage(), performance.now()];
    delay.enable();
    const texts = await Promise.all(Array.from({ length: sessions }, run));
    delay.disable();
    const time = performance.now() - started;
    const cpu = cpuSince(usage);
    job.verify(texts);
    const writes = ((peer.writes() - written) / time) * 1_000;
    return { time, cpu, delay: delay.percentile(99) / 1e6, ...(writes > 0 && { writes }) };
  }

  private async savesASecond(begin: () => Promise<(step: RunStep) => Promise<unknown>>): Promise<number> {
    const { steps, sessions } = this;
    const savers = await Promise.all(Array.from({ length: sessions }, begin));
    globalThis.gc?.();
    const started = performance.now();
    await Promise.all(
      savers.map(async (save) => {
        for (const step of steps) await save(step);
      }),
    );
    return ((sessions * steps.length) / (performance.now() - started)) * 1_000;
  }
}

function mediansOf(waves: readonly Metrics<BusyMetric>[]): Metrics<BusyMetric> {
  const names = Object.keys(waves[0] ?? {}) as BusyMetric[];
  const medians = names.map((name) => [name, median(waves.map((wave) => wave[name] ?? NaN))] as const);
  return Object.fromEntries(medians);
}
