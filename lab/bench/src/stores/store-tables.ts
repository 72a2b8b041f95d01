import { median } from '../measure.ts';
import { inUnit, reportTable } from '../report.ts';
import { STORES, type StoreName } from './store-peers.ts';
import { NEW_DATA, type StoreMetric, type StoreResults } from './store-results.ts';

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
      const cell = (metric: StoreMetric, scale?: number): string =>
        results.cell(name, baseOf(name), metric, scale);
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
    reportTable(`${steps} steps (ratio to store-redis; of files to store-sqlite)`, HEAD, rows);
  }
}

type Name = StoreName | typeof NEW_DATA;

/** The store that another store is compared with. */
function baseOf(name: Name): StoreName {
  return name !== NEW_DATA && STORES[name].kind === 'file' ? 'store-sqlite' : 'store-redis';
}
