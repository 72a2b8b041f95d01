import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { browserOfBlock } from './browser-of-block.ts';
import { complaintsOf } from './browser.ts';

interface OpenOptions extends BrowserContextOptions {
  /** A page of the same profile. Default: none, so that the page gets a new profile. */
  readonly beside?: Page;
  /** The complaints that a test expects, such as those about a server that it kills. Default: none. */
  readonly allows?: RegExp;
}

/** Opens a page. */
export type OpenPage = (url: string, options?: OpenOptions) => Promise<Page>;

/** The milliseconds that a page may take for a change. */
const CHANGE_TIMEOUT = 300_000;

/**
 * Gives the tests of a `describe` a browser, and returns the function that opens pages. A test fails if one of its pages
 * has logged an error or a warning.
 */
export function useBrowser(): OpenPage {
  const browser = browserOfBlock();
  return async (url, { beside, allows, ...options } = {}) => {
    const context = beside?.context() ?? (await browser().newContext(options));
    const page = await context.newPage();
    page.setDefaultTimeout(CHANGE_TIMEOUT);
    const complaints = complaintsOf(page);
    onTestFinished(async () => {
      expect(complaints.filter((text) => !allows?.test(text))).toEqual([]);
      await page.close();
    });
    await page.goto(url);
    return page;
  };
}
