import { SessionId } from '../../../state/values/ids.ts';
import { isItemWaiting, waitingPositions } from '../record/inbox-cursor.ts';
import { INBOX_PAGE, isReadable, isUnreadable, readItem } from '../record/inbox-items.ts';
import type { OpenBackend } from './open-backend.ts';
import { knownContentOf, type ReadContent } from '../content/known-content.ts';
import { restoreWithBase } from '../content/restore-session.ts';
import { applySavePlan, readStored } from '../content/session-content.ts';
import type { AgentSession } from '../../session.ts';
import type {
  ReadExtent,
  ReadRequest,
  ReadSession,
  SessionBackend,
  StoredSession,
} from './session-backend.ts';
import { isUnreadableError, SessionNotFoundError } from '../../session-errors.ts';
import {
  hasSameContent,
  isExpired,
  isOwnedBy,
  recordName,
  type SessionRecord,
} from '../record/session-record.ts';
import type { InboxItemRef, InboxPage, LoadOptions } from '../../session-claim.ts';
import { check, checkSessionId } from './store-arguments.ts';

const EMPTY: InboxPage = Object.freeze({ inbox: Object.freeze([]), unreadable: Object.freeze([]) });
const NO_IDS: ReadonlyMap<number, string> = new Map();

/** A record, and its session unless the caller cannot use it. */
interface RecordedSession {
  readonly record: SessionRecord;
  readonly session: AgentSession | undefined;
}

/** Reads sessions from a backend. An expired session behaves as if it did not exist. */
export class BackendReader {
  readonly opened: OpenBackend;
  /** The record with which the store returned a session: the next write need not read it. */
  private readonly records = new WeakMap<AgentSession, SessionRecord>();
  /**
   * The incarnation of the session with which the store returned an item: the id and the position of the item belong
   * together.
   */
  private readonly items = new WeakMap<InboxItemRef, string>();

  constructor(opened: OpenBackend) {
    this.opened = opened;
  }

  /** Returns the record of a session; `undefined` when it is the session of another owner than the one given. */
  async record(sessionId: string, owner?: string): Promise<SessionRecord | undefined> {
    const found = await this.find(sessionId, owner, async (backend) => {
      const record = await backend.readRecord(sessionId);
      return record && { record };
    });
    return found?.record;
  }

  /** @throws SessionNotFoundError */
  async recordOrThrow(sessionId: string, owner: string | undefined): Promise<SessionRecord> {
    const record = await this.record(sessionId, owner);
    if (record === undefined) throw new SessionNotFoundError(sessionId);
    return record;
  }

  /** True when the store still has the same record. */
  async isCurrent(record: SessionRecord): Promise<boolean> {
    const current = await this.opened.backend.readRecord(record.info.sessionId);
    return current !== undefined && recordName(current) === recordName(record);
  }

  /** Returns a session with all of its content; `undefined` when it is the session of another owner than the one given. */
  async stored(sessionId: string, owner: string | undefined): Promise<StoredSession | undefined> {
    const found = await this.found(sessionId, owner, { extent: () => 'content' });
    const { record, content } = found ?? {};
    return record && content && { record, content: applySavePlan(undefined, { isWhole: true, ...content }) };
  }

  /** Returns the record and the head of a session; `undefined` when it is the session of another owner than the one given. */
  head(sessionId: string, owner: string | undefined): Promise<ReadSession | undefined> {
    return this.found(sessionId, owner, { extent: () => 'head', isRecordFirst: true });
  }

  /**
   * Returns the current session: `base` when the store still has its content.
   * @throws StateFormatError for unreadable content; RangeError or TypeError `ARGUMENT_INVALID` for an invalid
   * argument.
   */
  async load(sessionId: string, options: LoadOptions = {}): Promise<AgentSession | undefined> {
    checkSessionId(sessionId);
    return (await this.read(sessionId, check.load(options)))?.session;
  }

  /**
   * Returns a record and its session: `base` when the record has its content, else the content in the backend, of which it
   * reads what the base does not have. Reads no content when `isUsable` returns false for the record: then the session is
   * `undefined`. As `stored` in all else.
   */
  async read(
    sessionId: string,
    { base, owner }: LoadOptions,
    isUsable?: (record: SessionRecord) => boolean,
  ): Promise<RecordedSession | undefined> {
    const recorded = this.knownAs(sessionId, base);
    const isKnown = (record: SessionRecord): boolean =>
      recorded !== undefined && hasSameContent(recorded, record);
    const extent = (record: SessionRecord): ReadExtent =>
      !isKnown(record) && (isUsable?.(record) ?? true) ? 'content' : 'record';
    const isRecordFirst = recorded !== undefined || isUsable !== undefined;
    const marked = base && recorded && knownContentOf(base);
    const known = marked && { ...marked, record: recorded };
    const found = await this.found(sessionId, owner, { extent, known, isRecordFirst });
    if (found === undefined) return undefined;
    const { record, content } = found;
    if (base && isKnown(record)) return { record, session: this.remember(base, record) };
    if (content === undefined || extent(record) === 'record') return { record, session: undefined };
    const session = this.session(record, content, known && base);
    // The base has other parts than the store.
    return session ? { record, session } : this.read(sessionId, { owner }, isUsable);
  }

