import type {
  ItemRange,
  ReadRequest,
  ReadSession,
  RecordChange,
  SessionRecord,
  StoredItem,
} from '@holdfast/core/store';
import { MemoryBackend } from '../../src/session/store/memory-session-store.ts';

type Call = 'readRecord' | 'readHead' | 'readSession' | 'readInbox' | 'compareAndSet';

/** The names of reads in the log, by their extent. */
const CALLS = { record: 'readRecord', head: 'readHead', content: 'readSession' } as const;

/** The memory backend, with its calls written down, damaged items, and a way back to an earlier moment. */
export class WatchedBackend extends MemoryBackend {
  /** The calls since the last look at them, in order. */
  private calls: Call[] = [];
  /** The texts that stand at positions of the inbox in place of the right ones; `undefined`: none. */
  readonly damage = new Map<number, string | undefined>();

  /** What was called since the last look. */
  look(): readonly Call[] {
    const { calls } = this;
    this.calls = [];
    return calls;
  }

  /** How often the content of a session was read since the last look. */
  contentReads(): number {
    return this.look().filter((name) => name === 'readSession').length;
  }

  override readRecord(sessionId: string): Promise<SessionRecord | undefined> {
    this.calls.push('readRecord');
    return super.readRecord(sessionId);
  }

  override readSession(sessionId: string, request: ReadRequest): Promise<ReadSession | undefined> {
    return super.readSession(sessionId, {
      ...request,
      extent: (record) => {
        const extent = request.extent(record);
        this.calls.push(CALLS[extent]);
        return extent;
      },
    });
  }

  override async readInbox(...args: [string, string, ItemRange]): Promise<readonly StoredItem[]> {
    this.calls.push('readInbox');
    const items = await super.readInbox(...args);
    return items.flatMap((item) => {
      if (!this.damage.has(item.position)) return [item];
      const json = this.damage.get(item.position);
      return json === undefined ? [] : [{ ...item, json }];
    });
  }

  override compareAndSet(
    ...args: [string, SessionRecord | undefined, SessionRecord | undefined, RecordChange]
  ): ReturnType<MemoryBackend['compareAndSet']> {
    this.calls.push('compareAndSet');
    return super.compareAndSet(...args);
  }

  /** Remembers a session, and answers how to put it back: as a failover that loses writes does. */
  async remember(sessionId: string): Promise<() => Promise<void>> {
    const { record, content } = (await super.readSession(sessionId, { extent: () => 'content' })) ?? {};
    if (record === undefined || content === undefined) throw new Error(`There is no session ${sessionId}.`);
    return async () => {
      await super.compareAndSet(sessionId, await super.readRecord(sessionId), undefined, {});
      await super.compareAndSet(sessionId, undefined, record, { plan: { isWhole: true, ...content } });
    };
  }

  /** Puts another head in the place of the stored one, past the store. */
  async rewriteHead(sessionId: string, change: (head: string) => string): Promise<void> {
    const { record, content } = (await super.readSession(sessionId, { extent: () => 'content' })) ?? {};
    if (record === undefined || content === undefined) throw new Error(`There is no session ${sessionId}.`);
    const plan = { isWhole: true, ...content, head: change(content.head) };
    await super.compareAndSet(sessionId, record, record, { plan });
  }
}
