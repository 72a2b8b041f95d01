import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { findChromium } from '../../config/vitest.chromium.ts';
import { launchBrowser } from './browser.ts';

const executable = findChromium();
/** True on a machine without Chromium, where tests of pages are skipped. In CI they fail. */
export const isWithoutChromium = executable === undefined;
if (isWithoutChromium) {
  if (process.env['CI']) throw new Error('Chromium is needed: install it, or set CHROMIUM to its path.');
  console.warn('SKIPPED: the tests of pages need Chromium. Install it, or set CHROMIUM to its path.');
}

/** Gives the tests of a file or of a `describe` a browser, and returns the function that returns it. */
export function browserOfBlock(): () => Browser {
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
