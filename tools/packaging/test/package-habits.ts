import { expect } from 'vitest';
import type { PublishedPackage } from '../src/manifests.ts';

const repository = 'https://github.com/holdfast-dev/holdfast';

/** Checks what the package.json of every published package has in common. */
export function expectManifest({ folderName, manifest }: PublishedPackage): void {
  expect(manifest).toMatchObject({
    name: `@holdfast/${folderName}`,
    description: expect.stringMatching(/^[A-Z].{20,}\.$/),
    homepage: `${repository}/tree/main/packages/${folderName}#readme`,
    bugs: `${repository}/issues`,
    license: 'MIT',
    repository: { type: 'git', url: `git+${repository}.git`, directory: `packages/${folderName}` },
    files: ['dist', 'src', 'CHANGELOG.md'],
    type: 'module',
    sideEffects: false,
    publishConfig: { access: 'public', provenance: true },
    engines: { node: expect.stringMatching(/^>=22/) },
    scripts: {
      build: 'tsup && tsc -p tsconfig.build.json',
      typecheck: 'tsc',
      'test:heavy': `cd ../.. && TEST_TIER=heavy vitest run --project ${folderName}`,
      api: expect.stringMatching(/^api-extractor run/),
      'api:update': expect.stringMatching(/^mkdir -p etc && api-extractor run --local/),
      'package-check':
        'pnpm pack --out temp/package.tgz && publint --strict temp/package.tgz && attw temp/package.tgz --profile esm-only',
    },
  });
  expect(manifest).not.toHaveProperty('private');
  expectBuild(manifest);
  expectKeywords(manifest['keywords']);
  expectExports(manifest['exports'], manifest['publishConfig']);
  expectPeers(manifest);
}

/** A package can be built in its folder on a fresh clone: the declarations of core, which it imports, are built first. */
function expectBuild({ name, ...manifest }: PublishedPackage['manifest']): void {
  if (name === '@holdfast/core') return;
  const prebuild = 'test -f ../core/dist/index.d.ts || pnpm --dir ../core build';
  expect(manifest).toMatchObject({ scripts: { prebuild } });
}

function expectKeywords(keywords: unknown): void {
  expect(keywords).toEqual(expect.arrayContaining(['agents', 'ai']));
  const words = keywords as readonly string[];
  expect(words.length).toBeGreaterThanOrEqual(5);
  expect(new Set(words).size).toBe(words.length);
  for (const word of words) expect(word).toMatch(/^[a-z0-9-]+$/);
}

/**
 * A published package has the same entries, without the condition `@holdfast/source` of this workspace. An entry with
 * this condition alone is for the tests of the workspace.
 */
function expectExports(exported: unknown, published: unknown): void {
  const withoutSources = JSON.parse(
    JSON.stringify(exported, (name, value: unknown) => (name === '@holdfast/source' ? undefined : value)),
    (_, value: unknown) => (isEmpty(value) ? undefined : value),
  );
  expect(published).toHaveProperty('exports', withoutSources);
  expect(withoutSources).toHaveProperty(['./package.json'], './package.json');
  expect(exported).toHaveProperty(['.', '@holdfast/source'], './src/index.ts');
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Every other package shares the core of its user. */
function expectPeers({ name, dependencies = {}, peerDependencies = {} }: PublishedPackage['manifest']): void {
  expect(dependencies).not.toHaveProperty('@holdfast/core');
  if (name !== '@holdfast/core') expect(peerDependencies).toHaveProperty('@holdfast/core', 'workspace:^');
}
