import { launchBrowser } from 'app-testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { findChromium } from '../../../../../vitest.chromium.ts';

const executable = findChromium();
if (executable === undefined) {
  if (process.env['CI']) throw new Error('Chromium is needed: install it, or set CHROMIUM to its path.');
  console.warn(
    'SKIPPED: the tests of chats in a page need Chromium. Install it, or set CHROMIUM to its path.',
  );
}

/** True when there is a browser. */
export const hasBrowser = executable !== undefined;

/** Launches a browser for the tests of a file. */
export function browserOfFile(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (executable !== undefined) browser = await launchBrowser(executable);
  });
  afterAll(() => browser?.close());
  return () => {
    if (browser === undefined) throw new Error('The browser has not started.');
    return browser;
  };
}
