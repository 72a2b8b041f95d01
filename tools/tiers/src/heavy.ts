import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readCosts, repository, tierOf, type Costs } from './costs.ts';
import { reportOfRun, runSince } from './heavy-report.ts';
import { machineVersions } from './machine.ts';

/** Most tests of this tier wait for leases, servers and pages: more tasks than processors. */
const CONCURRENCY = 4;
/** The test files that a task runs at once. */
const VITEST_MAX_WORKERS = '2';

/** The heavy tests of each package that has some, as tasks of Turborepo. */
export function heavyTasks(costs: Costs = readCosts()): readonly string[] {
  const paths = Object.keys({ ...costs.seconds, ...costs.exceptions });
  const heavy = paths.filter((path) => tierOf(path, costs) === 'heavy');
  const folders = new Set(heavy.map((path) => path.slice(0, path.indexOf('/test/'))));
  return Array.from(folders, (folder) => `${packageName(folder)}#test:heavy`).toSorted();
}

function packageName(folder: string): string {
  return JSON.parse(readFileSync(join(repository, folder, 'package.json'), 'utf8')).name;
}

/**
 * The environment in which Turborepo runs tasks. The results are kept outside of the repository, so that they outlive a
 * checkout.
 */
function turboEnvironment(): NodeJS.ProcessEnv {
  const { XDG_CACHE_HOME = join(homedir(), '.cache') } = process.env;
  const TURBO_CACHE_DIR = join(XDG_CACHE_HOME, 'holdfast');
  const defaults = { TURBO_CACHE_DIR, VITEST_MAX_WORKERS };
  return { ...defaults, ...process.env, TEST_MACHINE: machineVersions() };
}

/** Runs the heavy tests, and other tasks beside them. The arguments are those of Turborepo. */
export async function runHeavy(args: readonly string[]): Promise<number> {
  const start = Date.now();
  const turbo = join(repository, 'node_modules/.bin/turbo');
  const settings = [`--concurrency=${CONCURRENCY}`, '--continue=dependencies-successful', '--summarize'];
  const child = spawn(turbo, ['run', ...heavyTasks(), ...args, ...settings], {
    cwd: repository,
    env: turboEnvironment(),
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  const done = runSince(start);
  if (done !== undefined) console.log(reportOfRun(done));
  return code ?? 1;
}
