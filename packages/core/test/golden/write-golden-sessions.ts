import { fileURLToPath } from 'node:url';
import { goldenSessions } from './golden-sessions.ts';
import { writeGolden } from './write-golden.ts';

/** Where the golden files of sessions are, of the version that is written at present. */
export const goldenSessionFolder: string = fileURLToPath(
  new URL(`./agent-session/v${goldenSessions['unsaved']?.().toJSON().version}/`, import.meta.url),
);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const written = await writeGolden(goldenSessionFolder, goldenSessions);
  process.stdout.write(`Written: ${written.join(', ') || 'nothing, all files exist'}\n`);
}
