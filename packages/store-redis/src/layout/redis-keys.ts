import { createHash } from 'node:crypto';

/**
 * The names of the keys under a prefix. Sessions are spread over buckets. The number of the bucket is the hash tag,
 * before any text that a user chose, so that a session and its indexes are always on one node of a Cluster.
 */
export class RedisKeys {
  readonly buckets: number;
  private readonly prefix: string;

  constructor(prefix: string, buckets: number) {
    this.prefix = prefix;
    this.buckets = buckets;
  }

  /** The key that describes how sessions are stored under a prefix. */
  static meta(prefix: string): string {
    return `${prefix}:meta`;
  }

  /** The key of the announced workers of a prefix. */
  get workers(): string {
    return `${this.prefix}:workers`;
  }

  bucketOf(sessionId: string): number {
    if (this.buckets === 1) return 0;
    return createHash('sha1').update(sessionId).digest().readUInt32BE(0) % this.buckets;
  }

  session(sessionId: string): string {
    return `${this.bucket(this.bucketOf(sessionId))}s:${sessionId}`;
  }

  /** @param index a name of `session-indexes.ts` */
  index(bucket: number, index: string): string {
    return this.bucket(bucket) + index;
  }

  /** The key of a session, followed by the keys of indexes in its bucket. */
  sessionWith(sessionId: string, indexes: readonly { readonly index: string }[]): readonly string[] {
    const bucket = this.bucket(this.bucketOf(sessionId));
    return [`${bucket}s:${sessionId}`, ...indexes.map(({ index }) => bucket + index)];
  }

  /** The keys of one index in all buckets. */
  indexes(index: string): readonly string[] {
    return Array.from({ length: this.buckets }, (_, bucket) => this.index(bucket, index));
  }

  /** The start of all keys of a bucket. */
  private bucket(bucket: number): string {
    return `${this.prefix}:{${bucket}}:`;
  }
}

/** Any text as a part of the name of a key or a field: lone surrogates and control characters are escaped. */
export function escapeName(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
