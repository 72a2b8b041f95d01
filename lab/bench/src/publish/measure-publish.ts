import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { cpuSince } from '../process.ts';
import type { Metrics } from '../results.ts';
import { commandTimes } from '../stores/counters.ts';
import { describeServer, startRedis } from '../stores/redis-server.ts';
import { openPublishPeer, type PublishName, type PublishPeer, type StreamJob } from './publish-peers.ts';

const DELTAS = 10_000;
/** The duration of a paced stream. */
const PACED_SECONDS = 3;
/** Streams without a pace, before the timed ones: V8 compiles meanwhile. */
const WARM_UP_MILLISECONDS = 2_000;

export interface PublishOptions {
  readonly name: PublishName;
  readonly isPaced: boolean;
  /** The number of streams that are timed; with a channel, as many again without it. */
  readonly streams: number;
}

/**
 * Of one stream: milliseconds of CPU of the process, and of the same process without the channel; milliseconds of CPU of
 * the Redis server, the scripts that it ran, and the commands in them.
 */
export type PublishMetric = 'cpu' | 'cpu alone' | 'server cpu' | 'scripts' | 'commands';

/** The costs of one peer. */
export interface PublishCosts {
  readonly server: string;
  readonly metrics: Metrics<PublishMetric>;
}

/** Streams responses in a process that does nothing else. */
export async function measurePublish({ name, isPaced, streams }: PublishOptions): Promise<PublishCosts> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const server = await startRedis();
  const peer = await openPublishPeer(name, { url: server.url(0), folder });
  try {
    const pieces = Array.from({ length: DELTAS }, (_, index) => `tok${index % 1_000} `);
    await warmUp(peer, { pieces, seconds: 0 });
    const job = { pieces, seconds: isPaced ? PACED_SECONDS : 0 };
    const metrics = await serverCosts(server.url(0), () => costsOf(peer, job, streams));
    const each = Object.entries(metrics).map(([metric, value]) => [metric, value / streams]);
    return { server: await describeServer(server), metrics: Object.fromEntries(each) };
  } finally {
    await peer.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function warmUp({ stream, streamAlone }: PublishPeer, job: StreamJob): Promise<void> {
  const until = performance.now() + WARM_UP_MILLISECONDS;
  while (performance.now() < until) {
    await stream(job);
    await streamAlone?.(job);
  }
}

/** Streams with and without the channel by turns: what disturbs the machine then disturbs both. */
async function costsOf(
  { stream, streamAlone }: PublishPeer,
  job: StreamJob,
  streams: number,
): Promise<Metrics<PublishMetric>> {
  let [cpu, alone] = [0, 0];
  for (let count = 0; count < streams; count++) {
    if (streamAlone && count % 2 === 0) alone += await cpuOf(() => streamAlone(job));
    cpu += await cpuOf(() => stream(job));
    if (streamAlone && count % 2 === 1) alone += await cpuOf(() => streamAlone(job));
  }
  return { cpu, ...(streamAlone && { 'cpu alone': alone }) };
}

async function cpuOf(act: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await act();
  return cpuSince(before);
}

/** Counts what the server does meanwhile. */
async function serverCosts(
  url: string,
  act: () => Promise<Metrics<PublishMetric>>,
): Promise<Metrics<PublishMetric>> {
  const client = new Redis(url);
  await client.config('RESETSTAT');
  const before = await serverCpu(client);
  globalThis.gc?.();
  const own = await act();
  const costs = { 'server cpu': (await serverCpu(client)) - before, ...(await publishedCommands(client)) };
  client.disconnect();
  return { ...own, ...costs };
}

/** Milliseconds of CPU that the server has used. */
async function serverCpu(client: Redis): Promise<number> {
  const info = await client.info('cpu');
  const seconds = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(([, value]) => Number(value));
  return seconds.reduce((sum, value) => sum + value, 0) * 1_000;
}

async function publishedCommands(client: Redis): Promise<Record<'scripts' | 'commands', number>> {
  const calls = await commandTimes(client);
  const callsOf = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + (calls.get(name)?.calls ?? 0), 0);
  const written = ['exists', 'time', 'xinfo|stream', 'xrevrange', 'xadd', 'xtrim', 'pexpire', 'spublish'];
  return { scripts: callsOf(['evalsha', 'eval']), commands: callsOf(written) };
}
