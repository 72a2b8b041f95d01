import { createHash } from 'node:crypto';

/**
 * The names of keys. Sessions are spread over buckets; the number of the bucket is the hash tag, before anything that a
 * user chose, so that a session and its indexes are always on one node of a Cluster.
 */
export class RedisKeys {
  readonly buckets: number;
  private readonly prefix: string;

  constructor(prefix: string, buckets: number) {
    this.prefix = prefix;
    this.buckets = buckets;
  }

  /** Says how sessions are kept under a prefix. */
  static meta(prefix: string): string {
    return `${prefix}:meta`;
  }

  bucketOf(sessionId: string): number {
    if (this.buckets === 1) return 0;
    return createHash('sha1').update(sessionId).digest().readUInt32BE(0) % this.buckets;
  }

  session(sessionId: string): string {
    return `${this.bucket(this.bucketOf(sessionId))}s:${sessionId}`;
  }

  /** @param index one of `indexMoves` */
  index(bucket: number, index: string): string {
    return this.bucket(bucket) + index;
  }

  /** The key of a session, and behind it those of indexes in its bucket. */
  sessionWith(sessionId: string, indexes: readonly { readonly index: string }[]): readonly string[] {
    const bucket = this.bucket(this.bucketOf(sessionId));
    return [`${bucket}s:${sessionId}`, ...indexes.map(({ index }) => bucket + index)];
  }

  /** The same index in all buckets. */
  indexes(index: string): readonly string[] {
    return Array.from({ length: this.buckets }, (_, bucket) => this.index(bucket, index));
  }

  /** What all keys of a bucket begin with. */
  private bucket(bucket: number): string {
    return `${this.prefix}:{${bucket}}:`;
  }
}
