/**
 * Stores large values by key, for example in a bucket. A key has up to 160 characters: lower-case letters, digits, `.`
 * and `/`. The bytes of a key never change. Each table needs a bucket or a prefix of its own.
 *
 * When a method rejects, the session store throws a `StoreUnavailableError` with the rejection as its cause. The
 * session store does not retry, so the implementation must. One call of the session store runs up to eight requests at
 * the same time.
 */
export interface BlobStore {
  /**
   * Stores bytes under a key. After `put` has resolved, every new `get` must return them. The session store may put the
   * same key again, with the same bytes.
   */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the bytes of a key, or `undefined` when the key is missing. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Deletes a key. Deleting a missing key must succeed. */
  delete(key: string): Promise<void>;
}

/** Configures where the session store puts large values, and which values are large. */
export interface BlobOptions {
  /** The blob store. The session store does not close it. */
  readonly store: BlobStore;
  /**
   * The size from which a value is large, in bytes of JSON: 1 to 67,108,864, default 262,144. The store writes each
   * message, step, value or inbox item of at least this size as a blob. The number may change at any time.
   */
  readonly minBytes?: number | undefined;
}
