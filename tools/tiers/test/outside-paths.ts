import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathOf, repository } from '../src/costs.ts';

/** Texts that are paths upwards. The paths of imports are left out: a package imports others by name. */
const UPWARDS = /(?<!from |import |import\()['"`](?<path>\.\.(?:\/[\w.-]+)*\/?)/g;

/** The files and folders outside of a package that its code names by paths, from the root of the repository. */
export function outsidePaths(folder: string, parts: readonly string[]): readonly string[] {
  const own = join(repository, folder);
  const files = parts.flatMap((part) => globSync(`${part}/**/*.{ts,tsx,mjs}`, { cwd: own }));
  const found = files.flatMap((file) => {
    const texts = readFileSync(join(own, file), 'utf8').matchAll(UPWARDS);
    return Array.from(texts, ({ groups }) =>
      existing([dirname(join(own, file)), own], groups?.['path'] ?? ''),
    );
  });
  const outside = found.filter((path) => path !== undefined && !`${path}/`.startsWith(`${own}/`));
  return Array.from(new Set(outside), (path) => pathOf(path ?? '')).filter((path) => !path.startsWith('..'));
}

/** The path is relative to the file that has it, or else to the folder of the package. */
function existing(bases: readonly string[], path: string): string | undefined {
  return bases.map((base) => join(base, path)).find((candidate) => existsSync(candidate));
}
