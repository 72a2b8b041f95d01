import { mkdir, symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { DefinitionRegistry, readDefinition } from '@holdfast/definitions';
import { describe, expect, test } from 'vitest';
import { placesOf, problemsOf } from './problems-of.ts';
import { temporaryFolders } from './temporary-folders.ts';

const newFolder = temporaryFolders();
const load = (folder: string): Promise<DefinitionRegistry> => DefinitionRegistry.load(folder);

describe('a folder', () => {
  test('is read with its subfolders, without ignored files and folders', async () => {
    const folder = await newFolder({
      'b.md': '---\nname: b\n---\nYou are b.',
      'a.YML': 'name: a',
      'support/refund.yaml': 'name: refund',
      'support/deep/c.json': '{"name":"c"}',
      'notes.txt': 'not read',
      Makefile: 'not read',
      '_draft.md': 'not read',
      '.hidden.yaml': 'not: read',
      '_old/x.md': 'not read',
      '.git/y.json': 'not read',
    });
    const registry = await load(folder);
    expect(registry.names).toEqual(['a', 'b', 'c', 'refund']);
    expect([...registry]).toEqual([
      { name: 'a' },
      { name: 'b', systemPrompt: 'You are b.' },
      { name: 'c' },
      { name: 'refund' },
    ]);
    expect(Object.isFrozen(registry)).toBe(true);
  });

  test('may be empty, and may have a relative path', async () => {
    expect([...(await load(await newFolder({})))]).toEqual([]);
    const folder = await newFolder({ 'a.yaml': 'name: a' });
    expect((await load(relative(process.cwd(), folder))).names).toEqual(['a']);
  });

  test('is read with its links to files, as in a mounted configuration, but without its links to folders', async () => {
    const folder = await newFolder({
      '..data_1/a.yaml': 'name: a',
      '..data_1/b.md': '---\nname: b\n---\nHi',
    });
    await symlink('..data_1', join(folder, '..data'), 'junction');
    await symlink('..data/a.yaml', join(folder, 'a.yaml'));
    await symlink('..data/b.md', join(folder, 'b.md'));
    await mkdir(join(folder, 'sub'));
    await symlink('..', join(folder, 'sub', 'up'), 'junction');
    expect((await load(folder)).names).toEqual(['a', 'b']);
  });

  test('is refused with all problems of all files, in the order of the files', async () => {
    const folder = await newFolder({
      'a.md': '---\nname: a\ncolor: red\ntools: 5\n---\n',
      'b.yaml': 'name: [b',
      'good.yaml': 'name: good',
      'sub/c.json': '{"name":"c",\n"budget":{"maxSteps":"ten"}}',
      'sub/good-too.json': '{"label":"G",\n"name":"good"}',
    });
    await symlink('nowhere', join(folder, 'sub/d.md'));
    const at = (file: string): string => join(folder, file);
    expect(await placesOf(() => load(folder))).toEqual([
      `${at('a.md')}:3:1: color`,
      `${at('a.md')}:4:8: tools`,
      `${at('a.md')}: systemPrompt`,
      `${at('b.yaml')}:1:9`,
      `${at('sub/c.json')}:2:22: budget.maxSteps`,
      at('sub/d.md'),
      `${at('sub/good-too.json')}:2:8: name`,
    ]);
    await expect(load(folder)).rejects.toThrow(/^7 problems in agent definitions:\n/);
  });

  test.for<[what: string, files: Record<string, string>]>([
    ['with the same name', { 'a.yaml': 'name: a', 'b.yaml': 'name: a' }],
    ['with the same name and version', { 'a.yaml': 'name: a\nversion: v', 'b.yaml': 'name: a\nversion: v' }],
  ])('with two definitions %s is refused', async ([, files]) => {
    const folder = await newFolder(files);
    expect(await problemsOf(() => load(folder))).toEqual([
      {
        file: join(folder, 'b.yaml'),
        line: 1,
        column: 7,
        key: 'name',
        expected: 'a unique name and version',
        found: `the same name and version in ${join(folder, 'a.yaml')}`,
        advice: 'Rename one of the agents, or set another version.',
      },
    ]);
  });

  test('that is missing or is a file is refused', async () => {
    const folder = await newFolder({ 'a.yaml': 'name: a' });
    for (const path of [join(folder, 'nowhere'), join(folder, 'a.yaml')]) {
      const [problem] = await problemsOf(() => load(path));
      expect(problem).toMatchObject({
        file: path,
        expected: 'a folder',
        found: expect.stringMatching(/^E[A-Z]+: /),
      });
    }
  });
});

describe('a definition is found by its name and version', () => {
  const files = {
    'a.yaml': 'name: a',
    'a-2.yaml': 'name: a\nversion: "2"',
    'b.yaml': 'name: b\nversion: "1"',
    'c.yaml': 'name: c\nversion: "1"',
    'c-2.yaml': 'name: c\nversion: "2"',
  };
  const loadAll = async (): Promise<DefinitionRegistry> => load(await newFolder(files));

  test.for<[name: string, version: string | undefined, found: object]>([
    ['a', undefined, { name: 'a' }],
    ['a', '2', { name: 'a', version: '2' }],
    ['b', undefined, { name: 'b', version: '1' }],
    ['b', '1', { name: 'b', version: '1' }],
    ['c', '2', { name: 'c', version: '2' }],
  ])('%s %s is found', async ([name, version, found]) => {
    const definitions = await loadAll();
    expect(definitions.get(name, version)).toEqual(found);
    expect(definitions.has(name, version)).toBe(true);
  });

  test.for<[name: string, version: string | undefined]>([
    ['a', '1'],
    ['b', '2'],
    ['b', ''],
    ['d', undefined],
    ['d', '1'],
    ['__proto__', undefined],
  ])('%s %s is not found', async ([name, version]) => {
    const definitions = await loadAll();
    const refusal = expect.objectContaining({ code: 'AGENT_NOT_FOUND' });
    expect(() => definitions.get(name, version)).toThrow(refusal);
    expect(definitions.has(name, version)).toBe(false);
  });

  test('the error lists the known names or versions', async () => {
    const definitions = await loadAll();
    expect(definitions.has('c')).toBe(true);
    expect(() => definitions.get('c')).toThrow('Agent "c" has several versions. Pass one of them: 2, 1.');
    expect(() => definitions.get('a', '1')).toThrow(
      'Unknown version "1" of agent "a". Known versions: 2, no version.',
    );
    expect(() => definitions.get('d')).toThrow('Unknown agent "d". Known agents: a, b, c.');
  });
});

describe('a file', () => {
  test('is read in the format of its extension', async () => {
    const folder = await newFolder({ 'a.md': '---\nname: a\n---\nHi' });
    expect(await readDefinition(join(folder, 'a.md'))).toEqual({ name: 'a', systemPrompt: 'Hi' });
  });

  test.for<[what: string, file: string, content: string | Uint8Array, expected: string]>([
    [
      'with another extension',
      'a.toml',
      'name = "a"',
      'a file name that ends in one of .md, .yaml, .yml, .json',
    ],
    ['in Latin-1', 'a.yaml', Buffer.from('name: caf\u00e9', 'latin1'), 'text in UTF-8'],
    ['in UTF-16', 'a.yaml', Buffer.from('\uFEFFname: a', 'utf16le'), 'text in UTF-8'],
    ['that is too large', 'a.yaml', Buffer.alloc(128 * 1024 + 1, 'a'), 'at most 131072 bytes'],
    ['that is a folder', 'a.yaml/b.txt', '', 'a file'],
  ])('%s is refused', async ([, file, content, expected]) => {
    const path = join(await newFolder({ [file]: content }), file.replace('/b.txt', ''));
    const [problem, ...others] = await problemsOf(() => readDefinition(path));
    expect([problem?.file, problem?.expected, others]).toEqual([path, expected, []]);
  });

  test.skipIf(process.platform === 'win32')('that is a device is refused without a read', async () => {
    const folder = await newFolder({ 'a.yaml': 'name: a' });
    await symlink('/dev/zero', join(folder, 'b.yaml'));
    expect(await placesOf(() => load(folder))).toEqual([join(folder, 'b.yaml')]);
  });

  test('with a byte order mark is read', async () => {
    const folder = await newFolder({ 'a.json': '\uFEFF{"name":"a"}' });
    expect(await readDefinition(join(folder, 'a.json'))).toEqual({ name: 'a' });
  });
});
