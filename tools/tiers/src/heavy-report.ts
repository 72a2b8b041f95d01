import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { repository } from './costs.ts';

/** The file that Turborepo writes about a run with `--summarize`: the members that the report reads. */
export interface TurboRun {
  readonly execution: { readonly startTime: number };
  readonly tasks: readonly TurboTask[];
}

interface TurboTask {
  readonly taskId: string;
  readonly command: string;
  readonly logFile: string;
  readonly cache: { readonly status: 'HIT' | 'MISS' };
  /** Absent for a task that did not run, because of its inputs or of an earlier failure. */
  readonly execution?: { readonly startTime: number; readonly endTime: number; readonly exitCode: number };
}

const runs = join(repository, '.turbo/runs');
/** The lines of a log that are Vitest's own summary. */
const SUMMARY = /^ *(?:Test Files|Tests|Duration) .*/gm;

/** The run of Turborepo that began after an instant, if it has got as far as its first task. */
export function runSince(start: number): TurboRun | undefined {
  if (!existsSync(runs)) return undefined;
  const all = readdirSync(runs).map((name): TurboRun => JSON.parse(readFileSync(join(runs, name), 'utf8')));
  return all.find(({ execution }) => execution.startTime >= start);
}

/** Lists the tasks of a run, with the summary of their tests, and those that were skipped. */
export function reportOfRun({ tasks }: TurboRun): string {
  const own = tasks.filter(({ command }) => command !== '<NONEXISTENT>');
  return ['\nTasks beside the tests:', ...own.map(lineOf)].join('\n');
}

function lineOf(task: TurboTask): string {
  const tests = task.taskId.endsWith('#test:heavy') ? summaryOf(task) : '';
  return `  ${task.taskId}: ${outcomeOf(task)}${tests}`;
}

function outcomeOf({ cache, execution }: TurboTask): string {
  if (cache.status === 'HIT') return 'skipped, since it passed with the same inputs on this machine';
  if (execution === undefined) return 'not run';
  const seconds = Math.round((execution.endTime - execution.startTime) / 1000);
  return `${execution.exitCode === 0 ? 'passed' : 'FAILED'} in ${seconds} s`;
}

function summaryOf({ logFile }: TurboTask): string {
  const path = join(repository, logFile);
  if (!existsSync(path)) return '';
  const text = stripVTControlCharacters(readFileSync(path, 'utf8'));
  return Array.from(text.matchAll(SUMMARY), ([line]) => `\n    ${line.trim()}`).join('');
}
