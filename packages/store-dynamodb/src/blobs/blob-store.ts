/**
 * Stores large values by key, as a bucket does. A key has up to 160 characters: lower-case letters, digits, `.` and
 * `/`. The bytes of a key never change. One bucket or prefix belongs to one table.
 *
 * A rejection of a method becomes the cause of a `StoreUnavailableError`. The session store does not retry: that is up
 * to the implementation. One call of the session store runs up to eight requests at once.
 */
export interface BlobStore {
  /**
   * Stores bytes. A `get` that begins after its end returns them. The same key may be put again with the same bytes.
   */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the bytes; `undefined` for a missing key. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Deletes a key. A missing key is no error. */
  delete(key: string): Promise<void>;
}

/** Where and when large values are stored outside of the table. */
export interface BlobOptions {
  /** The session store does not close it. */
  readonly store: BlobStore;
  /**
   * A message, step, value or inbox item with so many bytes of JSON or more becomes a blob: 1 to 67,108,864; default
   * 262,144. May be changed at any time.
   */
  readonly minBytes?: number | undefined;
}
