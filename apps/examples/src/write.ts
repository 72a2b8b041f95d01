import { parseArgs } from 'node:util';
import { allPages, writePages } from './pages.ts';

// node src/write.ts FOLDER: writes the files of all pages to a folder.

const { positionals } = parseArgs({ allowPositionals: true });
const [folder] = positionals;
if (folder === undefined) throw new Error('Name the folder to write the pages to.');
await writePages(allPages(), folder);
