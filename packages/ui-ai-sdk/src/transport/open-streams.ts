/** The open streams of one chat in this page. */
export class OpenStreams {
  private count = 0;
  private opening = new AbortController();
  private closing = Promise.withResolvers<void>();

  get isOpen(): boolean {
    return this.count > 0;
  }

  /** Aborts when a stream opens, or is open. */
  get signal(): AbortSignal {
    return this.opening.signal;
  }

  /** Resolves when no stream is open. */
  async untilClosed(): Promise<void> {
    if (this.isOpen) await this.closing.promise;
  }

  /** Adds a stream, and returns the function that removes it. */
  open(): () => void {
    if (this.count++ === 0) {
      this.closing = Promise.withResolvers();
      this.opening.abort(new DOMException('A stream of this chat is open.', 'AbortError'));
    }
    let isOpen = true;
    return () => {
      if (isOpen && --this.count === 0) {
        this.opening = new AbortController();
        this.closing.resolve();
      }
      isOpen = false;
    };
  }
}
