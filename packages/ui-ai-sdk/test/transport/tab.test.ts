import { afterEach, expect, test, vi } from 'vitest';
import { untilVisible, whileVisible } from '../../src/transport/tab.ts';

afterEach(() => vi.unstubAllGlobals());

/** A document that tests hide and show. */
function tab(): { show(): void; hide(): void } {
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  vi.stubGlobal('document', document);
  const become = (visibilityState: string): void => {
    Object.assign(document, { visibilityState });
    document.dispatchEvent(new Event('visibilitychange'));
  };
  return { show: () => become('visible'), hide: () => become('hidden') };
}

test('a hidden tab waits until it is shown', async () => {
  const shown = tab();
  shown.hide();
  const events: string[] = [];
  const waiting = untilVisible(new AbortController().signal).then(() => events.push('visible'));
  events.push('hidden');
  shown.show();
  await waiting;
  expect(events).toEqual(['hidden', 'visible']);
});

test('a visible tab, and a program without tabs, do not wait', async () => {
  await expect(untilVisible(new AbortController().signal)).resolves.toBeUndefined();
  tab();
  await expect(untilVisible(new AbortController().signal)).resolves.toBeUndefined();
});

test('an abort ends the wait of a hidden tab', async () => {
  tab().hide();
  const closing = new AbortController();
  const waiting = untilVisible(closing.signal);
  closing.abort();
  await expect(waiting).resolves.toBeUndefined();
});

test('the signal aborts when the tab is hidden, and with the signal of the caller', () => {
  const shown = tab();
  const [closing, visible] = [new AbortController(), whileVisible(new AbortController().signal)];
  const other = whileVisible(closing.signal);
  closing.abort();
  expect([other.signal.aborted, visible.signal.aborted]).toEqual([true, false]);
  shown.hide();
  expect(visible.signal.aborted).toBe(true);
});
