import { checkArgument, MAX_SECONDS, mustBe } from '../../arguments.ts';
import { newId, systemClock, type Clock } from '../../clock.ts';
import { invalidArgument } from '../../errors.ts';
import { toJsonValue } from '../../json.ts';
import { ifMissing, retryWhileOutdated, writeRecord } from './backend/write-record.ts';
import { waitingItemCount } from './record/inbox-cursor.ts';
import { itemJson } from './record/inbox-items.ts';
import { OpenBackend } from './backend/open-backend.ts';
import { isBase, plannedSave, type PlannedSave, planSave } from './content/save-plan.ts';
import type { AgentSession } from '../session.ts';
import type { SessionBackend } from './backend/session-backend.ts';
import { duePage, sessionPage } from './session-lists.ts';
import { isUnreadableError, SessionConflictError, SessionNotFoundError } from '../session-errors.ts';
import type { FailedWork, WorkFailure } from '../work-failure.ts';
import {
  createdRecord,
  enqueuedRecord,
  failedRecord,
  isExpired,
  isInboxFull,
  requireSavable,
  revisionOf,
  savedRecord,
  takenRecord,
  waitingItemRefs,
  withoutItem,
  type SessionRecord,
} from './record/session-record.ts';
import {
  claimedRecord,
  claimOf,
  claimRefusal,
  releasedRecord,
  renewedRecord,
  withItemsRead,
} from './record/claim-record.ts';
import { BackendReader } from './backend/backend-reader.ts';
import { checkStoreOptions, MAX_INBOX_ITEMS, type StoreOptions } from './store-options.ts';
import { inspectSession } from './inspect-session.ts';
import { SessionHistory } from './session-history.ts';
import {
  check,
  checkClaim,
  checkedExpiry,
  checkedSaveOptions,
  checkSession,
  checkSessionId,
  COUNT,
  ownerOf,
  requireSameIds,
} from './backend/store-arguments.ts';
import type {
  CreateOptions,
  DeleteOptions,
  SaveOptions,
  SessionExpiry,
  SessionPage,
  SessionQuery,
  SessionStore,
  StoreCapabilities,
} from '../session-store.ts';
import type {
  ClaimedSession,
  ClaimOptions,
  EnqueueOptions,
  InboxItem,
  LoadOptions,
  OwnerOptions,
  ReleaseOptions,
  RenewedClaim,
  RenewOptions,
  SessionClaim,
} from '../session-claim.ts';
import type {
  AnnouncedWorker,
  DuePage,
  DueQuery,
  DueSession,
  SeenWorker,
  SessionDirectory,
} from '../session-directory.ts';
import type { SessionInspection } from '../session-inspection.ts';
import type { ExecutionPage, ExecutionQuery, RevisionPage, RevisionQuery } from '../session-pages.ts';

/** The largest number of workers in a list, and of sessions of one worker. */
const MAX_ANNOUNCED = 1_000;

/** Stands for a record that exists and is unreadable. */
const UNREADABLE = Symbol('unreadable');

/**
 * A session store on a database. Each write reads a record, computes the next record with pure functions, and replaces
 * the stored record by a compare-and-set. The store repeats this when another writer was faster.
 */
export class BackedSessionStore implements SessionStore, SessionDirectory {
  private readonly opened: OpenBackend;
  private readonly clock: Clock;
  private readonly expiry: SessionExpiry | undefined;
  private readonly maxInboxItems: number;
  private readonly reader: BackendReader;
  private readonly history: SessionHistory;

  constructor(backend: SessionBackend, options: StoreOptions = {}) {
    const { clock = systemClock, expiry, maxInboxItems, keptRevisions } = checkStoreOptions(options);
    this.clock = clock;
    this.opened = new OpenBackend(backend, this.clock);
    this.expiry = checkedExpiry(expiry);
    this.maxInboxItems = maxInboxItems ?? MAX_INBOX_ITEMS;
    this.reader = new BackendReader(this.opened);
    this.history = new SessionHistory(this.opened, this.reader, keptRevisions);
  }

