import type { OptionChecks } from '../../arguments.ts';
import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock } from '../../clock.ts';
import { newId, systemClock } from '../../clock.ts';
import { hasErrorCode, invalidArgument } from '../../errors.ts';
import { toJsonValue } from '../../json.ts';
import { SessionId } from '../../state/values/ids.ts';
import { writeRecord, retryWhileOutdated } from './write-record.ts';
import { waitingItemCount } from './inbox-cursor.ts';
import { itemJson } from './inbox-items.ts';
import { OpenBackend } from './open-backend.ts';
import type { PlannedSave } from './save-plan.ts';
import { isBase, plannedSave, planSave } from './save-plan.ts';
import type { AgentSession } from '../session.ts';
import type { SessionBackend } from './session-backend.ts';
import { resolveDueQuery, resolveSessionQuery, dueCursor, sessionCursor } from './session-query.ts';
import { SessionConflictError, SessionNotFoundError } from '../session-errors.ts';
import type { FailedWork, WorkFailure } from '../work-failure.ts';
import type { SessionRecord } from './session-record.ts';
import {
  claimedRecord,
  claimOf,
  createdRecord,
  enqueuedRecord,
  failedRecord,
  isExpired,
  requireSavable,
  releasedRecord,
  renewedRecord,
  revisionOf,
  savedRecord,
  takenRecord,
  waitingItemRefs,
} from './session-record.ts';
import { BackendReader } from './backend-reader.ts';
import {
  checkClaim,
  checkClaimOptions,
  checkCreateOptions,
  checkDeleteOptions,
  checkDueSession,
  checkFailedWork,
  checkedExpiry,
  checkedSaveOptions,
  checkItem,
  checkPruneOptions,
  checkReleaseOptions,
  checkRenewOptions,
  checkSession,
  checkSessionId,
  COUNT,
  requireSameIds,
} from './store-arguments.ts';
import type {
  ClaimedSession,
  ClaimOptions,
  CreateOptions,
  DeleteOptions,
  DuePage,
  DueSession,
  DueQuery,
  InboxItem,
  LoadOptions,
  RenewedClaim,
  RenewOptions,
  SaveOptions,
  SessionClaim,
  SessionExpiry,
  SessionPage,
  SessionQuery,
  SessionStore,
  StoreCapabilities,
} from '../session-store.ts';

/** The options of every store. */
export interface StoreOptions {
  /** The source of the time and ids. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** When sessions expire, unless they were created or saved with an expiry of their own. Default: never. */
  readonly expiry?: SessionExpiry | undefined;
  /**
   * The number of items that may wait in the inbox of one session. The store refuses a further item with an
   * InboxFullError. Default: 10,000.
   */
  readonly maxInboxItems?: number | undefined;
}

const MAX_INBOX_ITEMS = 10_000;

/** The checks of `StoreOptions`, for stores that have more options. */
export const storeOptionChecks: OptionChecks<StoreOptions> = Object.freeze({
  clock: mustBe.clock,
  expiry: mustBe.anything, // see checkedExpiry
  maxInboxItems: COUNT,
});

const EXPIRY = 'pass an expiry, as in expiry: { afterSeconds: 3600 }';
const checkStoreOptions = optionsCheck<StoreOptions>('store', storeOptionChecks, {
  ttl: EXPIRY,
  expiresIn: EXPIRY,
  path: 'use SqliteSessionStore.open({ path }) for a store in a file',
});
const BACKEND = mustBe.objectWith('an object with the methods of a SessionBackend', [
  'readRecord',
  'readSession',
  'readInbox',
  'compareAndSet',
  'list',
  'due',
  'prune',
  'close',
]);

/** Stands for a record that exists and is unreadable. */
const UNREADABLE = Symbol('unreadable');

function isUnreadableRecord(error: unknown): boolean {
  return hasErrorCode(error, 'STATE_FORMAT') || hasErrorCode(error, 'STATE_VERSION');
}

/**
 * A session store on a database. Each write reads a record, computes the next record with pure functions, and replaces
 * the stored record by a compare-and-set. The store repeats this when another writer was faster.
 */
export class BackedSessionStore implements SessionStore {
  private readonly opened: OpenBackend;
  private readonly clock: Clock;
  private readonly expiry: SessionExpiry | undefined;
  private readonly maxInboxItems: number;
  private readonly reader: BackendReader;

