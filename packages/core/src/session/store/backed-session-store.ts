import type { OptionChecks } from '../../arguments.ts';
import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import { invalidArgument } from '../../errors.ts';
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
import type { SessionRecord } from './session-record.ts';
import {
  claimedRecord,
  claimOf,
  createdRecord,
  enqueuedRecord,
  isExpired,
  requireSavable,
  releasedRecord,
  renewedRecord,
  revisionOf,
  savedRecord,
  waitingItemRefs,
} from './session-record.ts';
import { BackendReader } from './backend-reader.ts';
import { checkedExpiry, COUNT, NAME, POSITION } from './store-arguments.ts';
import type {
  ClaimedSession,
  ClaimOptions,
  CreateOptions,
  DeleteOptions,
  DuePage,
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

/** What every store may be told. */
export interface StoreOptions {
  /** Time and ids; default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** When sessions are forgotten, unless they were created or saved with something else; default: never. */
  readonly expiry?: SessionExpiry | undefined;
  /** How many items may wait in the inbox of one session; default 10,000. One more is an InboxFullError. */
  readonly maxInboxItems?: number | undefined;
}

const MAX_INBOX_ITEMS = 10_000;

/** The checks of `StoreOptions`, for stores that have more options. */
export const storeOptionChecks: OptionChecks<StoreOptions> = Object.freeze({
  clock: mustBe.clock,
  expiry: mustBe.anything, // see checkedExpiry
  maxInboxItems: COUNT,
});

const EXPIRY = 'give an expiry, as in expiry: { afterSeconds: 3600 }';
const checkStoreOptions = optionsCheck<StoreOptions>('store', storeOptionChecks, {
  ttl: EXPIRY,
  expiresIn: EXPIRY,
  path: 'a store in a file is SqliteSessionStore.open({ path })',
});
const checkCreateOptions = optionsCheck<CreateOptions>(
  'store.create',
  { expiry: mustBe.anything },
  { ttl: EXPIRY },
);
const checkDeleteOptions = optionsCheck<DeleteOptions>('store.delete', { revision: mustBe.object });
const checkPruneOptions = optionsCheck<{ readonly limit?: number | undefined }>('store.prune', {
  limit: COUNT,
});

/**
 * A session store on a database. It reads a record, lets pure functions decide what becomes of it, and asks the
 * database to put the one in the place of the other; where another writer came first, it does so again.
 */
export class BackedSessionStore implements SessionStore {
  private readonly opened: OpenBackend;
  private readonly clock: Clock;
  private readonly expiry: SessionExpiry | undefined;
  private readonly maxInboxItems: number;
  private readonly reader: BackendReader;

  constructor(backend: SessionBackend, options: StoreOptions = {}) {
    const { clock = systemClock, expiry, maxInboxItems = MAX_INBOX_ITEMS } = checkStoreOptions(options);
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
    const { sessionId, version } = session;
    if (version !== 0) throw invalidArgument(`A new session has version 0, found ${version}.`);
    const expiry = checkedExpiry(checkCreateOptions(options).expiry) ?? this.expiry;
    const incarnation = this.clock.newId();
    let before: SessionRecord | undefined; // looked at only when something is there: that is the exception
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

  load(sessionId: string, { base }: LoadOptions = {}): Promise<AgentSession | undefined> {
    return this.reader.load(sessionId, base);
  }

  async save(session: AgentSession, options: SaveOptions = {}): Promise<AgentSession> {
    const { sessionId, revision } = session;
    const checked = { ...options, expiry: options.expiry && checkedExpiry(options.expiry) };
    let planned: PlannedSave | undefined; // once: a backend may know the plan again when another writer came between
    const { opened, reader } = this;
    const known = isBase(options.base, session) ? reader.recordOf(options.base) : undefined;
    const base = known && options.base; // this store cannot tell whether it still has a base that another store answered
    const saved = await writeRecord(sessionId, { opened, reader, known }, (record, now) => {
      planned ??= plannedSave(
        session.withRevision({ ...revision, version: revision.version + 1 }, now),
        base,
        checked.operationId,
      );
      const { next, plan, hash } = planned;
      if (!requireSavable(record, session, checked, { hash, known }, now)) return { answer: undefined };
      const after = savedRecord(record, next, checked, hash, now);
      const acknowledge = waitingItemRefs(record, checked.acknowledge);
      return { after, change: { plan, acknowledge }, answer: this.reader.remember(next, after) };
    });
    return saved ?? this.reader.loadOrThrow(sessionId);
  }

  async claim(sessionId: string, options: ClaimOptions): Promise<ClaimedSession> {
    const workerId = checkArgument('workerId of a claim', options.workerId, NAME);
    const leaseSeconds = checkArgument('leaseSeconds', options.leaseSeconds, mustBe.seconds);
    let { base } = options;
    return retryWhileOutdated(sessionId, async () => {
      const record = await this.reader.record(sessionId);
      if (record === undefined) throw new SessionNotFoundError(sessionId);
      const after = claimedRecord(record, { workerId, leaseSeconds }, await this.opened.now());
      // Content and inbox before the write, so that nothing can fail after it.
      const session = await this.reader.contentOf(record, base);
      if (session === undefined) return undefined;
      base = session;
      const inbox = await this.reader.inbox(record);
      if ((await this.backend.compareAndSet(sessionId, record, after, {})) !== 'done') return undefined;
      this.reader.remember(session, after);
      return { answer: { session, claim: claimOf(after), attempt: after.attempt, ...inbox } };
    });
  }

  async renew(claim: SessionClaim, options: RenewOptions): Promise<RenewedClaim> {
    const { sessionId } = claim;
    const { base, after: seen = -1 } = options;
    const leaseSeconds = checkArgument('leaseSeconds', options.leaseSeconds, mustBe.seconds);
    checkArgument('after', seen, POSITION);
    return retryWhileOutdated(sessionId, async () => {
      const record = await this.reader.record(sessionId);
      if (record === undefined) throw new SessionNotFoundError(sessionId);
      const after = renewedRecord(record, claim, leaseSeconds, await this.opened.now());
      const inbox = await this.reader.inbox(record, seen);
      if ((await this.backend.compareAndSet(sessionId, record, after, {})) !== 'done') return undefined;
      if (base) this.reader.rememberRenewed(base, after);
      return { answer: { claim: claimOf(after), ...inbox } };
    });
  }

  async release(
    claim: SessionClaim,
    { onlyIfIdle = false }: { readonly onlyIfIdle?: boolean | undefined } = {},
  ): Promise<boolean> {
    return retryWhileOutdated(claim.sessionId, async () => {
      const record = await this.reader.record(claim.sessionId);
      const after = record && releasedRecord(record, claim, await this.opened.now());
      if (after === undefined || (onlyIfIdle && waitingItemCount(after.inbox) > 0)) return { answer: false };
      const result = await this.backend.compareAndSet(claim.sessionId, record, after, {});
      return result === 'done' ? { answer: true } : undefined;
    });
  }

  async enqueue(sessionId: string, { id, content }: Pick<InboxItem, 'id' | 'content'>): Promise<boolean> {
    const itemId = checkArgument('The id of an inbox item', id, NAME);
    const json = toJsonValue(content);
    const { opened, reader } = this;
    return writeRecord(sessionId, { opened, reader }, (record, now) => {
      const after = enqueuedRecord(record, itemId, this.maxInboxItems, now);
      if (after === undefined) return { answer: false };
      const item = { id: itemId, position: record.inbox?.next ?? 0, json: itemJson(itemId, json, now) };
      return { after, change: { enqueue: item }, answer: true, ifDuplicate: false };
    });
  }

  async exists(sessionId: string): Promise<boolean> {
    return (await this.reader.record(sessionId)) !== undefined;
  }

  async delete(sessionId: string, options: DeleteOptions = {}): Promise<boolean> {
    const { revision } = checkDeleteOptions(options);
    return retryWhileOutdated(sessionId, async () => {
      const record = await this.reader.record(sessionId);
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
