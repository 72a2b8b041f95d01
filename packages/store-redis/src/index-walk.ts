import { READ } from './scripts.ts';
import type { RedisCalls } from './redis-calls.ts';
import type { IndexRange } from './session-indexes.ts';
import { sessionIdOf } from './session-indexes.ts';

/** An entry of an index, and where it is. */
export interface IndexEntry {
  readonly sessionId: string;
  readonly entry: Buffer;
  readonly indexKey: string;
}

/** What is ahead in one bucket. */
interface Lane {
  readonly indexKey: string;
  readonly ahead: Buffer[];
  min: string | Buffer;
  isDone: boolean;
}

/** Walks a part of an index through all buckets at once, in its order, some steps at a time. */
export class IndexWalk {
  private readonly calls: RedisCalls;
  private readonly max: string;
  private readonly lanes: readonly Lane[];
  private readonly batch: number;

  /** @param expected how many entries are likely to be taken */
  constructor(calls: RedisCalls, indexKeys: readonly string[], { min, max }: IndexRange, expected: number) {
    this.calls = calls;
    this.max = max;
    this.lanes = indexKeys.map((indexKey) => ({ indexKey, ahead: [], min, isDone: false }));
    // Somewhat more than an even spread, so that most buckets are asked once.
    const { length } = indexKeys;
    this.batch = length === 1 ? expected : Math.ceil((2 * expected) / length) + 2;
  }

  /** The next entries, fewer only where the walk ends. */
  async take(count: number): Promise<readonly IndexEntry[]> {
    const taken: IndexEntry[] = [];
    while (taken.length < count) {
      await Promise.all(this.lanes.map((lane) => this.look(lane)));
      const lane = this.first();
      const entry = lane?.ahead.shift();
      if (!lane || !entry) break;
      taken.push({ sessionId: sessionIdOf(entry), entry, indexKey: lane.indexKey });
    }
    return taken;
  }

  private first(): Lane | undefined {
    const waiting = this.lanes.filter(({ ahead }) => ahead.length > 0);
    return waiting.reduce<Lane | undefined>((first, lane) => {
      const [left, right] = [first?.ahead[0], lane.ahead[0]];
      return left && right && left.compare(right) <= 0 ? first : lane;
    }, undefined);
  }

  private async look(lane: Lane): Promise<void> {
    const { indexKey, ahead, min, isDone } = lane;
    if (ahead.length > 0 || isDone) return;
    const range = ['zrangebylex', min, this.max, 'LIMIT', 0, this.batch];
    const found = await this.calls.run<readonly Buffer[]>(READ, [indexKey], range);
    ahead.push(...found);
    lane.isDone = found.length < this.batch;
    const last = found.at(-1);
    if (last) lane.min = Buffer.concat([Buffer.from('('), last]);
  }
}
