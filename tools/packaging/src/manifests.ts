import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { packages } from './paths.ts';

/** The members of a package.json that the checks read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/** A package that is published. */
export interface PublishedPackage {
  /** The name of its folder, which is its name without the scope. */
  readonly folderName: string;
  readonly folder: string;
  readonly manifest: Manifest;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** The published packages, by name. */
export function publishedPackages(root = packages): readonly PublishedPackage[] {
  const found = globSync('*/package.json', { cwd: root }).toSorted();
  return found.map((path) => {
    const folder = dirname(join(root, path));
    return { folderName: basename(folder), folder, manifest: readManifest(folder) };
  });
}
