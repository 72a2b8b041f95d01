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
    return `${this.prefix}:{${this.bucketOf(sessionId)}}:s:${sessionId}`;
  }

  /** @param index one of `indexScores` */
  index(bucket: number, index: string): string {
    return `${this.prefix}:{${bucket}}:${index}`;
  }

  /** The same index in all buckets. */
  indexes(index: string): readonly string[] {
    return Array.from({ length: this.buckets }, (_, bucket) => this.index(bucket, index));
  }
}
