import { median } from '../measure.ts';
import { inUnit, reportTable } from '../report.ts';
import type { Results } from '../results.ts';
import { installed } from './installed.ts';
import { PEERS, type PeerName } from './peers.ts';
import type { Metric } from './workloads.ts';

/** Prints what all peers needed. */
export function reportPeers(
  results: Results<PeerName, Metric>,
  peers: readonly PeerName[],
  lengths: readonly number[],
): void {
  const cell = (peer: PeerName, metric: Metric, scale?: number): string =>
    results.cell(peer, 'generateText', metric, scale);
  reportTable(
    'All peers: µs a step (ratio to generateText)',
    [
      'peer',
      ...lengths.map((steps) => (steps === 1 ? '1 step' : `${steps} steps`)),
      '50 steps of 8 calls',
      'CPU µs a step, 200 steps',
      'exponent 200 → 1 000',
    ],
    peers.map((peer) => [
      peer,
      ...lengths.map((steps) => cell(peer, `steps ${steps}`, 1_000 / steps)),
      cell(peer, 'parallel 50', 1_000 / 50),
      cell(peer, 'cpu 200', 1_000 / 200),
      inUnit(median(results.exponents(peer, 'steps 200', 'steps 1000', 5))),
    ]),
  );
  reportTable(
    'All peers: the rest (ratio to generateText)',
    [
      'peer',
      'live heap MB, 200 steps',
      'live heap MB, 1 000 steps',
      '1 000 runs, ms',
      '1 000 runs, CPU ms',
      'loop delay p99, ms',
      'µs a delta',
      'import ms',
      'installed MB',
      'dependencies',
    ],
    peers.map((peer) => [
      peer,
      cell(peer, 'heap 200'),
      cell(peer, 'heap 1000'),
      cell(peer, 'concurrent total'),
      cell(peer, 'concurrent cpu'),
      cell(peer, 'concurrent delay'),
      cell(peer, 'delta', 1_000),
      cell(peer, 'import'),
      ...installCells(peer),
    ]),
  );
}

function installCells(peer: PeerName): readonly string[] {
  const { modules, folder } = PEERS[peer];
  if (modules.length === 0) return ['–', '–'];
  const packages = new Set(modules.map(packageOf));
  const { size, dependencies } = installed([...packages], folder);
  return [inUnit(size), inUnit(dependencies)];
}

/** `@scope/name` of `@scope/name/entry`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
