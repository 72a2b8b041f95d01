import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

/**
 * Features of the browser that tests need not: each window would render its address bar as two pages, and take seconds to
 * open. The list replaces the one of Playwright, so it repeats what speaks to servers of the vendor or changes addresses.
 */
const WITHOUT = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'DialMediaRouteProvider',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'Translate',
];

/** Starts a browser that speaks to the page alone. It has an empty profile of its own. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  const quiet = ['background-networking', 'component-update', 'sync', 'gpu', 'quic'].map(
    (name) => `--disable-${name}`,
  );
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--no-first-run',
      ...quiet,
      `--disable-features=${WITHOUT.join(',')}`,
    ],
  });
}

/** Returns the errors and warnings of a page. The list grows as they come. */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`console: ${message.text()}`);
  });
  return complaints;
}
