import {
  carriedOut,
  compareDue,
  compareSessionInfos,
  dueAt,
  fitsDue,
  fitsQuery,
  isExpired,
  readSessionRecord,
} from '@holdfast/core';
import type {
  DueSession,
  Instant,
  RecordChange,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SessionBackend,
  SessionInfo,
  SessionRecord,
  StoreCapabilities,
  StoredSession,
} from '@holdfast/core';

export type Entries = Map<string, StoredSession>;

/** A backend on a map, in steps that can be broken one by one. Several may share a map. */
export class MapBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities = { listing: 'strong', clock: 'client', maxValueBytes: undefined };
  readonly entries: Entries;

  constructor(entries: Entries = new Map()) {
    this.entries = entries;
  }

  async read(sessionId: string): Promise<SessionRecord | undefined> {
    const record = this.entries.get(sessionId)?.record;
    return record && readSessionRecord(JSON.parse(JSON.stringify(record)));
  }

  async readAll(sessionId: string): Promise<StoredSession | undefined> {
    return this.entries.get(sessionId);
  }

  async readItems(sessionId: string, _incarnation: string, ids: readonly string[]) {
    const inbox = [...(this.entries.get(sessionId)?.inbox ?? [])];
    return new Map(inbox.filter(([id]) => ids.includes(id)));
  }

  async swap(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<boolean> {
    const found = this.entries.get(sessionId);
    if (!this.isThere(found?.record, before)) return false;
    if (after) this.entries.set(sessionId, this.changed(found, after, change));
    else this.entries.delete(sessionId);
    return true;
  }

  async list(query: ResolvedSessionQuery, now: Instant): Promise<readonly SessionInfo[]> {
    const infos = this.records(now).map(({ info }) => info);
    const fitting = infos.filter((info) => this.fits(info, query));
    return fitting.toSorted(compareSessionInfos(query.order)).slice(0, query.limit + 1);
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    const due = this.records(now).flatMap((record) => {
      const at = this.dueAt(record);
      return at === undefined ? [] : [{ sessionId: record.info.sessionId, dueAt: at }];
    });
    return due
      .filter((one) => fitsDue(one, query))
      .toSorted(compareDue)
      .slice(0, query.limit + 1);
  }

  async prune(now: Instant, limit: number): Promise<number> {
    const expired = [...this.entries].filter(([, { record }]) => isExpired(record, now)).slice(0, limit);
    for (const [sessionId] of expired) this.entries.delete(sessionId);
    return expired.length;
  }

  async close(): Promise<void> {}

  protected isThere(found: SessionRecord | undefined, before: SessionRecord | undefined): boolean {
    return found?.incarnation === before?.incarnation && found?.writes === before?.writes;
  }

  protected changed(
    found: StoredSession | undefined,
    record: SessionRecord,
    { plan, enqueue, acknowledge = [] }: RecordChange,
  ): StoredSession {
    const kept = found?.record.incarnation === record.incarnation ? found : undefined;
    const saved = plan ? carriedOut(kept?.saved, plan) : kept?.saved;
    if (!saved) throw new Error('A record was swapped in with nothing to say.');
    const inbox = new Map(kept?.inbox);
    if (enqueue) inbox.set(enqueue.id, enqueue.item);
    for (const id of acknowledge) inbox.delete(id);
    return { record, saved, inbox };
  }

  protected fits(info: SessionInfo, query: ResolvedSessionQuery): boolean {
    return fitsQuery(info, query);
  }

  protected dueAt(record: SessionRecord): Instant | undefined {
    return dueAt(record);
  }

  protected records(now: Instant): SessionRecord[] {
    return [...this.entries.values()].map(({ record }) => record).filter((record) => !isExpired(record, now));
  }
}
