import { fileURLToPath } from 'node:url';
import { goldenSessions, goldenSessions2 } from './golden-sessions.ts';
import { writeGolden } from './write-golden.ts';

const folderOf = (version: number): string =>
  fileURLToPath(new URL(`./agent-session/v${version}/`, import.meta.url));

/** The sessions of the golden files, by the folder of the version that can hold them. */
export const goldenSessionFolders = new Map([
  [folderOf(1), goldenSessions],
  [folderOf(2), goldenSessions2],
]);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [folder, sessions] of goldenSessionFolders) {
    const written = await writeGolden(folder, sessions);
    process.stdout.write(`Written: ${written.join(', ') || 'nothing, all files exist'}\n`);
  }
}
