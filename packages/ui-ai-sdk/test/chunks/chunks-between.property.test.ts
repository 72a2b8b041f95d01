import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import { Page } from '../support/page.ts';
import { anyChanges, changed, firstParts, growths, withIds, type Change } from '../support/ui-arbitraries.ts';

/** Shows a page each message of a history. */
async function shownBy(first: UIMessage, changes: readonly Change[], areDistinct: boolean): Promise<Page> {
  const page = new Page();
  let message = first;
  await page.show(withIds(message, areDistinct));
  for (const change of changes) {
    message = changed(message, change);
    if (change.type === 'reconnect') await page.reconnect();
    await page.show(withIds(message, areDistinct));
    if (change.type !== 'dropStep') continue;
    message = changed(message, { ...change, type: 'step' });
    await page.show(withIds(message, areDistinct));
  }
  await page.reconnect();
  return page;
}

describe('chunks between any two messages', () => {
  const messages = firstParts.map((parts): UIMessage => ({ id: 'e1', role: 'assistant', parts }));

  test('lead to the wanted message, or say that the page must restart', async () => {
    const holds = fc.asyncProperty(messages, anyChanges, async (first, changes) => {
      const page = await shownBy(first, changes, false);
      expect(page.had).toEqual(page.expected);
    });
    await fc.assert(holds, cases(1_000));
  });

  test('need no restart while closed steps stay', async () => {
    const holds = fc.asyncProperty(messages, growths, async (first, changes) => {
      const page = await shownBy(first, changes, true);
      expect(page.had).toEqual(page.expected);
      expect(page.restarts).toBe(0);
    });
    await fc.assert(holds, cases(1_000));
  });
});
