import { monitorEventLoopDelay } from 'node:perf_hooks';
import { cpuSince } from '../process.ts';
import type { Metrics as MetricsOf } from '../results.ts';
import { Job } from '../peers/job.ts';
import type { Peer } from '../peers/peer.ts';
import type { PeerEntry } from './peers.ts';

/** The measurement of one process. */
export type Workload = 'steps' | 'parallel' | 'heap' | 'concurrent' | 'stream' | 'import';

/**
 * Milliseconds of a run at so many steps, and of CPU that the process needs for one; MB; milliseconds; and, for `delta`,
 * milliseconds a piece of text.
 */
export type Metric =
  | `steps ${number}`
  | `cpu ${number}`
  | `parallel ${number}`
  | `heap ${number}`
  | 'concurrent total'
  | 'concurrent cpu'
  | 'concurrent delay'
  | 'delta'
  | 'import';

export type Metrics = MetricsOf<Metric>;

/** How much is measured. */
export interface Effort {
  /** Steps of a run, in ascending order. */
  readonly lengths: readonly number[];
  /** Milliseconds to warm up, and then to measure, each length. */
  readonly sampleTime: number;
}

const PARALLEL_CALLS = 8;
const PARALLEL_STEPS = 50;
const CONCURRENT_RUNS = 1_000;
const CONCURRENT_STEPS = 5;
const MODEL_DELAY = 20;
const DELTAS = 10_000;
const STREAMS = 5;

/** Does a workload with a peer, in a process that does nothing else. */
export async function measure(workload: Workload, entry: PeerEntry, effort: Effort): Promise<Metrics> {
  if (workload === 'import') return importTime(entry);
  const peer = await entry.open();
  switch (workload) {
    case 'steps':
      return runTimes(peer, effort);
    case 'parallel': {
      const job = new Job({ steps: PARALLEL_STEPS, parallel: PARALLEL_CALLS });
      return { [`parallel ${PARALLEL_STEPS}`]: (await runCosts(peer, job, effort.sampleTime)).time };
    }
    case 'heap':
      return liveHeaps(peer, effort);
    case 'concurrent':
      return concurrentRuns(peer);
    case 'stream':
      return deltaTime(peer);
  }
}

/** Milliseconds of one run. */
interface RunCosts {
  readonly time: number;
  readonly cpu: number;
}

async function importTime(entry: PeerEntry): Promise<Metrics> {
  if (entry.modules.length === 0) return {};
  const started = performance.now();
  for (const specifier of entry.modules) await entry.importModule(specifier);
  return { import: performance.now() - started };
}

async function runTimes(peer: Peer, { lengths, sampleTime }: Effort): Promise<Metrics> {
  const metrics: Metrics = {};
  for (const steps of lengths) {
    const { time, cpu } = await runCosts(peer, new Job({ steps }), sampleTime);
    metrics[`steps ${steps}`] = time;
    metrics[`cpu ${steps}`] = cpu;
  }
  return metrics;
}

/** Milliseconds of the best of many runs, and the mean CPU of a run in all threads: ten runs at least, unless they take very long. */
async function runCosts(peer: Peer, job: Job, sampleTime: number): Promise<RunCosts> {
  const run = peer.agent(job);
  const texts: unknown[] = [];
  const warmedUp = performance.now() + sampleTime;
  do texts.push(await run());
  while (performance.now() < warmedUp);
  collectGarbage();
  const usage = process.cpuUsage();
  const begun = performance.now();
  let [best, count, elapsed] = [Infinity, 0, 0];
  for (; elapsed < sampleTime || (count < 10 && elapsed < 4 * sampleTime); count++) {
    const started = performance.now();
    texts.push(await run());
    const ended = performance.now();
    best = Math.min(best, ended - started);
    elapsed = ended - begun;
  }
  const cpu = cpuSince(usage) / count;
  job.verify(texts);
  return { time: best, cpu };
}

/** The memory that a run keeps alive at the last call of the model. */
async function liveHeaps(peer: Peer, { lengths }: Effort): Promise<Metrics> {
  const metrics: Metrics = {};
  const warmUp = peer.agent(new Job({ steps: 5 }));
  for (let count = 0; count < 5; count++) await warmUp();
  for (const steps of lengths) {
    let last = 0;
    const job = new Job({ steps, onLastCall: () => (last = heapUsed()) });
    const run = peer.agent(job);
    const before = heapUsed();
    job.verify([await run()]);
    metrics[`heap ${steps}`] = (last - before) / 1e6;
  }
  return metrics;
}

/** Many runs at once: how long until all are done, and how long the process could do nothing else. */
async function concurrentRuns(peer: Peer): Promise<Metrics> {
  const warmUp = peer.agent(new Job({ steps: CONCURRENT_STEPS, delay: 1 }));
  for (let count = 0; count < 5; count++) await Promise.all(Array.from({ length: 40 }, warmUp));
  const job = new Job({ steps: CONCURRENT_STEPS, delay: MODEL_DELAY });
  const run = peer.agent(job);
  collectGarbage();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const usage = process.cpuUsage();
  const started = performance.now();
  const texts = await Promise.all(Array.from({ length: CONCURRENT_RUNS }, run));
  const total = performance.now() - started;
  const cpu = cpuSince(usage);
  delay.disable();
  job.verify(texts);
  return {
    'concurrent total': total,
    'concurrent cpu': cpu,
    'concurrent delay': delay.percentile(99) / 1e6,
  };
}

async function deltaTime(peer: Peer): Promise<Metrics> {
  const pieces = Array.from({ length: DELTAS }, (_, index) => `tok${index % 1_000} `);
  const expected = pieces.join('').length;
  let best = Infinity;
  for (let count = 0; count < STREAMS; count++) {
    const stream = peer.streamer(new Job({ steps: 0 }), pieces);
    let characters = 0;
    collectGarbage();
    const started = performance.now();
    await stream((text) => (characters += text.length));
    best = Math.min(best, performance.now() - started);
    if (characters !== expected) throw new Error(`${characters} characters came, not ${expected}.`);
  }
  return { delta: best / DELTAS };
}

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Twice: the second collection frees the objects that finalizers release. */
function collectGarbage(): void {
  globalThis.gc?.();
  globalThis.gc?.();
}
