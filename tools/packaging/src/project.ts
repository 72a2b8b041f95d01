import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { outputOf } from './command.ts';
import { publishedPackages } from './manifests.ts';
import { app, repository } from './paths.ts';

/** Packages that the programs of a user import besides ours. */
const OTHERS = [
  '@ai-sdk/mcp',
  '@ai-sdk/openai',
  '@ai-sdk/provider',
  '@ai-sdk/react',
  '@aws-sdk/client-dynamodb',
  '@aws-sdk/client-s3',
  '@hono/node-server',
  '@types/node',
  '@types/react',
  'ai',
  'bullmq',
  'ioredis',
  'react',
  'zod',
];

/**
 * Makes a project of a user in a temporary folder, outside of the workspace, with the tarballs of all packages installed
 * and the programs of the docs beside its own. Other packages have the versions of this repository's lockfile.
 */
export async function installedProject(): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'holdfast-project-'));
  await cp(join(app, 'consumer'), project, { recursive: true });
  const writePages = join(repository, 'apps/examples/src/write.ts');
  await outputOf([process.execPath, writePages, join(project, 'pages')], { cwd: project });
  await cp(join(repository, 'pnpm-lock.yaml'), join(project, 'pnpm-lock.yaml'));
  const dependencies = { ...(await otherVersions()), ...tarballs() };
  const manifest = { name: 'project', private: true, type: 'module', dependencies };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest, undefined, 2));
  await writeFile(join(project, 'pnpm-workspace.yaml'), workspaceOf(dependencies));
  await outputOf(['pnpm', 'install', '--no-frozen-lockfile', '--prefer-offline', '--ignore-scripts'], {
    cwd: project,
  });
  return project;
}

export async function removeProject(project: string): Promise<void> {
  await rm(project, { recursive: true });
}

async function otherVersions(): Promise<Record<string, string>> {
  const text = await readFile(join(repository, 'pnpm-workspace.yaml'), 'utf8');
  const { catalog } = parse(text) as { readonly catalog: Readonly<Record<string, string>> };
  return Object.fromEntries(OTHERS.map((name) => [name, catalog[name] ?? 'absent from the catalog']));
}

/** The tarballs that `package-check` of each package has packed. */
function tarballs(): Record<string, string> {
  const packed = publishedPackages().map(({ folder, manifest: { name } }): [string, string] => [
    name,
    `file:${join(folder, 'temp/package.tgz')}`,
  ]);
  return Object.fromEntries(packed);
}

/** Our packages need one another in versions that no registry has yet: they are the tarballs too. */
function workspaceOf(dependencies: Readonly<Record<string, string>>): string {
  const ours = Object.entries(dependencies).filter(([name]) => name.startsWith('@holdfast/'));
  return JSON.stringify({ packages: [], overrides: Object.fromEntries(ours) });
}
