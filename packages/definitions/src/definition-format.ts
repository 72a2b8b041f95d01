import { extname } from 'node:path';

/** What a file is written in: Markdown with front matter, YAML or JSON. */
export type DefinitionFormat = 'markdown' | 'yaml' | 'json';

const FORMATS: ReadonlyMap<string, DefinitionFormat> = new Map([
  ['.md', 'markdown'],
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
  ['.json', 'json'],
]);

/** The formats that there are. */
export const DEFINITION_FORMATS: ReadonlySet<string> = new Set(FORMATS.values());

/** The endings of definition files, for messages. */
export const DEFINITION_ENDINGS = [...FORMATS.keys()].join(', ');

/** The format that a file's name says; `undefined` when it says none. */
export function formatOf(file: string): DefinitionFormat | undefined {
  return FORMATS.get(extname(file).toLowerCase());
}
