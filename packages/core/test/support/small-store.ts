import { SessionTooLargeError } from '@holdfast/core';
import {
  BackedSessionStore,
  type RecordChange,
  type SessionRecord,
  type StoreCapabilities,
  type StoreOptions,
} from '@holdfast/core/store';
import { MemoryBackend } from '../../src/session/store/memory-session-store.ts';

/** The memory backend, which refuses a text that is too large, as a database does. */
class SmallBackend extends MemoryBackend {
  private readonly maxValueBytes: number;
  override readonly capabilities: StoreCapabilities;

  constructor(maxValueBytes: number) {
    super();
    this.maxValueBytes = maxValueBytes;
    this.capabilities = { listing: 'strong', clock: 'client', maxValueBytes };
  }

  override compareAndSet(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): ReturnType<MemoryBackend['compareAndSet']> {
    const { plan, enqueue } = change;
    const lists = plan?.lists.flatMap(({ append }) => append) ?? [];
    for (const text of [plan?.head, ...(plan?.values.values() ?? []), ...lists, enqueue?.json]) {
      const bytes = Buffer.byteLength(text ?? '');
      if (bytes > this.maxValueBytes) throw new SessionTooLargeError(sessionId, bytes, this.maxValueBytes);
    }
    return super.compareAndSet(sessionId, before, after, change);
  }
}

/** A store that takes values of one size at most. */
export class SmallStore extends BackedSessionStore {
  constructor(maxValueBytes: number, options: StoreOptions = {}) {
    super(new SmallBackend(maxValueBytes), options);
  }
}
