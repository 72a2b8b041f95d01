import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Leaves a line in a file, once for each key: what a service that knows idempotency keys does. */
export async function appendOnce(path: string, key: string, fields: readonly string[]): Promise<void> {
  const known = await readFile(path, 'utf8').catch(() => '');
  if (known.split('\n').some((line) => line.startsWith(key))) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await appendFile(path, `${[key, ...fields].map(oneLine).join('\t')}\n`, { mode: 0o600 });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
