import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The size of a package and the number of its dependencies. */
export interface Installed {
  /** MB of its files and of all that it needs. */
  readonly size: number;
  /** The size without the sources and source maps of this repository's packages, because no program loads them. */
  readonly codeSize: number;
  /** Packages that it needs, directly or not. */
  readonly dependencies: number;
}

/** The size of packages that are found from a folder, with their dependencies. @throws Error when one is not installed. */
export function installed(names: readonly string[], folder: URL): Installed {
  const found = new Set<string>();
  for (const name of names) collect(name, fileURLToPath(folder), found);
  const megabytes = (isCounted: (name: string) => boolean): number =>
    [...found].map((path) => sizeOfPackage(path, isCounted)).reduce((sum, size) => sum + size, 0) / 1e6;
  const dependencies = found.size - names.length;
  return { size: megabytes(isAny), codeSize: megabytes(isCode), dependencies };
}

function collect(name: string, from: string, found: Set<string>): void {
  const folder = folderOf(name, from);
  if (found.has(folder)) return;
  found.add(folder);
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf(folder);
  const required = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
  for (const needed of [...Object.keys(dependencies), ...required]) collect(needed, folder, found);
}

/** Where Node finds a package. */
function folderOf(name: string, from: string): string {
  const folder = join(from, 'node_modules', name);
  if (existsSync(folder)) return realpathSync(folder);
  if (from === dirname(from)) throw new Error(`${name} is not installed.`);
  return folderOf(name, dirname(from));
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** A package of this repository counts what it publishes. */
function sizeOfPackage(folder: string, isCounted: (name: string) => boolean): number {
  if (folder.includes('node_modules')) return sizeOf(folder, isAny);
  const published = ['package.json', 'README.md', 'LICENSE', ...(manifestOf(folder).files ?? [])];
  return [...new Set(published)]
    .filter(isCounted)
    .map((name) => sizeOf(join(folder, name), isCounted))
    .reduce((sum, size) => sum + size, 0);
}

function sizeOf(path: string, isCounted: (name: string) => boolean): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.size ?? 0;
  return readdirSync(path)
    .filter((name) => name !== 'node_modules' && isCounted(name))
    .reduce((sum, name) => sum + sizeOf(join(path, name), isCounted), 0);
}

function isAny(): boolean {
  return true;
}

function isCode(name: string): boolean {
  return name !== 'src' && !name.endsWith('.map');
}
