import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { inUnit, reportTable } from './report.ts';

/** The members of a CPU profile of V8 that the report reads. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The node of each sample, and the microseconds since the sample before. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

const SHOWN = 25;

// Prints where the time went: a table for each profile that is named.
for (const path of process.argv.slice(2)) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, 'utf8')) as CpuProfile;
  const names = new Map(nodes.map((node) => [node.id, nameOf(node)]));
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    if (name !== '(idle)') times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  const rows = [...times].toSorted(([, left], [, right]) => right - left).slice(0, SHOWN);
  reportTable(
    `${basename(path)}: ${inUnit(total / 1_000, 'ms')} of work`,
    ['function', 'own time, ms', 'of the work, %'],
    rows.map(([name, time]) => [name, inUnit(time / 1_000), inUnit((time / total) * 100)]),
  );
}

/** The function, with the end of its path, which names the package. */
function nameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const place = url && ` ${url.split('/').slice(-4).join('/')}:${lineNumber + 1}`;
  return `${functionName || '(anonymous)'}${place}`;
}