  get capabilities(): StoreCapabilities {
    return this.opened.capabilities;
  }

  async create(session: AgentSession, options: CreateOptions = {}): Promise<AgentSession> {
    checkSession(session);
    const { sessionId, version, owner } = session;
    if (version !== 0) {
      const advice = 'To copy a session, pass its members to AgentSession.create.';
      throw invalidArgument(`A new session must have version 0, found ${version}. ${advice}`);
    }
    const expiry = checkedExpiry(check.create(options).expiry) ?? this.expiry;
    const incarnation = newId(this.clock);
    let before: SessionRecord | undefined; // read only after a failed attempt: the id is seldom taken
    return retryWhileOutdated(sessionId, async () => {
      const now = await this.opened.now();
      if (before?.incarnation === incarnation)
        return { answer: await this.reader.loadOrThrow(sessionId, owner) };
      if (before && !isExpired(before, now)) {
        const actual = before.info.owner === owner ? before.info.version : 1; // the version of another owner stays secret
        throw new SessionConflictError(sessionId, 'exists', 0, actual);
      }
      const created = session.withRevision({ incarnation, version: 1 }, now);
      const plan = planSave(created);
      const { archives, firstRevision } = this.history.changesBy(created, undefined, { plan });
      const after = createdRecord(created, { expiry, firstRevision }, now);
      const change = { plan, archives };
      if ((await this.backend.compareAndSet(sessionId, before, after, change)) === 'done') {
        return { answer: this.reader.remember(created, after) };
      }
      before = await this.backend.readRecord(sessionId);
      return undefined;
    });
  }

  load(sessionId: string, options?: LoadOptions): Promise<AgentSession | undefined> {
    return this.reader.load(sessionId, options);
  }

  async save(session: AgentSession, options: SaveOptions = {}): Promise<AgentSession> {
    checkSession(session);
    const checked = checkedSaveOptions(options);
    const { sessionId, revision } = session;
    let planned: PlannedSave | undefined; // planned once, because a backend may recognize the plan in a further attempt
    const { reader } = this;
    const { acknowledge: refs = [], checkpoint, epoch, owner } = checked;
    const itemIds = refs.length === 0 ? undefined : await reader.otherItemIds(session, refs);
    const known = isBase(options.base, session) ? reader.recordOf(options.base) : undefined;
    const base = known && options.base; // ignores a base that another store returned: this store may hold other content
    const saved = await writeRecord(reader, sessionId, { known, owner }, (record, now) => {
      planned ??= plannedSave(
        session.withRevision({ ...revision, version: revision.version + 1 }, now),
        base,
        checked.operationId,
      );
      const { next, plan, hash } = planned;
      if (!requireSavable(record, session, checked, { hash, known }, now)) return { answer: undefined };
      const acknowledge = waitingItemRefs(record, refs);
      if (itemIds) requireSameIds(acknowledge, itemIds);
      const parts = { plan, base, ended: session.endedExecutions, checkpoint, epoch };
      const { archives, firstRevision } = this.history.changesBy(next, record, parts);
      const after = savedRecord(record, next, checked, { hash, firstRevision }, now);
      return { after, change: { plan, acknowledge, archives }, answer: this.reader.remember(next, after) };
    });
    return saved ?? this.reader.loadOrThrow(sessionId, session.owner);
  }

  async claim(sessionId: string, options: ClaimOptions): Promise<ClaimedSession> {
    checkSessionId(sessionId);
    const request = check.claim(options);
    const { reader, opened } = this;
    let { base } = options;
    return retryWhileOutdated(sessionId, async () => {
      const now = await opened.now();
      const isUsable = (before: SessionRecord): boolean => claimRefusal(before, request, now) === undefined;
      // Reads the content and the inbox before the write, so that nothing can fail after the write.
      const found = await reader.read(sessionId, { base, owner: request.owner }, isUsable);
      if (found === undefined) throw new SessionNotFoundError(sessionId);
      const { record, session } = found;
      const claimed = claimedRecord(record, request, now);
      if (session === undefined) return undefined;
      base = session; // the next attempt need not read the content again
      const inbox = await reader.inbox(record);
      const after = withItemsRead(claimed, inbox);
      if ((await this.backend.compareAndSet(sessionId, record, after, {})) !== 'done') return undefined;
      reader.remember(session, after);
      const { attempt, failure } = after;
      return { answer: { session, claim: claimOf(after), attempt, failure, ...inbox } };
    });
  }

