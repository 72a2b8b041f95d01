import type { RedisCalls } from './redis-calls.ts';
import { WALK } from './scripts.ts';
import type { IndexPlace, IndexRange } from './session-indexes.ts';

/** An entry of an index, and where it is. */
export interface IndexEntry extends IndexPlace {
  readonly id: Buffer;
  readonly indexKey: string;
}

/** What is ahead in one bucket. */
interface Lane {
  readonly indexKey: string;
  readonly ahead: IndexEntry[];
  after: IndexPlace | undefined;
  isDone: boolean;
}

/** Walks a part of an index through all buckets at once, in its order, some steps at a time. */
export class IndexWalk {
  private readonly calls: RedisCalls;
  private readonly max: IndexRange['max'];
  private readonly lanes: readonly Lane[];
  private readonly batch: number;

  /** @param expected how many entries are likely to be taken */
  constructor(calls: RedisCalls, indexKeys: readonly string[], { after, max }: IndexRange, expected: number) {
    this.calls = calls;
    this.max = max;
    this.lanes = indexKeys.map((indexKey) => ({ indexKey, ahead: [], after, isDone: false }));
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
      if (!entry) break;
      taken.push(entry);
    }
    return taken;
  }

  private first(): Lane | undefined {
    const waiting = this.lanes.filter(({ ahead }) => ahead.length > 0);
    return waiting.reduce<Lane | undefined>((first, lane) => {
      const [left, right] = [first?.ahead[0], lane.ahead[0]];
      return left && right && compareEntries(left, right) <= 0 ? first : lane;
    }, undefined);
  }

  private async look(lane: Lane): Promise<void> {
    const { indexKey, ahead, after, isDone } = lane;
    if (ahead.length > 0 || isDone) return;
    const range = [after?.score ?? '', after?.id ?? '', this.max, this.batch];
    const found = await this.calls.run<readonly Buffer[]>(WALK, [indexKey], range);
    for (let index = 0; index + 1 < found.length; index += 2) {
      ahead.push({ id: found[index] as Buffer, score: Number(String(found[index + 1])), indexKey });
    }
    lane.isDone = ahead.length < this.batch;
    lane.after = ahead.at(-1);
  }
}

/** As the server orders them. */
function compareEntries(left: IndexEntry, right: IndexEntry): number {
  return left.score - right.score || left.id.compare(right.id);
}
