import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const app = join(import.meta.dirname, '..');
export const repository = join(app, '../..');
export const github = 'https://github.com/holdfast-dev/holdfast';

/** The Markdown files below the repository that fit the patterns, by path. */
export function markdownFiles(...patterns: string[]): readonly string[] {
  const found = globSync(patterns, { cwd: repository, exclude: ['**/node_modules/**', '**/temp/**'] });
  return found.toSorted();
}

export function readText(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

/** A public entry of a package: `@holdfast/core/store` and its source. */
export interface Entry {
  readonly name: string;
  readonly source: string;
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/** The public entries of all packages, by name. */
export function publicEntries(): readonly Entry[] {
  const manifests = globSync('packages/*/package.json', { cwd: repository }).toSorted();
  return manifests.flatMap((path) => {
    const { name, exports } = JSON.parse(readText(path)) as Manifest;
    return Object.entries(exports).flatMap(([subpath, target]) => {
      // An entry without types is for the tests of this repository, and is not published.
      const source = typeof target === 'object' && target['types'] ? target['@holdfast/source'] : undefined;
      return source ? { name: name + subpath.slice(1), source: join(path, '..', source) } : [];
    });
  });
}
