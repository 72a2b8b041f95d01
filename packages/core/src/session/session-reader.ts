import { hasErrorCode, StateFormatError } from '../errors.ts';
import { SessionId } from '../state/ids.ts';
import { isItemWaiting, waitingItems } from './inbox-cursor.ts';
import { INBOX_PAGE, isReadable, isUnreadable, missingItem, readItem } from './inbox-items.ts';
import type { OpenBackend } from './open-backend.ts';
import { restoreSession } from './save-plan.ts';
import type { AgentSession } from './session.ts';
import type { StoredItem, StoredSession } from './session-backend.ts';
import { SessionNotFoundError } from './session-errors.ts';
import type { SessionRecord } from './session-record.ts';
import { hasSameContent, isExpired } from './session-record.ts';
import type { InboxPage } from './session-store.ts';

const EMPTY: InboxPage = Object.freeze({ inbox: Object.freeze([]), unreadable: Object.freeze([]) });

/** Reads sessions from a backend. An expired session behaves as if it did not exist. */
export class SessionReader {
  private readonly opened: OpenBackend;
  /** The record that the store answered a session with: the next write need not read it. */
  private readonly records = new WeakMap<AgentSession, SessionRecord>();

  constructor(opened: OpenBackend) {
    this.opened = opened;
  }

  async record(sessionId: string): Promise<SessionRecord | undefined> {
    const { backend } = this.opened;
    const record = SessionId.is(sessionId) ? await backend.read(sessionId) : undefined;
    return record && isExpired(record, await this.opened.now()) ? undefined : record;
  }

  /** The session as it is now: `base` where the store still has its content. @throws StateFormatError */
  async load(sessionId: string, base?: AgentSession): Promise<AgentSession | undefined> {
    const known = this.knownAs(sessionId, base);
    const record = known && (await this.record(sessionId));
    if (base && known && record && hasSameContent(known, record)) return this.remembered(base, record);
    const { backend } = this.opened;
    const stored = SessionId.is(sessionId) ? await backend.readAll(sessionId) : undefined;
    const isThere = stored && !isExpired(stored.record, await this.opened.now());
    return isThere ? this.session(stored) : undefined;
  }

  /** @throws SessionNotFoundError */
  async loaded(sessionId: string): Promise<AgentSession> {
    const session = await this.load(sessionId);
    if (session === undefined) throw new SessionNotFoundError(sessionId);
    return session;
  }

  /**
   * The session that belongs to a record: `base` where it has that content, else as the backend has it; `undefined` when
   * the content has changed since the record was read. @throws StateFormatError
   */
  async contentOf(record: SessionRecord, base: AgentSession | undefined): Promise<AgentSession | undefined> {
    const { sessionId } = record.info;
    const known = this.knownAs(sessionId, base);
    if (base && known && hasSameContent(known, record)) return base;
    const stored = await this.opened.backend.readAll(sessionId);
    return stored && hasSameContent(stored.record, record) ? this.session(stored) : undefined;
  }

  /** The items of the inbox behind a position that wait, at most a page of them. */
  async inbox({ info, incarnation, inbox }: SessionRecord, after = -1): Promise<InboxPage> {
    if (inbox === undefined || after >= inbox.next - 1 || waitingItems(inbox) === 0) return EMPTY;
    const found = new Map<number, StoredItem>();
    const { next: to } = inbox;
    let from = Math.max(inbox.first, after + 1);
    // A backend may answer items that were used: then a page of it holds fewer of those that wait.
    while (found.size < INBOX_PAGE && from < to) {
      const range = { from, to, limit: INBOX_PAGE };
      const items = await this.opened.backend.readInbox(info.sessionId, incarnation, range);
      for (const item of items) if (isItemWaiting(inbox, item.position)) found.set(item.position, item);
      from = items.length < INBOX_PAGE ? to : (items.at(-1) as StoredItem).position + 1;
    }
    const positions = Array.from({ length: from - inbox.first }, (_, index) => inbox.first + index);
    const waiting = positions.filter((position) => position > after && isItemWaiting(inbox, position));
    const page = waiting.slice(0, INBOX_PAGE).map((position) => {
      const item = found.get(position);
      return item ? readItem(item) : missingItem(position);
    });
    return { inbox: page.filter(isReadable), unreadable: page.filter(isUnreadable) };
  }

  /** The record that the store answered a session with. It may be out of date. */
  recordOf(session: AgentSession): SessionRecord | undefined {
    return this.records.get(session);
  }

  /** The same session, with its record noted. */
  remembered(session: AgentSession, record: SessionRecord): AgentSession {
    this.records.set(session, record);
    return session;
  }

  private knownAs(sessionId: string, base: AgentSession | undefined): SessionRecord | undefined {
    return base?.sessionId === sessionId ? this.recordOf(base) : undefined;
  }

  private session({ saved, record }: StoredSession): AgentSession {
    const { info, incarnation } = record;
    return naming(info.sessionId, () => {
      const session = restoreSession(saved, info, incarnation);
      return this.remembered(session, record);
    });
  }
}

/** Adds the id of the session to the error of a part that cannot be read. */
function naming<T>(sessionId: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StateFormatError)) throw error;
    const where = `session ${JSON.stringify(sessionId)}`;
    const code = hasErrorCode(error, 'STATE_VERSION') ? 'STATE_VERSION' : 'STATE_FORMAT';
    const expected = 'parts that this release can read';
    throw new StateFormatError(where, expected, error.message, { code, cause: error });
  }
}