  private found(
    sessionId: string,
    owner: string | undefined,
    request: ReadRequest,
  ): Promise<ReadSession | undefined> {
    const extent = (record: SessionRecord): ReadExtent =>
      isOwnedBy(record, owner) ? request.extent(record) : 'record';
    return this.find(sessionId, owner, (backend) => backend.readSession(sessionId, { ...request, extent }));
  }

  /** Reads a session. The session of another owner does not exist, even if it is unreadable. */
  private async find<T extends Pick<ReadSession, 'record'>>(
    sessionId: string,
    owner: string | undefined,
    read: (backend: SessionBackend) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { backend } = this.opened;
    if (!SessionId.is(sessionId)) return undefined;
    let found: T | undefined;
    try {
      found = await read(backend);
    } catch (error) {
      const isHidden = owner !== undefined && isUnreadableError(error);
      if (isHidden && (await backend.isOwnedBy?.(sessionId, owner)) !== true) return undefined;
      throw error;
    }
    if (found === undefined || !isOwnedBy(found.record, owner)) return undefined;
    return isExpired(found.record, await this.opened.now()) ? undefined : found;
  }

  /** @throws SessionNotFoundError */
  async loadOrThrow(sessionId: string, owner: string | undefined): Promise<AgentSession> {
    const session = await this.load(sessionId, { owner });
    if (session === undefined) throw new SessionNotFoundError(sessionId);
    return session;
  }

  /** Returns the items that wait behind a position, at most a page of them. */
  async inbox(record: SessionRecord, after = -1): Promise<InboxPage> {
    const positions = record.inbox ? waitingPositions(record.inbox, after, INBOX_PAGE) : [];
    if (positions.length === 0) return EMPTY;
    const { info, incarnation } = record;
    const texts = await this.itemTexts(info.sessionId, incarnation, positions);
    const items = positions.map((position) => readItem(position, texts.get(position)));
    const inbox = items.filter(isReadable);
    for (const item of inbox) this.items.set(item, incarnation);
    return { inbox, unreadable: items.filter(isUnreadable) };
  }

  /**
   * Returns the ids of the items at the positions of references that this store did not return itself. Unreadable items
   * are omitted. A used item may be among them.
   */
  async otherItemIds(
    { sessionId, revision: { incarnation } }: AgentSession,
    refs: readonly InboxItemRef[],
  ): Promise<ReadonlyMap<number, string>> {
    const others = refs.filter((ref) => this.items.get(ref) !== incarnation);
    if (others.length === 0) return NO_IDS;
    const positions = others.map(({ position }) => position).toSorted((left, right) => left - right);
    const texts = await this.itemTexts(sessionId, incarnation, positions);
    const items = positions.map((position) => readItem(position, texts.get(position)));
    return new Map(items.filter(isReadable).map(({ id, position }) => [position, id]));
  }

  /** Returns the position of the item with an id; `undefined` when the inbox holds no such item. It may be used meanwhile. */
  positionOf({ info, incarnation }: SessionRecord, itemId: string): Promise<number | undefined> {
    return this.opened.backend.readPosition(info.sessionId, incarnation, itemId);
  }

  /** Returns true when an item with this id waits, or was enqueued since the record was read. */
  async hasItem(record: SessionRecord, itemId: string): Promise<boolean> {
    const { inbox } = record;
    const position = await this.positionOf(record, itemId);
    if (position === undefined || inbox === undefined) return false;
    return position >= inbox.next || isItemWaiting(inbox, position);
  }

  /**
   * Returns the texts of the items at these positions. A backend may return used items between them; the reader then
   * reads more than one page.
   */
  private async itemTexts(
    sessionId: string,
    incarnation: string,
    positions: readonly number[],
  ): Promise<ReadonlyMap<number, string>> {
    const texts = new Map<number, string>();
    const to = (positions.at(-1) ?? -1) + 1;
    let [from = to] = positions;
    while (from < to) {
      const range = { from, to, limit: INBOX_PAGE };
      const items = await this.opened.backend.readInbox(sessionId, incarnation, range);
      for (const { position, json } of items) texts.set(position, json);
      const last = items.length < INBOX_PAGE ? undefined : items.at(-1);
      from = last ? Math.max(from, last.position) + 1 : to;
    }
    return texts;
  }

  /** Returns the record with which the store returned a session. It may be out of date. */
  recordOf(session: AgentSession): SessionRecord | undefined {
    return this.records.get(session);
  }

  /** Returns the record with which the store returned a base of this session. It may be out of date. */
  knownAs(sessionId: string, base: AgentSession | undefined): SessionRecord | undefined {
    return base?.sessionId === sessionId ? this.recordOf(base) : undefined;
  }

  /** Remembers the record of a session whose claim was renewed, if the session still has that content. */
  rememberRenewed(session: AgentSession, record: SessionRecord): void {
    const known = this.knownAs(record.info.sessionId, session);
    if (known && hasSameContent(known, record)) this.remember(session, record);
  }

  remember(session: AgentSession, record: SessionRecord): AgentSession {
    this.records.set(session, record);
    return session;
  }

  /** Returns the session of what was read; `undefined` when the base has other parts than the store. */
  private session(
    record: SessionRecord,
    content: ReadContent,
    base: AgentSession | undefined,
  ): AgentSession | undefined {
    const where = `session ${JSON.stringify(record.info.sessionId)}`;
    const session = readStored(where, 'parts that this release can read', () =>
      restoreWithBase(content, record, base),
    );
    return session && this.remember(session, record);
  }
}
