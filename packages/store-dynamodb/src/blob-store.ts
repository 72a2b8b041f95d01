/**
 * Where large values are kept, by key: a bucket, in a few lines. Keys have up to 160 characters, all of them lower-case
 * letters, digits, `.` and `/`. Bytes of a key never change. One bucket or prefix belongs to one table.
 *
 * What a method rejects with is reported as the cause of a `StoreUnavailableError`; repeating a request that failed is
 * up to the implementation. Up to eight are under way at once for one call of the session store.
 */
export interface BlobStore {
  /** Keeps bytes. A `get` that begins after it has ended finds them. The same key may be put again, with the same bytes. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** The bytes; `undefined` for a key that is not there. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Forgets a key, and accepts one that is not there. */
  delete(key: string): Promise<void>;
}

/** How large values are kept outside of the table. */
export interface BlobOptions {
  /** It is only used: who made it closes it. */
  readonly store: BlobStore;
  /**
   * A message, step or value, or an inbox item, of so many bytes of JSON or more is a blob: 1 to 67,108,864; default
   * 262,144. May be changed at any time.
   */
  readonly fromBytes?: number | undefined;
}
