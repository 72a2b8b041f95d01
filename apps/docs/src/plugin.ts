import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StarlightPlugin } from '@astrojs/starlight/types';
import type { AstroIntegration } from 'astro';
import { apiPages } from './api-reference.ts';
import { deadBuiltLinks } from './built-links.ts';
import { writeContent } from './content.ts';
import { deadLinks } from './links.ts';
import { writeLlmsFiles } from './llms.ts';
import { byPath, createPage, repositoryPages, type Page, type Pages } from './pages.ts';
import { markdownFiles, readText, repository } from './repository.ts';
import { sectionsOf } from './sections.ts';

/** Makes the pages of the site from the repository, and refuses dead links. */
export function holdfastDocs(): StarlightPlugin {
  return {
    name: 'holdfast-docs',
    hooks: {
      'config:setup': async ({ addIntegration, updateConfig }) => {
        const api = await apiPages();
        const pages = byPath([...repositoryPages(), ...api]);
        refuse(deadRepositoryLinks(pages));
        writeContent(pages);
        const sections = sectionsOf([...pages.values()]);
        updateConfig({
          sidebar: sections.map(({ title, pages }) => ({
            label: title,
            items: pages.map(({ title, route }) => ({ label: title, slug: route })),
          })),
        });
        addIntegration(siteFiles(pages, api));
      },
    },
  };
}

/** Writes the files beside the pages of Starlight, and rewrites the pages when their Markdown changes. */
function siteFiles(pages: Pages, api: readonly Page[]): AstroIntegration {
  return {
    name: 'holdfast-docs-files',
    hooks: {
      'astro:config:setup': ({ injectScript }) => injectScript('page', `import '/src/browser/main.ts';`),
      'astro:server:setup': ({ server }) => {
        server.watcher.add([...pages.values()].map(({ path }) => join(repository, path)));
        server.watcher.on('change', (file) => {
          if (file.endsWith('.md')) writeContent(byPath([...repositoryPages(), ...api]));
        });
      },
      'astro:build:done': ({ dir }) => {
        const out = fileURLToPath(dir);
        writeLlmsFiles(out, pages, sectionsOf([...pages.values()]));
        refuse(deadBuiltLinks(out));
      },
    },
  };
}

const MARKDOWN = [
  '*.md',
  '{apps,lab,tools}/*/*.md',
  'apps/examples/*/*.md',
  'packages/*/*.md',
  'docs/**/*.md',
  '.github/*.md',
];

/** The dead links of all Markdown of the repository, on the site or not, as GitHub shows it. */
function deadRepositoryLinks(pages: Pages): readonly string[] {
  const others = markdownFiles(...MARKDOWN).filter((path) => !pages.has(path));
  const all = byPath([...pages.values(), ...others.map((path) => createPage(path, readText(path)))]);
  return [...all.values()].flatMap((page) => deadLinks(page, all));
}

function refuse(dead: readonly string[]): void {
  if (dead.length > 0) throw new Error(`${dead.length} dead links:\n${dead.join('\n')}`);
}
