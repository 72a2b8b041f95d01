import type { Instant } from '../clock.ts';
import { BackedSessionStore } from './backed-session-store.ts';
import type { StoreOptions } from './backed-session-store.ts';
import { carriedOut } from './saved-session.ts';
import type { RecordChange, SessionBackend, StoredSession } from './session-backend.ts';
import { compareDue, compareSessionInfos, fitsDue, fitsQuery } from './session-cursor.ts';
import type { ResolvedDueQuery, ResolvedSessionQuery } from './session-cursor.ts';
import type { SessionRecord } from './session-record.ts';
import { dueAt, isExpired } from './session-record.ts';
import type { SessionInfo } from './session-info.ts';
import type { DueSession, StoreCapabilities } from './session-store.ts';

/** Keeps sessions for as long as the process lives. */
export class MemorySessionStore extends BackedSessionStore {
  constructor(options: StoreOptions = {}) {
    super(new MemoryBackend(), options);
  }
}

/** The reference of a backend: read it to write your own. What stands between two awaits is one atomic effect. */
class MemoryBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities = { listing: 'strong', clock: 'client', maxValueBytes: undefined };
  private readonly entries = new Map<string, StoredSession>();

  async read(sessionId: string): Promise<SessionRecord | undefined> {
    return this.entries.get(sessionId)?.record;
  }

  async readAll(sessionId: string): Promise<StoredSession | undefined> {
    return this.entries.get(sessionId);
  }

  async readItems(
    sessionId: string,
    incarnation: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const entry = this.entries.get(sessionId);
    const inbox = entry?.record.incarnation === incarnation ? entry.inbox : undefined;
    return new Map([...(inbox ?? [])].filter(([id]) => ids.includes(id)));
  }

  async swap(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    { plan, enqueue, acknowledge = [] }: RecordChange,
  ): Promise<boolean> {
    const found = this.entries.get(sessionId);
    if (found?.record.incarnation !== before?.incarnation || found?.record.writes !== before?.writes)
      return false;
    if (after === undefined) return this.entries.delete(sessionId);
    const kept = found?.record.incarnation === after.incarnation ? found : undefined;
    const saved = plan ? carriedOut(kept?.saved, plan) : kept?.saved;
    if (saved === undefined) return false;
    const inbox = new Map(kept?.inbox);
    if (enqueue) inbox.set(enqueue.id, enqueue.item);
    for (const id of acknowledge) inbox.delete(id);
    this.entries.set(sessionId, { record: after, saved, inbox });
    return true;
  }

  async list(query: ResolvedSessionQuery, now: Instant): Promise<readonly SessionInfo[]> {
    const infos = this.living(now).map(({ info }) => info);
    const fitting = infos.filter((info) => fitsQuery(info, query));
    return fitting.toSorted(compareSessionInfos(query.order)).slice(0, query.limit + 1);
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    const due = this.living(now).flatMap((record) => {
      const at = dueAt(record);
      return at === undefined ? [] : [{ sessionId: record.info.sessionId, dueAt: at }];
    });
    const fitting = due.filter((session) => fitsDue(session, query));
    return fitting.toSorted(compareDue).slice(0, query.limit + 1);
  }

  async prune(now: Instant, limit: number): Promise<number> {
    const expired = [...this.entries].filter(([, { record }]) => isExpired(record, now)).slice(0, limit);
    for (const [sessionId] of expired) this.entries.delete(sessionId);
    return expired.length;
  }

  async close(): Promise<void> {}

  private living(now: Instant): SessionRecord[] {
    return [...this.entries.values()].map(({ record }) => record).filter((record) => !isExpired(record, now));
  }
}
