import { parseCLI } from 'vitest/node';
import { readCosts, tierOf, type Costs, type Tier } from './costs.ts';

/** The values of `TEST_TIER`, and the tiers that each runs. */
const RUNS: Readonly<Record<string, readonly Tier[]>> = {
  fast: ['fast'],
  test: ['fast', 'medium'],
  heavy: ['heavy'],
};

const ALL = 'test/**/*.test.ts';

/** The test files of a project that run, as patterns from its folder. */
export interface TierFiles {
  readonly include: string[];
  readonly exclude: string[];
}

/** The test files of a project that `TEST_TIER` selects. Files that the command names run in any tier. */
export function tierFiles(project: string): TierFiles {
  const { TEST_TIER } = process.env;
  if (TEST_TIER === undefined || namesFiles(process.argv.slice(2))) return { include: [ALL], exclude: [] };
  return filesOf(project, TEST_TIER, readCosts());
}

export function filesOf(project: string, name: string, costs: Costs): TierFiles {
  const tiers = RUNS[name];
  if (tiers === undefined) throw new Error(`Unknown tier "${name}". Tiers: ${Object.keys(RUNS).join(', ')}.`);
  const files = listedFiles(project, costs);
  const ofTiers = (wanted: boolean) =>
    files.filter(({ path }) => tiers.includes(tierOf(path, costs)) === wanted).map(({ file }) => file);
  return tiers.includes('fast')
    ? { include: [ALL], exclude: ofTiers(false) }
    : { include: ofTiers(true), exclude: [] };
}

/** The files of a project in the table. A project has the name of its folder. */
function listedFiles(project: string, { seconds, exceptions }: Costs) {
  return Object.keys({ ...seconds, ...exceptions }).flatMap((path) => {
    const start = path.indexOf(`/${project}/test/`);
    return start === -1 ? [] : [{ path, file: path.slice(start + project.length + 2) }];
  });
}

export function namesFiles(args: readonly string[]): boolean {
  return parseCLI(['vitest', ...args]).filter.length > 0;
}
