import { join } from 'node:path';
import { outputOf } from './command.ts';
import { readManifest } from './manifests.ts';
import { tools } from './paths.ts';

/** Versions of TypeScript that users have, as `tools/package.json` names them. */
export const TYPESCRIPTS = ['typescript-5', 'typescript-6', 'typescript-7'] as const;

export type TypeScript = (typeof TYPESCRIPTS)[number];

export function versionOf(typescript: TypeScript): string {
  return readManifest(join(tools, 'node_modules', typescript)).version;
}

/** Checks the programs of a project, and every declaration they reach. @throws Error with what the compiler found. */
export async function checkTypes(typescript: TypeScript, project: string): Promise<void> {
  const compiler = join(tools, 'node_modules', typescript, 'bin/tsc');
  await outputOf([process.execPath, compiler, '-p', project, '--pretty', 'false'], { cwd: project });
}
