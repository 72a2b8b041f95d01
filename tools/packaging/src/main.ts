import { checkBundleSizes, checkUnusedEntries } from './bundles.ts';
import { checkSourceMaps } from './source-maps.ts';
import { installedProject, removeProject } from './project.ts';
import { RUNTIMES, runProgram } from './runtimes.ts';
import { checkTypes, TYPESCRIPTS, versionOf } from './type-check.ts';
import { checkWorkers } from './workers.ts';

// The packages as a user gets them: their tarballs, in a project outside of this workspace.

/** A name, and what rejects when it does not hold. */
type Check = readonly [name: string, run: (project: string) => Promise<void>];

const CHECKS: readonly Check[] = [
  ['maps and sources', checkSourceMaps],
  ...TYPESCRIPTS.map((typescript): Check => [
    `types and docs on TypeScript ${versionOf(typescript)}`,
    (project) => checkTypes(typescript, project),
  ]),
  ...Object.entries(RUNTIMES).map(([name, command]): Check => [
    `every package on ${name}`,
    (project) => runProgram(command, project),
  ]),
  ['core on Cloudflare Workers', checkWorkers],
  ['unused entries leave nothing in a bundle', checkUnusedEntries],
  ['sizes of bundles', checkBundleSizes],
];

const project = await timed('tarballs installed', installedProject);
if (project !== undefined) {
  for (const [name, run] of CHECKS) await timed(name, () => run(project));
  if (process.exitCode === undefined) await removeProject(project);
  else console.log(`The project is still there: ${project}`);
}

/** Does something and says how it went; `undefined` when it failed. */
async function timed<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
  const start = performance.now();
  try {
    const result = await work();
    console.log(`ok: ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    return result;
  } catch (error) {
    console.log(`FAILED: ${name}\n${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
    return undefined;
  }
}
