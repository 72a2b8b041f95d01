import type {
  DueSession,
  Instant,
  ItemRange,
  ListedSession,
  RecordChange,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SessionBackend,
  SessionRecord,
  StoreCapabilities,
  StoredItem,
  StoredSession,
  SwapResult,
} from '@holdfast/core';

/** A backend that is made when it is first used, as it has to ask how sessions are kept. After a failure it asks again. */
export class LazyBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities;
  private readonly open: () => Promise<SessionBackend>;
  private opened: Promise<SessionBackend> | undefined;

  constructor(capabilities: StoreCapabilities, open: () => Promise<SessionBackend>) {
    this.capabilities = capabilities;
    this.open = open;
  }

  ready(): Promise<SessionBackend> {
    this.opened ??= this.open().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  async read(sessionId: string): Promise<SessionRecord | undefined> {
    return (await this.ready()).read(sessionId);
  }

  async readAll(sessionId: string): Promise<StoredSession | undefined> {
    return (await this.ready()).readAll(sessionId);
  }

  async readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    return (await this.ready()).readInbox(sessionId, incarnation, range);
  }

  async swap(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<SwapResult> {
    return (await this.ready()).swap(sessionId, before, after, change);
  }

  async list(query: ResolvedSessionQuery, now: Instant): Promise<readonly ListedSession[]> {
    return (await this.ready()).list(query, now);
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    return (await this.ready()).due(query, now);
  }

  async prune(now: Instant, limit: number): Promise<number> {
    return (await this.ready()).prune(now, limit);
  }

  async close(): Promise<void> {}
}
