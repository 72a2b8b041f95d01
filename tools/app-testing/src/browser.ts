import { chromium, type Browser, type Page } from 'playwright-core';

/** Features of the browser that are off in tests. The switch replaces the one that Playwright passes. */
const DISABLED_FEATURES = [
  // Each window renders the suggestions of its address bar as two pages, which takes a second of processor time.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  // Playwright disables these as well: they send requests to other servers, change addresses or delay the first paint.
  'AimEnabled',
  'DialMediaRouteProvider',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'Translate',
];

/** A bound for a browser that does not start, in milliseconds. */
const START_TIMEOUT = 300_000;

/** Starts a browser that speaks to the page alone. It has an empty profile of its own. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  const quiet = ['background-networking', 'component-update', 'sync', 'gpu', 'quic'].map(
    (name) => `--disable-${name}`,
  );
  return chromium.launch({
    executablePath,
    timeout: START_TIMEOUT,
    args: [
      '--headless',
      '--no-sandbox',
      '--no-first-run',
      ...quiet,
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
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
