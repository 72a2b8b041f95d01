import { extname } from 'node:path';

/** The format of a definition file: Markdown with front matter, YAML or JSON. */
export type DefinitionFormat = 'markdown' | 'yaml' | 'json';

const FORMATS: ReadonlyMap<string, DefinitionFormat> = new Map([
  ['.md', 'markdown'],
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
  ['.json', 'json'],
]);

/** All formats. */
export const DEFINITION_FORMATS: ReadonlySet<string> = new Set(FORMATS.values());

/** The file name extensions of definition files, for messages. */
export const DEFINITION_ENDINGS = [...FORMATS.keys()].join(', ');

/** The format of a file by the extension of its name; `undefined` for an unknown extension. */
export function formatOf(file: string): DefinitionFormat | undefined {
  return FORMATS.get(extname(file).toLowerCase());
}
