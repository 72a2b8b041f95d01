import { median } from '../measure.ts';
import { inUnit, reportTable } from '../report.ts';
import type { StoreName } from './store-peers.ts';
import type { StoreMetric, StoreResults } from './store-results.ts';
import { NEW_DATA } from './store-results.ts';

const BASE: StoreName = 'store-redis';
const HEAD = [
  'store',
  'all saves, ms',
  'a save at the end, µs',
  'written by all, KB',
  'written by a save at the end, KB',
  'kept, KB',
  'commands',
];

/** Prints what all stores needed, a table for each length of the run. */
export function reportStores(
  results: StoreResults,
  names: readonly StoreName[],
  lengths: readonly number[],
): void {
  for (const steps of lengths) {
    const rows = [...names, NEW_DATA].map((name) => {
      const cell = (metric: StoreMetric, scale = 1): string => besides(results, name, metric, scale);
      return [
        name,
        cell(`time ${steps}`),
        cell(`last time ${steps}`, 1_000),
        cell(`bytes ${steps}`, 1 / 1_000),
        cell(`last bytes ${steps}`, 1 / 1_000),
        cell(`stored ${steps}`, 1 / 1_000),
        inUnit(median(results.values(name, `commands ${steps}`))),
      ];
    });
    reportTable(`${steps} steps (ratio to ${BASE})`, HEAD, rows);
  }
}

type Name = StoreName | typeof NEW_DATA;

/** The middle of the rounds, and in brackets the middle of their ratios. */
function besides(results: StoreResults, name: Name, metric: StoreMetric, scale: number): string {
  const value = inUnit(median(results.values(name, metric)) * scale);
  const ratio = inUnit(median(results.ratios(name, BASE, metric)));
  return ratio === '–' ? value : `${value} (${ratio})`;
}
