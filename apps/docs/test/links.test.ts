import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { deadBuiltLinks } from '../src/built-links.ts';
import { deadLinks, pageUrl, resolveLink, withLinks } from '../src/links.ts';
import { byPath, createPage } from '../src/pages.ts';
import { github } from '../src/repository.ts';
import { sectionsOf } from '../src/sections.ts';

const home = createPage(
  'README.md',
  '# Holdfast\n\n[Guide](docs/guide), [core](packages/core/src/index.ts)\n',
);
const state = createPage('docs/guide/state.md', '# State\n\n## Reading\n\n[home](../../README.md)\n');
const errors = createPage('docs/errors.md', '# Errors\n');
const guide = createPage('docs/guide/README.md', '# Guide\n\n- [State](state.md): what an agent is\n');
const pages = byPath([home, guide, state, errors]);

test.each([
  [home, 'docs/guide', 'guide/'],
  [home, 'docs/guide/state.md#reading', 'guide/state/#reading'],
  [state, '../../README.md', '../../'],
  [state, '../errors.md', '../../errors/'],
  [state, '../errors.md#errors', '../../errors/#_top'],
  [state, '#reading', '#reading'],
  [errors, `${github}/tree/main/docs/guide#readme`, '../guide/'],
  [errors, `${github}#readme`, '../'],
])('a link in %o to %s', (from, url, expected) => {
  const target = resolveLink(from, url, pages);
  expect(target.kind === 'page' && pageUrl(from, target.page, target.anchor)).toBe(expected);
});

test('a link to a source is a link to GitHub, and one to another site stays', () => {
  expect(resolveLink(home, 'packages/core/src/index.ts', pages)).toMatchObject({ kind: 'file' });
  expect(resolveLink(home, 'https://nodejs.org/api/', pages)).toEqual({ kind: 'external' });
});

test('only addresses are replaced, and not those in code', () => {
  const page = createPage('docs/x.md', '`[a](b.md)` [b.md](b.md), ![c](c.png)\n\n| [d](d.md) |\n|---|\n');
  expect(withLinks(page, ({ url }) => url.toUpperCase())).toBe(
    '`[a](b.md)` [b.md](B.MD), ![c](C.PNG)\n\n| [d](D.MD) |\n|---|\n',
  );
});

test('dead pages and dead anchors are named with their places', () => {
  const page = createPage('docs/x.md', '# X\n\n[a](missing.md)\n[b](errors.md#missing)\n[c](#missing)\n');
  expect(deadLinks(page, byPath([page, errors]))).toEqual([
    'docs/x.md:3: missing.md: docs/missing.md does not exist',
    'docs/x.md:4: errors.md#missing: docs/errors.md has no heading #missing',
    'docs/x.md:5: #missing: docs/x.md has no heading #missing',
  ]);
});

test('dead links of a built site are named', () => {
  const out = mkdtempSync(join(tmpdir(), 'site-'));
  onTestFinished(() => rmSync(out, { recursive: true }));
  const files = {
    'index.html': '<a href="a/">a</a><a href="a/#here">b</a><a href="a/#gone">c</a><a href="gone/">d</a>',
    'a/index.html':
      '<h2 id="here"></h2><img src="/gone.png"><a href="../">up</a><a href="https://x.org/">x</a>',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), text);
  }
  expect(deadBuiltLinks(out)).toEqual([
    'a/index.html: /gone.png',
    'index.html: a/#gone',
    'index.html: gone/',
  ]);
});

test.each(['## Begin', '**Begin**'])('the guide is in the order of its list, under %s', (heading) => {
  const list = `# Guide\n\n${heading}\n\n- [The state](state.md): one value\n- [Errors](../errors.md)\n`;
  const sections = sectionsOf([home, state, errors, createPage('docs/guide/README.md', list)]);
  expect(sections[0]).toEqual({
    title: 'Begin',
    pages: [{ ...state, title: 'The state', summary: 'one value' }],
  });
});

test('a page that the guide does not list, or lists twice, is refused', () => {
  const listing = (text: string) => [state, createPage('docs/guide/README.md', text)];
  expect(() => sectionsOf(listing('# Guide\n'))).toThrow('must list once: docs/guide/state.md');
  expect(() => sectionsOf(listing('# Guide\n\n- [a](state.md)\n- [b](state.md)\n'))).toThrow(
    'must list once',
  );
});
