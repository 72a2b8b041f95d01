import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { complaintsOf } from 'app-testing';

/** A page that is open, and what it complains about. */
export interface OpenPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

/** Opens a page in a browser profile of its own. Nothing moves on it, because each frame costs time. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width: 1400, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  return openTab(await context.newPage(), url);
}

/** Opens another tab beside a page. */
export async function openTabBeside({ page }: OpenPage): Promise<OpenPage> {
  return openTab(await page.context().newPage(), page.url());
}

async function openTab(page: Page, url: string): Promise<OpenPage> {
  page.setDefaultTimeout(240_000);
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
