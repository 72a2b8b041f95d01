import { basename, dirname } from 'node:path/posix';
import { parseMarkdown, type ParsedMarkdown } from './markdown.ts';
import { markdownFiles, readText } from './repository.ts';

/** A page of the site. */
export interface Page extends ParsedMarkdown {
  /** The path of its Markdown in the repository; pages of the API reference begin with `api/`. */
  readonly path: string;
  /** The path of its address, without slashes around it: `guide/state`, and nothing for the home page. */
  readonly route: string;
  readonly text: string;
}

/** Pages by the path of their Markdown. */
export type Pages = ReadonlyMap<string, Page>;

const SOURCES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'packages/*/*.md'];

/** The pages that are Markdown of the repository. */
export function repositoryPages(): readonly Page[] {
  return inOrder(markdownFiles(...SOURCES).map((path) => createPage(path, readText(path))));
}

/** By address: the page of a folder comes before the pages in it. */
export function inOrder(pages: readonly Page[]): readonly Page[] {
  return pages.toSorted((a, b) => (a.route < b.route ? -1 : 1));
}

export function createPage(path: string, text: string): Page {
  return { path, route: routeOf(path), text, ...parseMarkdown(text) };
}

export const byPath = (pages: readonly Page[]): Pages => new Map(pages.map((page) => [page.path, page]));

export const isGenerated = (page: Page): boolean => page.path.startsWith('api/');

/** `docs/guide/README.md` is at `guide`, the reference of `@holdfast/core` at `api/core`. */
function routeOf(path: string): string {
  const folder = dirname(path)
    .replace(/^(?:docs|\.)(?:\/|$)/, '')
    .replace('@holdfast/', '');
  const name = basename(path, '.md');
  const parts = [folder, name === 'README' ? '' : name];
  return parts.filter(Boolean).join('/').toLowerCase();
}
