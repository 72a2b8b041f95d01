import { median } from '../measure.ts';
import type { Metrics, Results } from '../results.ts';
import type { RedisCosts } from './measure-redis.ts';
import type { RunCosts, StoreCosts } from './measure-saves.ts';
import { STORE_NAMES, type StoreName } from './store-peers.ts';

/** Milliseconds of a save beside the floor, and of the longest command of a load; microseconds of the server for a save. */
type RedisMetric = 'floor time' | 'server time' | 'blocked';

/**
 * Of a run of so many steps: milliseconds of all saves, and of one at its end; bytes written by all, by one early in the
 * run, and by one at its end; bytes kept; commands of a save at the end, and those of them that the client sent.
 */
export type StoreMetric = `${
  | 'time'
  | 'last time'
  | 'bytes'
  | 'early bytes'
  | 'last bytes'
  | 'stored'
  | 'commands'
  | 'requests'} ${number}`;

/** The new data of the run, as JSON: no store can write less, unless it compresses. */
export const NEW_DATA = 'new-data' as const;

export type StoreResults = Results<StoreName | typeof NEW_DATA, StoreMetric | RedisMetric>;

/** So many saves speak for a place in the run. */
const SAMPLE = 20;

/** Adds what a process measured. */
export function addCosts(results: StoreResults, round: number, steps: number, run: RunCosts): void {
  results.add(round, NEW_DATA, byteMetrics(steps, run.newBytes));
  for (const name of STORE_NAMES) {
    const costs = run.stores[name];
    if (costs) results.add(round, name, storeMetrics(steps, costs));
  }
}

/** Adds what a process measured of the server. */
export function addRedisCosts(results: StoreResults, round: number, costs: RedisCosts): void {
  const { times, serverTimes, blocked } = costs;
  const byName: Partial<Record<StoreName, number>> = times;
  const serverByName: Partial<Record<StoreName, number>> = serverTimes;
  for (const name of STORE_NAMES) {
    const [time, serverTime] = [byName[name], serverByName[name]];
    if (time !== undefined) results.add(round, name, { 'floor time': time });
    if (serverTime !== undefined) results.add(round, name, { 'server time': serverTime });
  }
  results.add(round, 'store-redis', { blocked });
}

function storeMetrics(steps: number, { costs, stored }: StoreCosts): Metrics<StoreMetric> {
  const times = costs.map(({ time }) => time);
  const last = costs.slice(-SAMPLE);
  const time = { [`time ${steps}`]: sum(times), [`last time ${steps}`]: median(times.slice(-SAMPLE)) };
  if (stored === null) return time;
  return {
    ...time,
    ...byteMetrics(
      steps,
      costs.map(({ bytes }) => bytes),
    ),
    [`stored ${steps}`]: stored,
    [`commands ${steps}`]: median(last.map(({ commands }) => commands)),
    // A store that uses scripts sends nothing else.
    [`requests ${steps}`]: median(last.map(({ scripts, commands }) => scripts || commands)),
  };
}

function byteMetrics(steps: number, bytes: readonly number[]): Metrics<StoreMetric> {
  return {
    [`bytes ${steps}`]: sum(bytes),
    // The first steps are special: what a session keeps once is written with them.
    [`early bytes ${steps}`]: median(bytes.slice(SAMPLE / 2, SAMPLE / 2 + SAMPLE)),
    [`last bytes ${steps}`]: median(bytes.slice(-SAMPLE)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
