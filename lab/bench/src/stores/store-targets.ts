import { rowOf, type Row } from '../report.ts';
import { targetRow } from '../targets.ts';
import { WHOLE_STORES, type StoreName } from './store-peers.ts';
import { NEW_DATA, type StoreMetric, type StoreResults } from './store-results.ts';

const OURS: StoreName = 'store-redis';
const CLAIMED: StoreName = 'store-redis-claimed';
const FLOOR: StoreName = 'append-only';
const FILE: StoreName = 'store-sqlite';
/** Bytes of a page in the write-ahead log of SQLite. */
const PAGE_BYTES = 4_096 + 24;

/** The targets of the stores, with the measured costs. Beside whole documents, bytes are judged at 200 steps and time at 500. */
export function storeTargets(results: StoreResults, lengths: readonly number[]): readonly Row[] {
  const ratio = (
    what: string,
    other: StoreName | typeof NEW_DATA,
    metric: StoreMetric,
    target: number,
  ): Row => rowOf(`${what} / ${other}`, results.ratios(OURS, other, metric), target);
  const bytes = WHOLE_STORES.map((other) => ratio('bytes of a run of 200 steps', other, 'bytes 200', 0.1));
  const times = WHOLE_STORES.map((other) =>
    ratio('time of a save at 500 steps', other, 'last time 500', 0.1),
  );
  const own = lengths.flatMap((steps) => [
    ratio(`bytes of a run of ${steps} steps`, FLOOR, `bytes ${steps}`, 1.5),
    ratio(`bytes of a save at ${steps} steps`, NEW_DATA, `last bytes ${steps}`, 1.5),
    rowOf(`requests of a save at ${steps} steps`, results.values(OURS, `requests ${steps}`), 1),
    rowOf(
      `bytes of a save at ${steps} steps / at 20`,
      results.growths(OURS, `early bytes ${steps}`, `last bytes ${steps}`),
      1.05,
    ),
    rowOf(`SQLite: pages of a save at ${steps} steps, more than at 20`, morePages(results, steps), 1),
  ]);
  return [
    targetRow('redis server', results.values(OURS, 'server time')),
    targetRow('redis floor', results.ratios(OURS, FLOOR, 'floor time')),
    rowOf('Redis: server time of a save under a claim', results.values(CLAIMED, 'server time'), 30, 'µs'),
    rowOf(
      'Redis: time of a save under a claim / append floor',
      results.ratios(CLAIMED, FLOOR, 'floor time'),
      1.7,
    ),
    rowOf('Redis: time of a save / PING', results.ratios(OURS, 'ping', 'floor time'), 2.5),
    targetRow('redis load', results.values(OURS, 'blocked')),
    ...bytes,
    ...times,
    ...own,
  ];
}

function morePages(results: StoreResults, steps: number): readonly number[] {
  const early = results.values(FILE, `early bytes ${steps}`);
  const last = results.values(FILE, `last bytes ${steps}`);
  return last.map((bytes, round) => Math.abs(bytes - (early[round] ?? NaN)) / PAGE_BYTES);
}