  async renew(claim: SessionClaim, options: RenewOptions): Promise<RenewedClaim> {
    const { sessionId } = checkClaim(claim);
    const { base, owner, after: seen = -1, ...change } = check.renew(options);
    const { reader } = this;
    const known = reader.knownAs(sessionId, base);
    const { record, inbox } = await writeRecord(reader, sessionId, { known, owner }, async (before, now) => {
      const renewed = renewedRecord(before, claim, change, now);
      const page = await reader.inbox(before, seen);
      const after = withItemsRead(renewed, page);
      return { after, answer: { record: after, inbox: page } };
    });
    if (base) reader.rememberRenewed(base, record);
    return { claim: claimOf(record), ...inbox };
  }

  async release(claim: SessionClaim, options: ReleaseOptions = {}): Promise<boolean> {
    const { sessionId } = checkClaim(claim);
    const { onlyIfIdle = false, base, owner, isSuspect } = check.release(options);
    const { reader } = this;
    const known = reader.knownAs(sessionId, base);
    const released = writeRecord(reader, sessionId, { known, owner }, (record, now) => {
      const after = releasedRecord(record, claim, { isSuspect }, now);
      if (after === undefined || (onlyIfIdle && waitingItemCount(after.inbox) > 0)) return { answer: false };
      return { after, answer: true };
    });
    return released.catch(ifMissing(false));
  }

  async enqueue(
    sessionId: string,
    item: Pick<InboxItem, 'id' | 'content'>,
    options: EnqueueOptions = {},
  ): Promise<boolean> {
    checkSessionId(sessionId);
    const { id: itemId, content } = check.item(item);
    const { owner, reserve } = check.enqueue(options);
    const json = toJsonValue(content);
    const { reader, maxInboxItems: maxItems } = this;
    return writeRecord(this.reader, sessionId, { owner }, async (record, now) => {
      // Only a full inbox is asked before the write: else the write itself finds an item with this id.
      if (isInboxFull(record, maxItems) && (await reader.hasItem(record, itemId))) return { answer: false };
      const after = enqueuedRecord(record, itemId, { maxItems, reserve }, now);
      if (after === undefined) return { answer: false };
      const stored = { id: itemId, position: record.inbox?.next ?? 0, json: itemJson(itemId, json, now) };
      return { after, change: { enqueue: stored }, answer: true, ifDuplicate: false };
    });
  }

  async removeItem(sessionId: string, itemId: string, options: OwnerOptions = {}): Promise<boolean> {
    const owner = ownerOf(sessionId, options);
    checkArgument('The id of an item', itemId, mustBe.string);
    const { reader } = this;
    const found = await reader.recordOrThrow(sessionId, owner);
    const position = await reader.positionOf(found, itemId);
    if (position === undefined) return false;
    const acknowledge = [{ id: itemId, position }];
    return writeRecord(this.reader, sessionId, { owner }, (record, now) => {
      const isSame = record.incarnation === found.incarnation; // else the position is that of another item
      const after = isSame ? withoutItem(record, position, now) : undefined;
      return after ? { after, change: { acknowledge }, answer: true } : { answer: false };
    });
  }

  async recordFailure(
    sessionId: string,
    failed: FailedWork | undefined,
    options: OwnerOptions = {},
  ): Promise<WorkFailure | undefined> {
    const owner = ownerOf(sessionId, options);
    if (failed !== undefined) check.failedWork(failed);
    const recorded = writeRecord(this.reader, sessionId, { owner }, (record, now) => {
      const after = failedRecord(record, failed, now);
      return { after, answer: after.failure };
    });
    return recorded.catch(ifMissing(undefined));
  }

