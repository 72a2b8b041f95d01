import type { ItemRange, RecordChange, SessionRecord, StoredItem, StoredSession } from '@holdfast/core/store';
import { MemoryBackend } from '../../src/session/store/memory-session-store.ts';

type Call = 'read' | 'readAll' | 'readInbox' | 'swap';

/** The memory backend, with its calls written down, damaged items, and a way back to an earlier moment. */
export class WatchedBackend extends MemoryBackend {
  /** What was called, in order, since somebody looked. */
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
    return this.look().filter((name) => name === 'readAll').length;
  }

  override read(sessionId: string): Promise<SessionRecord | undefined> {
    this.calls.push('read');
    return super.read(sessionId);
  }

  override readAll(sessionId: string): Promise<StoredSession | undefined> {
    this.calls.push('readAll');
    return super.readAll(sessionId);
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

  override swap(
    ...args: [string, SessionRecord | undefined, SessionRecord | undefined, RecordChange]
  ): ReturnType<MemoryBackend['swap']> {
    this.calls.push('swap');
    return super.swap(...args);
  }

  /** Remembers a session, and answers how to put it back: as a failover that loses writes does. */
  async remember(sessionId: string): Promise<() => Promise<void>> {
    const stored = await super.readAll(sessionId);
    if (stored === undefined) throw new Error(`There is no session ${sessionId}.`);
    const { head, values, lists } = stored.saved;
    const all = [...lists].map(([name, append]) => ({ name, keep: 0, append }));
    return async () => {
      await super.swap(sessionId, await super.read(sessionId), undefined, {});
      await super.swap(sessionId, undefined, stored.record, {
        plan: { isWhole: true, head, values, lists: all },
      });
    };
  }
}
