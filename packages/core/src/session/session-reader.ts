import { describeValue, hasErrorCode, StateFormatError } from '../errors.ts';
import { SessionId } from '../state/ids.ts';
import type { OpenBackend } from './open-backend.ts';
import { restoreSession } from './save-plan.ts';
import type { AgentSession } from './session.ts';
import type { StoredSession } from './session-backend.ts';
import { SessionNotFoundError } from './session-errors.ts';
import type { SessionRecord } from './session-record.ts';
import { isExpired } from './session-record.ts';
import type { InboxItem } from './session-store.ts';

/** Reads what a backend has kept. What has expired is not there. */
export class SessionReader {
  private readonly opened: OpenBackend;
  /** The record that went with a session as it was answered: who saves it next need not ask for it. */
  private readonly records = new WeakMap<AgentSession, SessionRecord>();

  constructor(opened: OpenBackend) {
    this.opened = opened;
  }

  async record(sessionId: string): Promise<SessionRecord | undefined> {
    const { backend } = this.opened;
    const record = SessionId.is(sessionId) ? await backend.read(sessionId) : undefined;
    return record && isExpired(record, await this.opened.now()) ? undefined : record;
  }

  async stored(sessionId: string): Promise<StoredSession | undefined> {
    const { backend } = this.opened;
    const stored = SessionId.is(sessionId) ? await backend.readAll(sessionId) : undefined;
    return stored && isExpired(stored.record, await this.opened.now()) ? undefined : stored;
  }

  async itemsOf({ info, incarnation, inbox }: SessionRecord): Promise<ReadonlyMap<string, string>> {
    return inbox ? this.opened.backend.readItems(info.sessionId, incarnation, inbox.ids) : new Map();
  }

  /**
   * What was read, with the record and the inbox as they are now; `undefined` when the content is another one since. A
   * long session takes its time to read: who waits for it to stand still must not have to do that for each new item.
   */
  async again({ record: before, saved }: StoredSession): Promise<StoredSession | undefined> {
    const { info, incarnation } = before;
    const record = await this.record(info.sessionId);
    if (record?.incarnation !== incarnation || record.info.version !== info.version) return undefined;
    const inbox = await this.itemsOf(record);
    const isWhole = (record.inbox?.ids ?? []).every((id) => inbox.has(id));
    return isWhole ? { record, saved, inbox } : undefined;
  }

  async load(sessionId: string): Promise<AgentSession | undefined> {
    const stored = await this.stored(sessionId);
    return stored && this.session(stored, stored.record);
  }

  /** @throws SessionNotFoundError */
  async loaded(sessionId: string): Promise<AgentSession> {
    const session = await this.load(sessionId);
    if (session === undefined) throw new SessionNotFoundError(sessionId);
    return session;
  }

  /** The session in its parts; `now` is the record that goes with it from here on. @throws StateFormatError */
  session({ saved, record }: StoredSession, now: SessionRecord): AgentSession {
    const { info, incarnation } = record;
    return naming(info.sessionId, () => {
      const session = restoreSession(saved, { incarnation, version: info.version }, info.updatedAt);
      if (session.sessionId === info.sessionId) return this.remembered(session, now);
      const found = `that of session ${JSON.stringify(session.sessionId)}`;
      throw new StateFormatError('the head', 'that of this session', found);
    });
  }

  /** The record that went with a session, which may be out of date. */
  recordOf(session: AgentSession): SessionRecord | undefined {
    return this.records.get(session);
  }

  /** The same session, with its record noted. */
  remembered(session: AgentSession, record: SessionRecord): AgentSession {
    this.records.set(session, record);
    return session;
  }
}

/** Reads what was kept of a session; what cannot be read is told with the session's id. */
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

/** The items in the order in which they came. @throws StateFormatError when one cannot be read. */
export function inboxOf({ record, inbox }: Pick<StoredSession, 'record' | 'inbox'>): readonly InboxItem[] {
  return naming(record.info.sessionId, () => {
    return Object.freeze((record.inbox?.ids ?? []).map((id) => itemOf(id, inbox.get(id))));
  });
}

function itemOf(id: string, text: string | undefined): InboxItem {
  const where = `the inbox item ${JSON.stringify(id)}`;
  if (text === undefined) throw new StateFormatError(where, 'an item that is there', 'nothing');
  try {
    return JSON.parse(text) as InboxItem;
  } catch (cause) {
    throw new StateFormatError(where, 'JSON', describeValue(text), { cause });
  }
}
