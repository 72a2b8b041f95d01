import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { findChromium } from '../../../vitest.chromium.ts';
import { complaintsOf, launchBrowser } from './browser.ts';

const executable = findChromium();
/** True on a machine without Chromium, where tests of pages are skipped. In CI they fail. */
export const isWithoutChromium = executable === undefined;
if (isWithoutChromium) {
  if (process.env['CI']) throw new Error('Chromium is needed: install it, or set CHROMIUM to its path.');
  console.warn('SKIPPED: the tests of pages need Chromium. Install it, or set CHROMIUM to its path.');
}

interface OpenOptions extends BrowserContextOptions {
  /** A page of the same profile. Default: none, so that the page gets a new profile. */
  readonly beside?: Page;
  /** The complaints that a test expects, such as those about a server that it kills. Default: none. */
  readonly allows?: RegExp;
}

/** Opens a page. */
export type OpenPage = (url: string, options?: OpenOptions) => Promise<Page>;

/** The milliseconds that a page may take for a change. */
const PATIENCE = 60_000;

/**
 * Gives the tests of a `describe` a browser, and returns the function that opens pages. A test fails if one of its pages
 * has logged an error or a warning.
 */
export function useBrowser(): OpenPage {
  let browser: Browser | undefined;
  beforeAll(async () => void (browser = await launchBrowser(executable ?? '')), PATIENCE);
  afterAll(() => browser?.close());
  return async (url, { beside, allows, ...options } = {}) => {
    const context = beside?.context() ?? (await browser?.newContext(options));
    if (context === undefined) throw new Error('The browser has not started.');
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    const complaints = complaintsOf(page);
    onTestFinished(async () => {
      expect(complaints.filter((text) => !allows?.test(text))).toEqual([]);
      await page.close();
    });
    await page.goto(url);
    return page;
  };
}
