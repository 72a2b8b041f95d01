import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface BuiltPage {
  readonly ids: ReadonlySet<string>;
  readonly links: readonly string[];
}

const ORIGIN = 'http://site';

/** The links of a built site that lead to no file or no anchor of it. */
export function deadBuiltLinks(out: string): readonly string[] {
  const files = new Set(globSync('**/*', { cwd: out, withFileTypes: false }));
  const names = [...files].filter((file) => file.endsWith('.html')).toSorted();
  const pages = new Map(names.map((name) => [name, readPage(join(out, name))]));
  return names.flatMap((name) => {
    const links = new Set(pages.get(name)?.links);
    return [...links].filter((link) => isDead(link, name, files, pages)).map((link) => `${name}: ${link}`);
  });
}

function readPage(file: string): BuiltPage {
  const html = readFileSync(file, 'utf8');
  const values = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, value = '']) => decode(value));
  return {
    ids: new Set(values(/<[a-z][^>]*?\sid="([^"]*)"/g)),
    links: values(/<[a-z][^>]*?\s(?:href|src)="([^"]*)"/g),
  };
}

function isDead(
  link: string,
  from: string,
  files: ReadonlySet<string>,
  pages: ReadonlyMap<string, BuiltPage>,
): boolean {
  const { origin, pathname, hash } = new URL(link, `${ORIGIN}/${from.replace(/index\.html$/, '')}`);
  if (origin !== ORIGIN) return false;
  const path = decodeURI(pathname).slice(1);
  const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
  if (!files.has(file)) return true;
  const anchor = decodeURIComponent(hash.slice(1));
  return anchor !== '' && pages.get(file)?.ids.has(anchor) === false;
}

function decode(value: string): string {
  return value
    .replaceAll(/&#x([\da-f]+);/gi, (_match, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/&#(\d+);/g, (_match, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
