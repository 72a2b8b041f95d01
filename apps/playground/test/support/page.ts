import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { findChromium } from '../../../../vitest.chromium.ts';
import { complaintsOf, launchBrowser } from 'app-testing';

/** A page that is open, and what it complains about. */
export interface OpenPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

const executable = findChromium();
if (executable === undefined) {
  if (process.env['CI']) throw new Error('Chromium is needed: install it, or say where it is in CHROMIUM.');
  console.warn('SKIPPED: the tests of the page need Chromium. Install it, or say where it is in CHROMIUM.');
}

/** True without Chromium: the tests of the page are then skipped, except in CI. */
export const hasNoBrowser = executable === undefined;

/** The time limit of a test with a browser, in milliseconds. */
export const PAGE_TIMEOUT = 300_000;

/** Launches a browser for the tests of a file. */
export function useBrowser(): () => Browser {
  let browser: Browser;
  beforeAll(async () => void (browser = await launchBrowser(executable ?? '')), 60_000);
  afterAll(() => browser?.close());
  return () => browser;
}

/** Opens a page in a browser profile of its own. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  return openTab(await context.newPage(), url);
}

/** Opens another tab beside a page. */
export async function openTabBeside({ page }: OpenPage): Promise<OpenPage> {
  return openTab(await page.context().newPage(), page.url());
}

async function openTab(page: Page, url: string): Promise<OpenPage> {
  page.setDefaultTimeout(60_000);
  const complaints = complaintsOf(page);
  await page.goto(url);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, complaints };
}

export const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
export const log = (page: Page) => page.getByRole('log');
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
export const state = (page: Page) => page.getByRole('complementary', { name: 'State' });
export const pill = (page: Page, status: string) =>
  state(page).locator('.state-head .pill', { hasText: status });

/** Writes a message, and presses Enter. */
export async function write(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** Waits until the message field is empty: the server has the message. */
export async function isTaken(page: Page): Promise<void> {
  await page.waitForFunction("document.querySelector('#message')?.value === ''");
}
