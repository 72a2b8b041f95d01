/** The document of a tab, as far as the transport needs it. */
interface TabDocument {
  readonly visibilityState: string;
  addEventListener(type: 'visibilitychange', listener: () => void, options: { signal: AbortSignal }): void;
}

/** Returns the document of this tab; `undefined` outside a browser. */
function tabDocument(): TabDocument | undefined {
  return (globalThis as { readonly document?: TabDocument }).document;
}

function isHidden(): boolean {
  return tabDocument()?.visibilityState === 'hidden';
}

/** Waits until the tab is in the foreground, or the signal aborts. */
export async function untilVisible(signal: AbortSignal): Promise<void> {
  while (isHidden() && !signal.aborted) await visibilityChange(signal);
}

/** Returns a signal that aborts with the given one, and when the tab leaves the foreground. Call `leave` after use. */
export function whileVisible(signal: AbortSignal): {
  readonly signal: AbortSignal;
  readonly leave: () => void;
} {
  const controller = new AbortController();
  const hide = (): void => {
    if (isHidden()) controller.abort(new DOMException('The tab is in the background.', 'AbortError'));
  };
  tabDocument()?.addEventListener('visibilitychange', hide, { signal: controller.signal });
  const leave = (): void => controller.abort();
  return { signal: AbortSignal.any([signal, controller.signal]), leave };
}

function visibilityChange(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const controller = new AbortController();
  const end = (): void => {
    controller.abort();
    resolve();
  };
  tabDocument()?.addEventListener('visibilitychange', end, { signal: controller.signal });
  signal.addEventListener('abort', end, { signal: controller.signal });
  return promise;
}
