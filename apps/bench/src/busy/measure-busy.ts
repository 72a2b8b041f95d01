import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Job } from '../loop/job.ts';
import { cpuSince } from '../process.ts';
import { RedisServer } from '../stores/redis-server.ts';
import { StoreRun } from '../stores/store-run.ts';
import type { BusyName, BusyPeer } from './busy-peers.ts';
import { openBusyPeer } from './busy-peers.ts';

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

/** What it cost; nothing of what a peer does not do. */
export interface BusyCosts {
  readonly server: string;
  /** Runs of agents with 4 model calls of 20 ms. */
  readonly runs?: RunsCosts;
  /** Saves a second of sessions that do nothing else. */
  readonly saves?: number;
}

interface RunsCosts {
  /** Milliseconds until all runs of a wave are done, and of the process's CPU for them. */
  readonly time: number;
  readonly cpu: number;
  /** Milliseconds that the event loop came late, 99th percentile. */
  readonly delay: number;
  /** Writes a second: create, claim, save and release. */
  readonly writes: number;
}

/** Has many sessions work at once in a store, in a process that does nothing else. */
export async function measureBusy(options: BusyOptions): Promise<BusyCosts> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const server = await RedisServer.start(folder);
  try {
    const place = { url: server.url(0), folder: join(folder, 'store') };
    mkdirSync(place.folder);
    const peer = await openBusyPeer(options.name, place);
    const runs = await runsAtOnce(peer, options);
    const saves = await savesAtOnce(peer, options);
    await peer.close();
    return {
      server: await server.describe(),
      ...(runs && { runs }),
      ...(saves !== undefined && { saves }),
    };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runsAtOnce(peer: BusyPeer, { sessions, waves }: BusyOptions): Promise<RunsCosts | undefined> {
  if (!peer.run) return undefined;
  const job = new Job({ steps: TOOL_STEPS, delay: MODEL_DELAY });
  const run = peer.run(job);
  const texts: unknown[] = [];
  const wave = async (): Promise<void> => {
    texts.push(...(await Promise.all(Array.from({ length: sessions }, run))));
  };
  for (let count = 0; count < waves / 2; count++) await wave();
  globalThis.gc?.();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const written = peer.writes();
  const usage = process.cpuUsage();
  const started = performance.now();
  delay.enable();
  for (let count = 0; count < waves; count++) await wave();
  delay.disable();
  const time = performance.now() - started;
  const cpu = cpuSince(usage);
  job.verify(texts);
  return {
    time: time / waves,
    cpu: cpu / waves,
    delay: delay.percentile(99) / 1e6,
    writes: ((peer.writes() - written) / time) * 1_000,
  };
}

async function savesAtOnce(peer: BusyPeer, { sessions, waves }: BusyOptions): Promise<number | undefined> {
  const { begin } = peer;
  if (!begin) return undefined;
  const run = await StoreRun.of(SAVED_STEPS);
  const steps = [...run.steps()];
  let [saves, time] = [0, 0];
  for (let count = -waves / 2; count < waves; count++) {
    const savers = await Promise.all(Array.from({ length: sessions }, () => begin(run.first)));
    const started = performance.now();
    await Promise.all(
      savers.map(async (save) => {
        for (const step of steps) await save(step);
      }),
    );
    if (count < 0) continue;
    time += performance.now() - started;
    saves += savers.length * steps.length;
  }
  return (saves / time) * 1_000;
}
