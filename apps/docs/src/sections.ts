import { resolveLink } from './links.ts';
import { listedLinks } from './markdown.ts';
import { byPath, type Page } from './pages.ts';

/** Pages under a title, in the order of reading. Pages of the guide have the title and the summary that its list gives them. */
export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

const GUIDE = 'docs/guide/README.md';
const REFERENCES = ['docs/errors.md', 'docs/glossary.md', 'docs/state-format.md'];
/** The overview, and a page for each entry: `api/@holdfast/core/README.md`, `api/@holdfast/core/store/README.md`. */
const API_ENTRY = /^api\/(?:@[^/]+\/.+\/)?README\.md$/;
const PROJECT = /^(?:[A-Z]+|docs\/mutation-tests|docs\/decisions\/README)\.md$/;

/** The sections of the sidebar: the guide in the order of its own list, then everything else. */
export function sectionsOf(pages: readonly Page[]): readonly Section[] {
  const isApiEntry = ({ path }: Page) => API_ENTRY.test(path);
  return [
    ...guideSections(pages),
    { title: 'Reference', pages: referencePages(pages) },
    { title: 'Packages', pages: pages.filter(({ path }) => path.startsWith('packages/')) },
    { title: 'API', pages: pages.filter(isApiEntry) },
    { title: 'Project', pages: pages.filter(isOfProject) },
  ];
}

const isOfProject = ({ path }: Page): boolean => PROJECT.test(path) && path !== 'README.md';

/** The pages of `docs` itself, those first that every reader needs. */
function referencePages(pages: readonly Page[]): readonly Page[] {
  const references = pages.filter((page) => /^docs\/[^/]+$/.test(page.path) && !isOfProject(page));
  const isFirst = ({ path }: Page) => REFERENCES.includes(path);
  const first = REFERENCES.flatMap((path) => references.filter((page) => page.path === path));
  return [...first, ...references.filter((page) => !isFirst(page))];
}

function guideSections(pages: readonly Page[]): readonly Section[] {
  const listed = guidePages(pages);
  const titles = [...new Set(listed.map(({ heading }) => heading))];
  return titles.map((title) => {
    const members = listed.filter(({ heading }) => heading === title);
    const pages = members.map(({ page, label, description }) => {
      return { ...page, title: label, summary: description || page.summary };
    });
    return { title: title ?? 'Guide', pages };
  });
}

/** The pages of the guide in the order of its list, which names each of them once. */
function guidePages(pages: readonly Page[]) {
  const [known, guide] = [byPath(pages), pages.find(({ path }) => path === GUIDE)];
  if (!guide) throw new Error(`${GUIDE} does not exist.`);
  const listed = listedLinks(guide.text).flatMap((link) => {
    const target = resolveLink(guide, link.url, known);
    return target.kind === 'page' && isInGuide(target.page) ? { ...link, page: target.page } : [];
  });
  const times = (page: Page) => listed.filter((item) => item.page === page).length;
  const wrong = pages.filter((page) => isInGuide(page) && times(page) !== 1);
  if (wrong.length > 0)
    throw new Error(`${GUIDE} must list once: ${wrong.map(({ path }) => path).join(', ')}`);
  return listed;
}

const isInGuide = ({ path }: Page): boolean => path.startsWith('docs/guide/') && path !== GUIDE;
