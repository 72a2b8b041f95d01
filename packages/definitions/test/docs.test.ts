import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DefinitionError } from '@holdfast/definitions';
import { expect, test } from 'vitest';
import { temporaryFolders } from './temporary-folders.ts';

const newFolder = temporaryFolders();
const packageFolder = join(import.meta.dirname, '..');

test('the example in the README runs as it stands', async () => {
  const readme = await readFile(join(packageFolder, 'README.md'), 'utf8');
  const block = (language: string): string =>
    new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm').exec(readme)?.[1] ?? '';
  const folder = await newFolder({ 'agents/writer.md': block('md'), 'example.ts': block('ts') });
  const scope = join(folder, 'node_modules/@holdfast');
  await mkdir(scope, { recursive: true });
  await symlink(packageFolder, join(scope, 'definitions'), 'junction');
  await symlink(join(packageFolder, '../core'), join(scope, 'core'), 'junction');
  const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, 'example.ts'], {
    cwd: folder,
  });
  expect(stdout).toBe("[ 'search', 'read' ] You write well, and briefly. Gladly.\n");
});

test('docs/errors.md explains the code of this package', async () => {
  const errors = await readFile(join(packageFolder, '../../docs/errors.md'), 'utf8');
  const section = /^## `@holdfast\/definitions`$([^]*?)(?=^## |$(?![^]))/m.exec(errors)?.[1] ?? '';
  const codes = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  expect(codes).toEqual([new DefinitionError([]).code]);
});