  constructor(backend: SessionBackend, options: StoreOptions = {}) {
    const { clock = systemClock, expiry, maxInboxItems = MAX_INBOX_ITEMS } = checkStoreOptions(options);
    checkArgument('The backend of a store', backend, BACKEND);
    this.clock = clock;
    this.opened = new OpenBackend(backend, this.clock);
    this.expiry = checkedExpiry(expiry);
    this.maxInboxItems = maxInboxItems;
    this.reader = new BackendReader(this.opened);
  }

  get capabilities(): StoreCapabilities {
    return this.opened.capabilities;
  }

  async create(session: AgentSession, options: CreateOptions = {}): Promise<AgentSession> {
    checkSession(session);
    const { sessionId, version } = session;
    if (version !== 0) throw invalidArgument(`A new session must have version 0, found ${version}.`);
    const expiry = checkedExpiry(checkCreateOptions(options).expiry) ?? this.expiry;
    const incarnation = newId(this.clock);
    let before: SessionRecord | undefined; // read only after a failed attempt: the id is seldom taken
    return retryWhileOutdated(sessionId, async () => {
      const now = await this.opened.now();
      if (before?.incarnation === incarnation) return { answer: await this.reader.loadOrThrow(sessionId) };
      if (before && !isExpired(before, now)) {
        throw SessionConflictError.between(sessionId, session.revision, revisionOf(before));
      }
      const created = session.withRevision({ incarnation, version: 1 }, now);
      const after = createdRecord(created, expiry, now);
      if (
        (await this.backend.compareAndSet(sessionId, before, after, { plan: planSave(created) })) === 'done'
      ) {
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
    const { opened, reader } = this;
    const { acknowledge: refs = [] } = checked;
    const itemIds = refs.length === 0 ? undefined : await reader.otherItemIds(session, refs);
    const known = isBase(options.base, session) ? reader.recordOf(options.base) : undefined;
    const base = known && options.base; // ignores a base that another store returned: this store may hold other content
    const saved = await writeRecord(sessionId, { opened, reader, known }, (record, now) => {
      planned ??= plannedSave(
        session.withRevision({ ...revision, version: revision.version + 1 }, now),
        base,
        checked.operationId,
      );
      const { next, plan, hash } = planned;
      if (!requireSavable(record, session, checked, { hash, known }, now)) return { answer: undefined };
      const acknowledge = waitingItemRefs(record, refs);
      if (itemIds) requireSameIds(acknowledge, itemIds);
      const after = savedRecord(record, next, checked, hash, now);
      return { after, change: { plan, acknowledge }, answer: this.reader.remember(next, after) };
    });
    return saved ?? this.reader.loadOrThrow(sessionId);
  }

  async claim(sessionId: string, options: ClaimOptions): Promise<ClaimedSession> {
    checkSessionId(sessionId);
    const { workerId, leaseSeconds, ifSuspect } = checkClaimOptions(options);
    let { base } = options;
    return retryWhileOutdated(sessionId, async () => {
      const record = await this.reader.record(sessionId);
      if (record === undefined) throw new SessionNotFoundError(sessionId);
      const after = claimedRecord(record, { workerId, leaseSeconds, ifSuspect }, await this.opened.now());
      // Reads the content and the inbox before the write, so that nothing can fail after the write.
      const session = await this.reader.contentOf(record, base);
      if (session === undefined) return undefined;
      base = session;
      const inbox = await this.reader.inbox(record);
      if ((await this.backend.compareAndSet(sessionId, record, after, {})) !== 'done') return undefined;
      this.reader.remember(session, after);
      const { attempt, failure } = after;
      return { answer: { session, claim: claimOf(after), attempt, failure, ...inbox } };
    });
  }

  async renew(claim: SessionClaim, options: RenewOptions): Promise<RenewedClaim> {
    const { sessionId } = checkClaim(claim);
    const { base, leaseSeconds, isShared, after: seen = -1 } = checkRenewOptions(options);
    return retryWhileOutdated(sessionId, async () => {
      const record = await this.reader.record(sessionId);
      if (record === undefined) throw new SessionNotFoundError(sessionId);
      const after = renewedRecord(record, claim, { leaseSeconds, isShared }, await this.opened.now());
      const inbox = await this.reader.inbox(record, seen);
      if ((await this.backend.compareAndSet(sessionId, record, after, {})) !== 'done') return undefined;
      if (base) this.reader.rememberRenewed(base, after);
      return { answer: { claim: claimOf(after), ...inbox } };
    });
  }

  async release(
    claim: SessionClaim,
    options: { readonly onlyIfIdle?: boolean | undefined } = {},
  ): Promise<boolean> {
    checkClaim(claim);
    const { onlyIfIdle = false } = checkReleaseOptions(options);
    return retryWhileOutdated(claim.sessionId, async () => {
      const record = await this.reader.record(claim.sessionId);
      const after = record && releasedRecord(record, claim, await this.opened.now());
      if (after === undefined || (onlyIfIdle && waitingItemCount(after.inbox) > 0)) return { answer: false };
      const result = await this.backend.compareAndSet(claim.sessionId, record, after, {});
      return result === 'done' ? { answer: true } : undefined;
    });
  }

  async enqueue(sessionId: string, item: Pick<InboxItem, 'id' | 'content'>): Promise<boolean> {
    checkSessionId(sessionId);
    const { id: itemId, content } = checkItem(item);
    const json = toJsonValue(content);
    const { opened, reader } = this;
    return writeRecord(sessionId, { opened, reader }, (record, now) => {
      const after = enqueuedRecord(record, itemId, this.maxInboxItems, now);
      if (after === undefined) return { answer: false };
      const stored = { id: itemId, position: record.inbox?.next ?? 0, json: itemJson(itemId, json, now) };
      return { after, change: { enqueue: stored }, answer: true, ifDuplicate: false };
    });
  }

  async recordFailure(sessionId: string, failed: FailedWork | undefined): Promise<WorkFailure | undefined> {
    checkSessionId(sessionId);
    if (failed !== undefined) checkFailedWork(failed);
    const { opened, reader } = this;
    try {
      return await writeRecord(sessionId, { opened, reader }, (record, now) => {
        const after = failedRecord(record, failed, now);
        return { after, answer: after.failure };
      });
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  async exists(sessionId: string): Promise<boolean> {
    checkSessionId(sessionId);
    return (await this.reader.record(sessionId)) !== undefined;
  }

  async delete(sessionId: string, options: DeleteOptions = {}): Promise<boolean> {
    checkSessionId(sessionId);
    const { revision } = checkDeleteOptions(options);
    return retryWhileOutdated(sessionId, async () => {
      const record = await this.reader.record(sessionId).catch((error: unknown): typeof UNREADABLE => {
        if (revision || !this.backend.discard || !isUnreadableRecord(error)) throw error;
        return UNREADABLE;
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
    const { backend } = this;
    const resolved = resolveSessionQuery(query);
    const { order, limit, parentId } = resolved;
    if (parentId !== undefined && !SessionId.is(parentId)) return { sessions: [], cursor: undefined };
    const found = await backend.list(resolved, await this.opened.now());
    const sessions = found.slice(0, limit);
    const last = sessions.at(-1);
    return { sessions, cursor: last && found.length > limit ? sessionCursor(last, order) : undefined };
  }

  async due(query?: DueQuery): Promise<DuePage> {
    const now = await this.opened.now();
    const resolved = resolveDueQuery(query, now);
    const found = await this.backend.due(resolved, now);
    const sessions = found.slice(0, resolved.limit);
    const last = sessions.at(-1);
    return { sessions, cursor: last && found.length > resolved.limit ? dueCursor(last) : undefined };
  }

  async takeDue(session: DueSession, seconds: number): Promise<boolean> {
    const { sessionId, dueAt } = checkDueSession(session);
    checkArgument('seconds', seconds, mustBe.seconds);
    const { opened, reader } = this;
    try {
      return await writeRecord(sessionId, { opened, reader }, (record, now) => {
        const after = takenRecord(record, dueAt, seconds, now);
        return after ? { after, answer: true } : { answer: false };
      });
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return false;
      throw error;
    }
  }

  async prune(options: { readonly limit?: number | undefined } = {}): Promise<number> {
    const { limit = 1_000 } = checkPruneOptions(options);
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
