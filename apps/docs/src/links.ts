import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path/posix';
import type { Reference } from './markdown.ts';
import type { Page, Pages } from './pages.ts';
import { github, repository } from './repository.ts';

/** Where a link leads: a page of the site, a file or folder of the repository, another site, or nowhere. */
export type Target =
  | { readonly kind: 'page'; readonly page: Page; readonly anchor: string }
  | { readonly kind: 'file'; readonly path: string; readonly anchor: string }
  | { readonly kind: 'external' }
  | { readonly kind: 'dead'; readonly reason: string };

/** Resolves a link as GitHub does, among the pages of the site and the files of the repository. */
export function resolveLink(from: Page, url: string, pages: Pages): Target {
  const [address = '', anchor = ''] = url.split('#');
  if (address === '') return pageTarget(from, anchor);
  const path = repositoryPath(from, address);
  if (path === undefined) return { kind: 'external' };
  const page = pages.get(path) ?? pages.get(join(path, 'README.md'));
  if (page) return pageTarget(page, anchor === 'readme' ? '' : anchor);
  if (existsSync(join(repository, path))) return { kind: 'file', path, anchor };
  return { kind: 'dead', reason: `${path} does not exist` };
}

function pageTarget(page: Page, anchor: string): Target {
  if (anchor === '' || page.anchors.has(anchor)) return { kind: 'page', page, anchor };
  return { kind: 'dead', reason: `${page.path} has no heading #${anchor}` };
}

/** The path that an address names in the repository, also when it names it on GitHub. */
function repositoryPath(from: Page, address: string): string | undefined {
  const [, onGithub] = /^(?:blob|tree)\/main\/(.*)$/.exec(address.slice(github.length + 1)) ?? [];
  if (address === github) return 'README.md';
  if (address.startsWith(`${github}/`)) return onGithub;
  if (/^[a-z][\w+.-]*:/i.test(address)) return undefined;
  return normalize(join(dirname(from.path), decodeURI(address))).replace(/\/$/, '');
}

/** The dead links of a page, with their places. */
export function deadLinks(page: Page, pages: Pages): readonly string[] {
  return page.references.flatMap(({ url, line }) => {
    const target = resolveLink(page, url, pages);
    return target.kind === 'dead' ? `${page.path}:${line}: ${url}: ${target.reason}` : [];
  });
}

/** The text of a page with the address of each reference replaced by what `replace` returns. */
export function withLinks(page: Page, replace: (reference: Reference) => string): string {
  let [text, end] = ['', 0];
  for (const reference of page.references.toSorted((a, b) => a.start - b.start)) {
    text += page.text.slice(end, reference.start) + replace(reference);
    end = reference.end;
  }
  return text + page.text.slice(end);
}

/** The address of a file or folder on GitHub. */
export function githubUrl(path: string, anchor = ''): string {
  const isFolder = statSync(join(repository, path)).isDirectory();
  return `${github}/${isFolder ? 'tree' : 'blob'}/main/${path}${fragment(anchor)}`;
}

/** The address of a page from another: relative, so that it holds with any `base` of Astro. */
export function pageUrl(from: Page, to: Page, anchor: string): string {
  if (from === to && anchor) return fragment(anchorOn(to, anchor));
  return `${relative(`/${from.route}`, `/${to.route}`) || '.'}/${fragment(anchorOn(to, anchor))}`;
}

/** The title of a page is no heading of its text on the site: its anchor is the page. */
function anchorOn(page: Page, anchor: string): string {
  const [title] = page.anchors;
  return anchor === title && page.title !== '' ? '_top' : anchor;
}

export const fragment = (anchor: string): string => (anchor ? `#${anchor}` : '');
