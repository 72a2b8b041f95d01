import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

/** Returns the path of Chromium: the environment variable `CHROMIUM`, otherwise the first on the PATH. */
export function findChromium(): string | undefined {
  const { CHROMIUM, PATH = '' } = process.env;
  if (CHROMIUM) return CHROMIUM;
  return PATH.split(delimiter)
    .flatMap((folder) => [join(folder, 'chromium'), join(folder, 'chromium-browser')])
    .find(isExecutable);
}

/** Launches a browser that talks to nobody but the page; it brings an empty profile of its own. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  const quiet = ['background-networking', 'component-update', 'sync', 'gpu', 'quic'].map(
    (name) => `--disable-${name}`,
  );
  return chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--no-first-run', ...quiet],
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
