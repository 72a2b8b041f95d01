/** Listeners by session. It calls them in the order in which they were added, and ignores what they throw. */
export class ChannelListeners<T> {
  private readonly bySession = new Map<string, Set<(value: T) => void>>();

  /** The sessions with a listener. */
  get sessionIds(): readonly string[] {
    return [...this.bySession.keys()];
  }

  /** True when the session has a listener. */
  has(sessionId: string): boolean {
    return this.bySession.has(sessionId);
  }

  /** Adds a listener, and returns the function that removes it. */
  add(sessionId: string, listener: (value: T) => void): () => void {
    const own = safely(listener); // a new function, because a caller can add one function twice
    const listeners = this.bySession.get(sessionId) ?? new Set();
    this.bySession.set(sessionId, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.bySession.get(sessionId) === listeners)
        this.bySession.delete(sessionId);
    };
  }

  /** Calls the listeners of a session. */
  call(sessionId: string, value: T): void {
    for (const listener of this.bySession.get(sessionId) ?? []) listener(value);
  }

  /** Removes all listeners. */
  clear(): void {
    for (const listeners of this.bySession.values()) listeners.clear();
    this.bySession.clear();
  }
}

/** Returns a function that calls the listener and ignores what it throws. */
export function safely<T>(listener: (value: T) => void): (value: T) => void {
  return (value) => {
    try {
      listener(value);
    } catch {
      // The error of a listener is ignored.
    }
  };
}
