import { parseArgs } from 'node:util';
import { NOT_CONVERTED } from './not-converted.ts';
import { allPages, writePages } from './pages.ts';

// node src/pages/write.ts FOLDER: writes the files of all pages to a folder.

const { positionals } = parseArgs({ allowPositionals: true });
const [folder] = positionals;
if (folder === undefined) throw new Error('Name the folder to write the pages to.');
await writePages(
  allPages().filter(({ path }) => !NOT_CONVERTED.includes(path)),
  folder,
);
