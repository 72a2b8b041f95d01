import { rmSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, type ProjectReflection, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { createPage, inOrder, type Page } from './pages.ts';
import { app, github, publicEntries, repository } from './repository.ts';

const folder = join(app, 'temp/api');

/** A page for each export of each entry, from the doc comments. */
export async function apiPages(): Promise<readonly Page[]> {
  rmSync(folder, { recursive: true, force: true });
  const typedoc = await createTypedoc();
  const project = await typedoc.convert();
  if (!project) throw new Error('TypeDoc could not read the packages.');
  nameModules(project);
  await typedoc.generateOutputs(project);
  const paths = globSync('**/*.md', { cwd: folder });
  return inOrder(
    paths.map((path) => createPage(join('api', path), readFileSync(join(folder, path), 'utf8'))),
  );
}

function createTypedoc(): Promise<Application> {
  const options: Partial<TypeDocOptions & PluginOptions> = {
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: publicEntries().map(({ source }) => join(repository, source)),
    tsconfig: join(app, 'tsconfig.api.json'),
    basePath: repository,
    displayBasePath: repository,
    disableGit: true,
    sourceLinkTemplate: `${github}/blob/main/{path}#L{line}`,
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    excludeExternals: true,
    readme: 'none',
    // `pnpm typecheck` checks the types.
    skipErrorChecking: true,
    name: 'API',
    logLevel: 'Warn',
    validation: false,
    outputs: [{ name: 'markdown', path: folder }],
    router: 'member',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    pageTitleTemplates: { index: 'All entries', module: '{name}', member: '{name}' },
    indexFormat: 'table',
    parametersFormat: 'table',
  };
  return Application.bootstrapWithPlugins(options);
}

/** TypeDoc names a module after its file; users know it as an entry of a package. */
function nameModules(project: ProjectReflection): void {
  const names = new Map(publicEntries().map(({ name, source }) => [source, name]));
  for (const module of project.children ?? []) {
    const name = names.get(module.sources?.[0]?.fileName ?? '');
    if (!name) throw new Error(`No entry of a package is the module ${module.name}.`);
    module.name = name;
  }
}
