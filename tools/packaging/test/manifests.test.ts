import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { publishedPackages, type PublishedPackage } from '../src/manifests.ts';
import { expectManifest } from './package-habits.ts';

const all = publishedPackages();
const named = all.map((published): [string, PublishedPackage] => [published.manifest.name, published]);

test('every folder of packages is checked', () => {
  expect(all.length).toBeGreaterThan(6);
});

describe.each(named)('%s', (_, published) => {
  // oxlint-disable-next-line vitest/expect-expect -- `expectManifest` does
  test('has a package.json as every package', () => {
    expectManifest(published);
  });

  test('has the files that every package has', () => {
    const files = ['README.md', 'api-extractor.json', 'tsconfig.build.json', 'tsconfig.json'];
    const expected = [...files, 'tsup.config.ts', 'vitest.config.ts', 'src', 'test', 'etc'];
    expect(readdirSync(published.folder)).toEqual(expect.arrayContaining(expected));
  });

  test('has a README that begins with its name and says how it is installed', () => {
    const readme = readFileSync(join(published.folder, 'README.md'), 'utf8');
    expect(readme).toMatch(new RegExp(`^# ${published.manifest.name}\n`));
    expect(readme).toMatch(new RegExp(`^npm install .*${published.manifest.name}( |$)`, 'm'));
  });

  test('exports files that are there', () => {
    const exported = JSON.stringify(published.manifest['exports']);
    const sources = [...exported.matchAll(/"\.\/(src\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.filter((path) => !existsSync(join(published.folder, path)))).toEqual([]);
  });
});
