import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { githubUrl, pageUrl, resolveLink, withLinks } from './links.ts';
import type { Reference } from './markdown.ts';
import { isGenerated, type Page, type Pages } from './pages.ts';
import { app, github, repository } from './repository.ts';

const content = join(app, 'src/content');

/** Writes the pages where Starlight reads them. */
export function writeContent(pages: Pages): void {
  const texts = new Map([...pages.values()].map((page) => [contentFile(page), contentOf(page, pages)]));
  const old = globSync('docs/**/*.md', { cwd: content }).map((path) => join(content, path));
  for (const file of old) if (!texts.has(file)) rmSync(file);
  for (const [file, text] of texts) writeChanged(file, text);
}

/** A file that stays as it is starts no work of Astro. */
function writeChanged(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const contentFile = (page: Page): string => join(content, 'docs', `${page.route || 'index'}.md`);

/** The front matter that Starlight wants, and the text without its title, which Starlight shows itself. */
function contentOf(page: Page, pages: Pages): string {
  const [start, end] = page.titleRange;
  const withoutTitle = {
    ...page,
    text: page.text.slice(0, start) + ' '.repeat(end - start) + page.text.slice(end),
  };
  const body = withLinks(withoutTitle, (reference) => siteUrl(page, reference, pages));
  const weight = `data-pagefind-weight="${searchWeight(page)}"`;
  return `---\n${frontMatter(page)}\n---\n\n<div ${weight}>\n\n${body}\n\n</div>\n`;
}

/** A search for a code or a term must find its explanation first, then the guide; the API repeats the same words often. */
function searchWeight({ path }: Page): number {
  if (path === 'docs/errors.md' || path === 'docs/glossary.md') return 6;
  return path.startsWith('docs/guide/') || path === 'README.md' ? 2 : 0.5;
}

function frontMatter(page: Page): string {
  const fields = {
    title: page.title,
    description: page.summary || undefined,
    editUrl: isGenerated(page) ? false : `${github}/edit/main/${page.path}`,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join('\n');
}

function siteUrl(page: Page, { url, isImage }: Reference, pages: Pages): string {
  const target = resolveLink(page, url, pages);
  if (target.kind === 'page') return pageUrl(page, target.page, target.anchor);
  if (target.kind !== 'file') return url;
  return isImage ? copiedImage(page, target.path) : githubUrl(target.path, target.anchor);
}

/** Astro takes images from the folder of its sources. */
function copiedImage(page: Page, path: string): string {
  const file = join(content, 'images', path);
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(join(repository, path), file);
  return relative(dirname(contentFile(page)), file);
}
