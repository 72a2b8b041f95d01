import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { allPages, app, repository, writePages } from './pages.ts';

const run = promisify(execFile);

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The folder of what Node has compiled. */
export const COMPILED = '.compiled';

/** The least that a user has: `strict`, and no other check of types. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  include: ['pages/**/*.ts'],
};

/**
 * Makes a project of a user in a temporary folder, outside of the workspace: our packages from their tarballs, and the
 * blocks of each page in `pages/<path of the page>`. The packages of others are links to those that this app depends on.
 */
export async function createProject(): Promise<string> {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-docs-')));
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await linkDependencies(app, project);
  const packages = globSync('packages/*', { cwd: repository }).map((path) => join(repository, path));
  await Promise.all(packages.map((folder) => unpack(folder, project)));
  await writePages(allPages(), join(project, 'pages'));
  // Programs of the next project find what Node compiled for those of this one: the places in the folder are the same.
  const { NODE_COMPILE_CACHE } = process.env;
  if (NODE_COMPILE_CACHE) await symlink(NODE_COMPILE_CACHE, join(project, COMPILED), 'junction');
  return project;
}

/** Unpacks the tarball that `package-check` of a package has packed. */
async function unpack(folder: string, project: string): Promise<void> {
  const installed = join(project, 'node_modules', readManifest(folder).name);
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(folder, 'temp/package.tgz'), '-C', installed, '--strip-components=1']);
  await linkDependencies(folder, installed);
}

/** Links what a package depends on, but for our own packages: those come from tarballs. */
async function linkDependencies(from: string, to: string): Promise<void> {
  const names = Object.keys(readManifest(from).dependencies ?? {});
  for (const name of names.filter((name) => !name.startsWith('@holdfast/'))) {
    const link = join(to, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(await realpath(join(from, 'node_modules', name)), link, 'junction');
  }
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
