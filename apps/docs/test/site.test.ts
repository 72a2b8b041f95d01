import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { browserOfBlock, isWithoutChromium } from 'app-testing';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSite, dist, originOf, serveSite } from './support/built-site.ts';

const twoFrames = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
const phone = { viewport: { width: 375, height: 800 } };
const dark = { colorScheme: 'dark' } as const;

describe.skipIf(isWithoutChromium)('the built site', () => {
  let server: Server;
  const browser = browserOfBlock();

  beforeAll(async () => {
    buildSite();
    server = await serveSite();
  });

  afterAll(() => server?.close());

  /** A page, opened, and everything that it should not do: complain, or ask another machine. */
  async function open(path: string, options: BrowserContextOptions = {}) {
    const context = await browser().newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(300_000);
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('request', (request) => {
      if (!request.url().startsWith(originOf(server))) faults.push(request.url());
    });
    await page.goto(originOf(server) + path);
    await page.evaluate(twoFrames); // sizes are observed
    return { page, faults };
  }

  test.each([
    ['/', dark],
    ['/', phone],
    ['/guide/sessions/', {}],
    ['/errors/', { ...dark, ...phone }],
    ['/api/core/classes/sessionruntime/', {}],
  ])('%s is accessible, and fits %o', async (path, options) => {
    const { page, faults } = await open(path, options);
    expect(await violations(page)).toEqual([]);
    expect(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    ).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('the keyboard opens the search, and SESSION_BUSY leads to a page that explains it', async () => {
    const { page, faults } = await open('/');
    // The site loads the search when the browser is idle, and an open dialog can keep the browser from being idle.
    await page.locator('#starlight__search input').waitFor({ state: 'attached' });
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog');
    await dialog.getByPlaceholder('Search').fill('SESSION_BUSY');
    // The results load in any order, and each pushes the others away: a click could miss its link.
    const link = dialog.locator('li:first-child').getByRole('link').first();
    const address = (await link.getAttribute('href')) ?? '';
    await link.press('Enter');
    await page.waitForURL(originOf(server) + address);
    await page.getByRole('main').getByText('SESSION_BUSY').first().waitFor();
    expect(faults).toEqual([]);
  });

  test('the home page begins as the README does', async () => {
    const readme = await readFile(join(dist, '../../../README.md'), 'utf8');
    const [, firstWords = ''] = /^# .*\n+([\w ]+)/.exec(readme) ?? [];
    const { page } = await open('/');
    expect(await page.locator('.sl-markdown-content').textContent()).toContain(firstWords);
  });

  test('diagrams are drawn', async () => {
    const { page, faults } = await open('/packages/store-dynamodb/protocol/');
    await page.locator('figure.diagram svg').first().waitFor();
    expect(await page.locator('pre[data-language=mermaid]').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('llms.txt links to the Markdown of each page of the guide', async () => {
    const text = await readFile(join(dist, 'llms.txt'), 'utf8');
    const paths = [...text.matchAll(/\]\((guide\/[^)]+)\)/g)].map(([, path = '']) => path);
    expect(paths).toContain('guide/sessions.md');
    const full = await readFile(join(dist, 'llms-full.txt'), 'utf8');
    for (const path of paths) {
      const [title = ''] = (await readFile(join(dist, path), 'utf8')).split('\n');
      expect(full).toContain(`${title}\n`);
    }
  });
});

async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const results = await page.evaluate<AxeResults>('axe.run()');
  return results.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
