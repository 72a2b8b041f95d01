import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the path of Chromium: the environment variable `CHROMIUM`, otherwise the first on the PATH. */
export function findChromium(): string | undefined {
  const { CHROMIUM, PATH = '' } = process.env;
  if (CHROMIUM) return CHROMIUM;
  return PATH.split(delimiter)
    .flatMap((folder) => [join(folder, 'chromium'), join(folder, 'chromium-browser')])
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
