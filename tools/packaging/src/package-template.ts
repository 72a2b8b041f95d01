import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SOURCES, type Kind } from './package-sources.ts';

/** Which package to write, and where. */
export interface NewPackage {
  readonly kind: Kind;
  /** The product that the package adapts, such as `mongodb`. */
  readonly name: string;
  /** The root of the repository. */
  readonly repository: string;
}

/** The package to copy. */
const MODEL = 'store-sqlite';
/** Files that are the same in every package. */
const COPIED = ['tsconfig.json', 'tsconfig.build.json', 'tsup.config.ts', 'api-extractor.json'];

const DESCRIPTIONS: Readonly<Record<Kind, (title: string) => string>> = {
  store: (title) => `Keeps Holdfast sessions in ${title}.`,
  driver: (title) => `Runs Holdfast agents on the models of ${title}.`,
  engine: (title) => `Has Holdfast sessions worked on by ${title}.`,
};

/**
 * Writes a package that builds and passes its tests: a store or an engine in memory, or a driver that calls no model.
 * Returns its folder, from the root. @throws Error when there is a package of that name.
 */
export async function writePackage({ kind, name, repository }: NewPackage): Promise<string> {
  const folderName = `${kind}-${name}`;
  const title = capitalized(name);
  const [model, folder] = [join(repository, 'packages', MODEL), join(repository, 'packages', folderName)];
  await mkdir(folder); // rejects when it exists
  for (const file of COPIED) await copyFile(join(model, file), join(folder, file));
  const description = DESCRIPTIONS[kind](title);
  const manifest = JSON.parse(await readFile(join(model, 'package.json'), 'utf8')) as object;
  const files = {
    'package.json': asJson(manifestOf(manifest, folderName, description, [kind, name])),
    'vitest.config.ts': (await readFile(join(model, 'vitest.config.ts'), 'utf8')).replace(MODEL, folderName),
    'README.md': readmeOf(folderName, description),
    ...SOURCES[kind]({ name, title, folderName }),
    [`../../.changeset/${folderName}.md`]: `---\n'@holdfast/${folderName}': minor\n---\n\n${description}\n`,
  };
  for (const [path, text] of Object.entries(files)) await write(join(folder, path), text);
  return `packages/${folderName}`;
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** `redis-streams` → `RedisStreams` */
function capitalized(name: string): string {
  return name.replaceAll(/(?:^|-)([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
}

function asJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** The package.json of the model, with nothing in it that only the model needs. */
function manifestOf(
  model: object,
  folderName: string,
  description: string,
  keywords: readonly string[],
): object {
  const own = JSON.stringify(model).replaceAll(MODEL, folderName);
  return {
    ...(JSON.parse(own) as object),
    version: '0.0.0',
    description,
    keywords: ['agents', 'ai', 'holdfast', ...keywords].toSorted(),
    devDependencies: {
      '@holdfast/conformance': 'workspace:^',
      '@holdfast/core': 'workspace:^',
      vitest: 'catalog:',
    },
    engines: { node: '>=22' },
  };
}

function readmeOf(folderName: string, description: string): string {
  const name = `@holdfast/${folderName}`;
  return `# ${name}\n\n${description}\n\n\`\`\`sh\nnpm install @holdfast/core ${name}\n\`\`\`\n`;
}
