import { READ_INDEX } from '../scripts/redis-script.ts';
import type { RedisCalls } from '../server/redis-calls.ts';
import type { IndexPosition, IndexRange } from './session-indexes.ts';

/** An entry of an index, and the key of its bucket's part of the index. */
export interface IndexEntry extends IndexPosition {
  readonly id: Buffer;
  readonly indexKey: string;
}

/** The walk through one bucket. */
interface BucketWalk {
  readonly indexKey: string;
  /** Entries that were read and not taken. */
  readonly unread: IndexEntry[];
  after: IndexPosition | undefined;
  isDone: boolean;
}

/** Walks a range of an index through all buckets at once, in the order of the index. */
export class IndexWalk {
  private readonly calls: RedisCalls;
  private readonly max: IndexRange['max'];
  private readonly buckets: readonly BucketWalk[];
  private readonly batch: number;

  /** @param expected the number of entries that the caller is likely to take */
  constructor(calls: RedisCalls, indexKeys: readonly string[], { after, max }: IndexRange, expected: number) {
    this.calls = calls;
    this.max = max;
    this.buckets = indexKeys.map((indexKey) => ({ indexKey, unread: [], after, isDone: false }));
    // Somewhat more than the share of one bucket, so that most buckets are read once.
    const { length } = indexKeys;
    this.batch = length === 1 ? expected : Math.ceil((2 * expected) / length) + 2;
  }

  /** The next entries, fewer only at the end of the range. */
  async take(count: number): Promise<readonly IndexEntry[]> {
    const entries: IndexEntry[] = [];
    while (entries.length < count) {
      await Promise.all(this.buckets.map((bucket) => this.readAhead(bucket)));
      const entry = this.firstBucket()?.unread.shift();
      if (!entry) break;
      entries.push(entry);
    }
    return entries;
  }

  /** The bucket with the next entry. */
  private firstBucket(): BucketWalk | undefined {
    const remaining = this.buckets.filter(({ unread }) => unread.length > 0);
    return remaining.reduce<BucketWalk | undefined>((first, bucket) => {
      const [left, right] = [first?.unread[0], bucket.unread[0]];
      return left && right && compareEntries(left, right) <= 0 ? first : bucket;
    }, undefined);
  }

  private async readAhead(bucket: BucketWalk): Promise<void> {
    const { indexKey, unread, after, isDone } = bucket;
    if (unread.length > 0 || isDone) return;
    const args = [after?.score ?? '', after?.id ?? '', this.max, this.batch];
    const found = await this.calls.run<readonly Buffer[]>(READ_INDEX, [indexKey], args);
    for (let index = 0; index + 1 < found.length; index += 2) {
      unread.push({ id: found[index] as Buffer, score: Number(String(found[index + 1])), indexKey });
    }
    bucket.isDone = unread.length < this.batch;
    bucket.after = unread.at(-1);
  }
}

/** In the order of the server. */
function compareEntries(left: IndexEntry, right: IndexEntry): number {
  return left.score - right.score || left.id.compare(right.id);
}
