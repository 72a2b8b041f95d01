import type { Reporter, TestModule } from 'vitest/node';
import { hasGrown, pathOf, readCosts, updatedCosts, writeCosts } from './costs.ts';
import { countsChildren, ownSeconds } from './cpu.ts';

/** A test file and its cost in seconds of processor time. */
interface Measured {
  readonly project: string;
  readonly path: string;
  readonly seconds: number;
}

/**
 * Reports the processor time of the test files: the costly files by project, and those that cost three times what the table
 * says. It names them and does not fail: a machine with many busy processes makes the same work cost up to twice as much,
 * and work that waits in a loop far more. `UPDATE_COSTS=1` writes the costs to the table.
 */
export class CostsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.flatMap(measured).toSorted((one, other) => other.seconds - one.seconds);
    if (files.length === 0) return;
    console.log(reportOf(files, ownSeconds()));
    if (process.env['UPDATE_COSTS'] === undefined) return;
    writeCosts(updatedCosts(readCosts(), new Map(files.map(({ path, seconds }) => [path, seconds]))));
  }
}

function measured(module: TestModule): readonly Measured[] {
  const { seconds } = module.meta();
  if (seconds === undefined || !module.ok()) return [];
  return [{ project: module.project.name, path: pathOf(module.moduleId), seconds }];
}

/** The report on files, the costliest first. */
function reportOf(files: readonly Measured[], runnerSeconds: number): string {
  const costs = readCosts();
  const grown = files.filter(({ path, seconds }) => hasGrown(path, seconds, costs));
  const byProject = Map.groupBy(files, ({ project }) => project);
  const children = countsChildren ? '' : ' (without child processes)';
  return [
    `\nProcessor time${children}: ${shown(sum(files))} in test files, ${shown(runnerSeconds)} in their runner`,
    ...Array.from(byProject).flatMap(([project, own]) => linesOf(project, own)),
    ...grown.map(
      ({ path, seconds }) =>
        `GROWN: ${path} costs ${shown(seconds)}, and ${costs.seconds[path] ?? 'under 1'} s in the table.`,
    ),
  ].join('\n');
}

function linesOf(project: string, files: readonly Measured[]): readonly string[] {
  const costly = files.filter(({ seconds }) => seconds >= 1);
  return [
    `  ${project}: ${shown(sum(files))} in ${files.length} files`,
    ...costly.map(({ path, seconds }) => `${shown(seconds).padStart(10)}  ${path}`),
  ];
}

function sum(files: readonly Measured[]): number {
  return files.reduce((total, { seconds }) => total + seconds, 0);
}

function shown(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}
