import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fragment, githubUrl, resolveLink, withLinks } from './links.ts';
import { isGenerated, type Page, type Pages } from './pages.ts';
import type { Section } from './sections.ts';

/** Writes each page as Markdown beside its HTML, `llms.txt`, and `llms-full.txt` without reference of the API and decisions. */
export function writeLlmsFiles(out: string, pages: Pages, sections: readonly Section[]): void {
  for (const page of pages.values()) write(join(out, markdownPath(page)), markdownOf(page, page, pages));
  const home = pages.get('README.md');
  if (!home) throw new Error('README.md does not exist.');
  write(join(out, 'llms.txt'), index(home, sections));
  const explained = [home, ...sections.flatMap((section) => section.pages)].filter((page) => !isDetail(page));
  write(join(out, 'llms-full.txt'), explained.map((page) => markdownOf(home, page, pages)).join('\n\n'));
}

const isDetail = (page: Page): boolean => isGenerated(page) || page.path.startsWith('docs/decisions/');

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text.trim()}\n`);
}

/** The format of llmstxt.org: a title, a summary, and lists of links. */
function index(home: Page, sections: readonly Section[]): string {
  const head = `# ${home.title}\n\n> ${home.summary}\n\nAll of this in one file: [llms-full.txt](llms-full.txt).`;
  const lists = sections.map(({ title, pages }) => `## ${title}\n\n${pages.map(item).join('\n')}`);
  return [head, ...lists].join('\n\n');
}

function item(page: Page): string {
  const link = `- [${page.title}](${markdownPath(page)})`;
  return page.summary ? `${link}: ${page.summary}` : link;
}

const markdownPath = (page: Page): string => `${page.route || 'index'}.md`;

/** The text of a page, with links that hold from the place of `from`. */
function markdownOf(from: Page, page: Page, pages: Pages): string {
  return withLinks(page, ({ url }) => {
    const target = resolveLink(page, url, pages);
    if (target.kind === 'file') return githubUrl(target.path, target.anchor);
    if (target.kind !== 'page') return url;
    const path = relative(dirname(`/${markdownPath(from)}`), `/${markdownPath(target.page)}`);
    return path + fragment(target.anchor);
  });
}