  async exists(sessionId: string, options: OwnerOptions = {}): Promise<boolean> {
    return (await this.reader.record(sessionId, ownerOf(sessionId, options))) !== undefined;
  }

  async inspect(sessionId: string, options: OwnerOptions = {}): Promise<SessionInspection> {
    return inspectSession(this.reader, sessionId, ownerOf(sessionId, options));
  }

  async executions(sessionId: string, query: ExecutionQuery = {}): Promise<ExecutionPage> {
    checkSessionId(sessionId);
    return this.history.executions(sessionId, check.executions(query));
  }

  async revisions(sessionId: string, query: RevisionQuery = {}): Promise<RevisionPage> {
    checkSessionId(sessionId);
    return this.history.revisions(sessionId, check.revisions(query));
  }

  async loadRevision(
    sessionId: string,
    version: number,
    options: OwnerOptions = {},
  ): Promise<AgentSession | undefined> {
    const owner = ownerOf(sessionId, options);
    checkArgument('The version of a revision', version, COUNT);
    return this.history.loadRevision(sessionId, version, owner);
  }

  async delete(sessionId: string, options: DeleteOptions = {}): Promise<boolean> {
    checkSessionId(sessionId);
    const { revision, owner } = check.delete(options);
    return retryWhileOutdated(sessionId, async () => {
      const record = await this.reader.record(sessionId, owner).catch((error: unknown): typeof UNREADABLE => {
        if (revision || !this.backend.discard || !isUnreadableError(error)) throw error;
        return UNREADABLE; // the reader has found it to be the owner's
      });
      if (record === UNREADABLE) return { answer: (await this.backend.discard?.(sessionId)) ?? false };
      if (record === undefined) return { answer: false };
      const actual = revisionOf(record);
      if (revision && (revision.version !== actual.version || revision.incarnation !== actual.incarnation)) {
        throw SessionConflictError.between(sessionId, revision, actual);
      }
      const result = await this.backend.compareAndSet(sessionId, record, undefined, {});
      return result === 'done' ? { answer: true } : undefined;
    });
  }

  async list(query?: SessionQuery): Promise<SessionPage> {
    return sessionPage(this.opened, query);
  }

  async due(query?: DueQuery): Promise<DuePage> {
    return duePage(this.opened, query);
  }

  async takeDue(session: DueSession, seconds: number): Promise<boolean> {
    const { sessionId, dueAt } = check.dueSession(session);
    checkArgument('seconds', seconds, mustBe.seconds);
    const taken = writeRecord(this.reader, sessionId, {}, (record, now) => {
      const after = takenRecord(record, dueAt, seconds, now);
      return after ? { after, answer: true } : { answer: false };
    });
    return taken.catch(ifMissing(false));
  }

  async announce(worker: AnnouncedWorker, seconds: number): Promise<void> {
    const { workerName, since, sessionIds } = check.worker(worker);
    checkArgument('seconds', seconds, mustBe.number(0, MAX_SECONDS));
    const seenAt = await this.opened.now();
    const announced = { workerName, since, sessionIds: sessionIds.slice(0, MAX_ANNOUNCED), seenAt };
    await this.backend.announce(announced, seenAt + Math.ceil(seconds * 1_000));
  }

  async workers(): Promise<readonly SeenWorker[]> {
    const found = await this.backend.workers(await this.opened.now());
    return found.toSorted((left, right) => right.seenAt - left.seenAt).slice(0, MAX_ANNOUNCED);
  }

  async prune(options: { readonly limit?: number | undefined } = {}): Promise<number> {
    const { limit = 1_000 } = check.prune(options);
    return this.backend.prune(await this.opened.now(), limit);
  }

  close(): Promise<void> {
    return this.opened.close();
  }

  /** @throws StoreUnavailableError once the store is closed. */
  private get backend(): SessionBackend {
    return this.opened.backend;
  }
}
