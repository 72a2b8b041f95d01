import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outputOf } from '../src/command.ts';
import { publishedPackages } from '../src/manifests.ts';
import { KINDS } from '../src/package-sources.ts';
import { writePackage } from '../src/package-template.ts';
import { repository } from '../src/paths.ts';
import { expectManifest } from './package-habits.ts';

const folders = KINDS.map((kind) => `${kind}-red-box`);
const bin = (name: string): string => join(repository, 'node_modules/.bin', name);
let copy: string;

/** A repository with the settings of this one, its core and its cases, and a new package of each kind. */
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'holdfast-new-package-'));
  const settings = [
    'tools/config/tsconfig.base.json',
    'tools/config/tsup.base.ts',
    'tools/config/vitest.base.ts',
    '.oxlintrc.json',
    '.oxfmtrc.json',
  ];
  for (const file of settings) await cp(join(repository, file), join(copy, file));
  await writeFile(join(copy, 'package.json'), '{ "type": "module" }');
  const projects = folders.map((folder) => `packages/${folder}`);
  await writeFile(
    join(copy, 'vitest.config.ts'),
    `export default { test: { projects: ${JSON.stringify(projects)} } };`,
  );
  await mkdir(join(copy, '.changeset'));
  for (const name of ['store-sqlite', 'core', 'conformance']) await link(join('packages', name));
  await link('node_modules');
  await link('tools/tiers');
  for (const kind of KINDS) {
    const folder = await writePackage({ kind, name: 'red-box', repository: copy });
    await link(join(folder, 'node_modules'), 'packages/store-sqlite/node_modules');
  }
});

afterAll(() => rm(copy, { recursive: true }));

async function link(path: string, target = path): Promise<void> {
  await mkdir(join(copy, path, '..'), { recursive: true });
  await symlink(join(repository, target), join(copy, path), 'junction');
}

describe('new packages', () => {
  test('have a package.json as every package', () => {
    const made = publishedPackages(join(copy, 'packages')).filter(({ folderName }) =>
      folders.includes(folderName),
    );
    expect(made.map(({ folderName }) => folderName)).toEqual(folders.toSorted());
    for (const published of made) expectManifest(published);
  });

  test('pass the type check', async () => {
    for (const folder of folders) {
      expect(await outputOf([bin('tsc'), '-p', join(copy, 'packages', folder)], { cwd: copy })).toBe('');
    }
  });

  test('pass lint and format', async () => {
    const paths = folders.map((folder) => join('packages', folder));
    const code = paths.flatMap((path) => [join(path, 'src'), join(path, 'test')]);
    expect(await outputOf([bin('oxlint'), ...code], { cwd: copy })).toContain('0 errors');
    expect(await outputOf([bin('oxfmt'), '--check', ...paths], { cwd: copy })).toContain('correct format');
  });

  test('pass their tests', async () => {
    const output = await outputOf([bin('vitest'), 'run', '--no-color'], { cwd: copy });
    expect(output).toMatch(/Test Files +3 passed \(3\)/);
  });

  test('have a changeset', async () => {
    const text = await readFile(join(copy, '.changeset/store-red-box.md'), 'utf8');
    expect(text).toBe("---\n'@holdfast/store-red-box': minor\n---\n\nKeeps Holdfast sessions in RedBox.\n");
  });
});

test('an existing package is not overwritten', async () => {
  await expect(writePackage({ kind: 'store', name: 'sqlite', repository })).rejects.toThrow('EEXIST');
});

describe('pnpm new:package', () => {
  const script = join(import.meta.dirname, '../src/new-package.ts');

  test.each([
    [[]],
    [['store']],
    [['shop', 'x']],
    [['store', '../x']],
    [['store', 'Red']],
    [['store', 'a', 'b']],
  ])('refuses %j', async (args) => {
    const command = outputOf([process.execPath, script, ...args], { cwd: repository });
    await expect(command).rejects.toThrow('Usage: pnpm new:package store|driver|engine NAME');
  });
});
