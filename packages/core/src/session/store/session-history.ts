import { DocumentReader } from '../../document.ts';
import { StateFormatError } from '../../errors.ts';
import { executionSummary, readExecutionSummary } from '../execution-summary.ts';
import { SessionNotFoundError } from '../session-errors.ts';
import type { AgentSession, EndedExecution } from '../session.ts';
import type {
  ExecutionPage,
  ExecutionQuery,
  RevisionPage,
  RevisionQuery,
  UnreadableRow,
} from '../session-pages.ts';
import type { BackendReader } from './backend/backend-reader.ts';
import {
  lastRevision,
  readRevision,
  revisionChange,
  REVISIONS,
  type SavedParts,
} from './backend/kept-revisions.ts';
import type { OpenBackend } from './backend/open-backend.ts';
import { restoreSession } from './content/restore-session.ts';
import type { ArchiveChange, StoredItem } from './backend/session-backend.ts';
import { applySavePlan, parsePart } from './content/session-content.ts';
import type { SessionRecord } from './record/session-record.ts';
import { DEFAULT_LIMIT, invalidCursor } from './backend/session-query.ts';

/** The archive with one entry for each ended execution, at the position of its index in the session. */
const EXECUTIONS = 'executions';

function endedExecutionChange(ended: readonly EndedExecution[]): ArchiveChange | undefined {
  if (ended.length === 0) return undefined;
  const put = ended.map(({ index, summary }) => ({ position: index, json: JSON.stringify(summary) }));
  return { archive: EXECUTIONS, put };
}

/** The parts of a save that the archives of its session need. */
interface SaveParts extends Pick<SavedParts, 'plan' | 'base' | 'checkpoint' | 'epoch'> {
  readonly ended?: readonly EndedExecution[] | undefined;
}

/** Writes and reads the earlier executions and revisions of a session. */
export class SessionHistory {
  private readonly opened: OpenBackend;
  private readonly reader: BackendReader;
  private readonly keptRevisions: number;

  constructor(opened: OpenBackend, reader: BackendReader, keptRevisions = 0) {
    this.opened = opened;
    this.reader = reader;
    this.keptRevisions = keptRevisions;
  }

  /** Returns the changes of the archives by a save, and the oldest version that can be loaded after it. */
  changesBy(
    next: AgentSession,
    before: SessionRecord | undefined,
    { ended = [], ...parts }: SaveParts,
  ): { readonly archives: readonly ArchiveChange[]; readonly firstRevision: number | undefined } {
    const { keptRevisions } = this;
    const { maxValueBytes } = this.opened.capabilities;
    const { archive, firstRevision } = revisionChange(next, before, {
      ...parts,
      keptRevisions,
      maxValueBytes,
    });
    const changes = [endedExecutionChange(ended), archive];
    return { archives: changes.filter((change) => change !== undefined), firstRevision };
  }

  async executions(sessionId: string, query: ExecutionQuery): Promise<ExecutionPage> {
    const { limit = DEFAULT_LIMIT, base, owner, cursor } = query;
    const position = positionIn(cursor);
    if (position !== undefined) {
      const record = await this.reader.recordOrThrow(sessionId, owner);
      return this.endedExecutions(record, Math.min(position, record.info.totals.executions), limit);
    }
    const { record, session } = (await this.reader.read(sessionId, { base, owner })) ?? {};
    if (record === undefined || session === undefined) throw new SessionNotFoundError(sessionId);
    const { executions: count } = record.info.totals;
    const last = executionSummary(session.state);
    if (last === undefined) return this.endedExecutions(record, count, limit);
    const page = await this.endedExecutions(record, count - 1, limit - 1);
    return { ...page, executions: [last, ...page.executions] };
  }

  /** Returns a page of the ended executions before an index, newest first. */
  private async endedExecutions(record: SessionRecord, to: number, limit: number): Promise<ExecutionPage> {
    const from = Math.max(0, to - limit);
    const entries = await this.entries(record, EXECUTIONS, from, to);
    const { rows: executions, unreadable } = readRows(entries.toReversed(), (text) =>
      DocumentReader.read(parsePart(text, 'an execution'), readExecutionSummary),
    );
    return { executions, unreadable, cursor: from > 0 ? String(from) : undefined };
  }

  async revisions(
    sessionId: string,
    { limit = DEFAULT_LIMIT, owner, cursor }: RevisionQuery,
  ): Promise<RevisionPage> {
    const record = await this.reader.recordOrThrow(sessionId, owner);
    const { firstRevision, info } = record;
    if (firstRevision === undefined)
      return { revisions: [lastRevision(record)], unreadable: [], cursor: undefined };
    const to = Math.min(positionIn(cursor) ?? Infinity, info.version + 1);
    const from = Math.max(firstRevision, to - limit);
    const entries = await this.entries(record, REVISIONS, from, to);
    const { rows, unreadable } = readRows(entries.toReversed(), readRevision);
    return {
      revisions: rows.map(({ shown }) => shown),
      unreadable,
      cursor: from > firstRevision ? String(from) : undefined,
    };
  }

  /**
   * Returns the session as it was at a version: the content of now, with the later saves undone one after the other. It
   * costs as much as what they replaced.
   */
  async loadRevision(
    sessionId: string,
    version: number,
    owner: string | undefined,
  ): Promise<AgentSession | undefined> {
    const stored = await this.reader.stored(sessionId, owner);
    if (stored === undefined) return undefined;
    const { record, content } = stored;
    if (version === record.info.version) return restoreSession(content, record.info, record.incarnation);
    const isKept = version >= (record.firstRevision ?? Infinity) && version < record.info.version;
    if (!isKept) return undefined;
    const entries = await this.entries(record, REVISIONS, version, record.info.version + 1);
    const later = entries.map(({ json }) => readRevision(json));
    const [at, ...undone] = later;
    if (at?.shown.version !== version || later.length !== record.info.version + 1 - version) return undefined;
    let earlier = content;
    for (const { undo } of undone.toReversed()) {
      if (undo === undefined) return undefined;
      earlier = applySavePlan(earlier, undo);
    }
    return restoreSession(earlier, at.info, record.incarnation);
  }

  private async entries(
    { info, incarnation }: SessionRecord,
    archive: string,
    from: number,
    to: number,
  ): Promise<readonly StoredItem[]> {
    if (to <= from) return [];
    const range = { from, to, limit: to - from };
    return this.opened.backend.readArchive(info.sessionId, incarnation, archive, range);
  }
}

/** Reads the entries of a page. An unreadable entry must not end the page. */
function readRows<T>(
  entries: readonly StoredItem[],
  read: (text: string) => T,
): { readonly rows: readonly T[]; readonly unreadable: readonly UnreadableRow[] } {
  const rows: T[] = [];
  const unreadable: UnreadableRow[] = [];
  for (const { position, json } of entries) {
    try {
      rows.push(read(json));
    } catch (error) {
      if (!(error instanceof StateFormatError)) throw error;
      unreadable.push({ position, error });
    }
  }
  return { rows, unreadable };
}

/** The position that a cursor names; `undefined` without a cursor. */
function positionIn(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const position = Number(cursor);
  if (/^\d{1,15}$/.test(cursor) && Number.isSafeInteger(position)) return position;
  throw invalidCursor(cursor);
}
