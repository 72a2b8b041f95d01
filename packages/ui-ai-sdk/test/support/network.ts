/** A network between a page and its server. It carries real requests. */
export class Network {
  /**
   * `held`: a request that begins a response waits. `down`: no request arrives. `deaf`: a request that begins a response
   * arrives, and its reply is lost.
   */
  private mode: 'open' | 'held' | 'down' | 'deaf' = 'open';
  private opening = Promise.withResolvers<void>();
  private arriving = Promise.withResolvers<void>();

  become(mode: Network['mode']): void {
    this.mode = mode;
    this.arriving = Promise.withResolvers();
    if (mode === 'open') this.opening.resolve();
    else this.opening = Promise.withResolvers();
  }

  /** Resolves when the mode has met a request. */
  untilMet(): Promise<void> {
    return this.arriving.promise;
  }

  readonly fetch: typeof globalThis.fetch = async (url, init) => {
    const { mode } = this;
    const isContent = init?.method === 'POST' && !(typeof url === 'string' && url.endsWith('/stop'));
    if (mode === 'open' || (mode !== 'down' && !isContent)) return globalThis.fetch(url, init);
    if (isContent) this.arriving.resolve();
    if (mode === 'held') {
      await unlessAborted(this.opening.promise, init?.signal);
      return globalThis.fetch(url, init);
    }
    if (mode === 'deaf') await (await globalThis.fetch(url, init)).body?.cancel();
    throw new TypeError('fetch failed');
  };
}

async function unlessAborted(promise: Promise<void>, signal?: AbortSignal | null): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  signal?.addEventListener('abort', () => aborted.reject(signal.reason as Error));
  await Promise.race([promise, aborted.promise]);
}
