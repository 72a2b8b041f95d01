import { describeValue, invalidArgument } from '../../errors.ts';
import { DocumentReader } from '../../document.ts';
import type { ExecutionSummary } from '../execution-summary.ts';
import { executionSummary, readExecutionSummary } from '../execution-summary.ts';
import type { AgentSession } from '../session.ts';
import { SessionNotFoundError } from '../session-errors.ts';
import type { OwnerOptions } from '../session-claim.ts';
import type { ExecutionPage, ExecutionQuery, RevisionPage, RevisionQuery } from '../session-pages.ts';
import type { BackendReader } from './backend-reader.ts';
import { lastRevision, readRevision, REVISIONS } from './content/kept-revisions.ts';
import type { OpenBackend } from './open-backend.ts';
import { restoreSession } from './content/save-plan.ts';
import type { ArchiveChange } from './session-backend.ts';
import { applySavePlan, parsePart } from './content/session-content.ts';
import type { SessionRecord } from './record/session-record.ts';

/** The archive with one entry for each ended execution, at the position of its index in the session. */
const EXECUTIONS = 'executions';
const DEFAULT_LIMIT = 50;

/** The entries for the executions that ended since the last save. */
export function endedExecutionChange({ endedExecutions }: AgentSession): ArchiveChange | undefined {
  if (endedExecutions.length === 0) return undefined;
  const put = endedExecutions.map(({ index, summary }) => ({
    position: index,
    json: JSON.stringify(summary),
  }));
  return { archive: EXECUTIONS, put };
}

/** Reads what a session did before: its executions, and its earlier revisions. */
export class SessionHistory {
  private readonly opened: OpenBackend;
  private readonly reader: BackendReader;

  constructor(opened: OpenBackend, reader: BackendReader) {
    this.opened = opened;
    this.reader = reader;
  }

  async executions(sessionId: string, query: ExecutionQuery): Promise<ExecutionPage> {
    const { limit = DEFAULT_LIMIT, base, owner, cursor } = query;
    const record = await this.reader.recordOrThrow(sessionId, owner);
    let last: ExecutionSummary | undefined;
    let to = positionIn(cursor);
    if (to === undefined) {
      const session = await this.reader.load(sessionId, { base, owner });
      if (session === undefined) throw new SessionNotFoundError(sessionId);
      last = executionSummary(session.state);
      to = session.totals.executions - (last ? 1 : 0);
    } else to = Math.min(to, record.info.totals.executions);
    const count = limit - (last ? 1 : 0);
    const from = Math.max(0, to - count);
    const texts = await this.entries(record, EXECUTIONS, from, to);
    const executions = [...texts]
      .toReversed()
      .map((text) => DocumentReader.read(parsePart(text, 'an execution'), readExecutionSummary));
    return {
      executions: last ? [last, ...executions] : executions,
      cursor: from > 0 ? String(from) : undefined,
    };
  }

  async revisions(
    sessionId: string,
    { limit = DEFAULT_LIMIT, owner, cursor }: RevisionQuery,
  ): Promise<RevisionPage> {
    const record = await this.reader.recordOrThrow(sessionId, owner);
    const { firstRevision, info } = record;
    if (firstRevision === undefined) return { revisions: [lastRevision(record)], cursor: undefined };
    const to = Math.min(positionIn(cursor) ?? Infinity, info.version + 1);
    const from = Math.max(firstRevision, to - limit);
    const found = (await this.entries(record, REVISIONS, from, to)).map(readRevision);
    return {
      revisions: found.toReversed().map(({ shown }) => shown),
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
    { owner }: OwnerOptions,
  ): Promise<AgentSession | undefined> {
    const stored = await this.reader.stored(sessionId, owner);
    if (stored === undefined) return undefined;
    const { record, content } = stored;
    if (version === record.info.version) return restoreSession(content, record.info, record.incarnation);
    const isKept = version >= (record.firstRevision ?? Infinity) && version < record.info.version;
    if (!isKept) return undefined;
    const later = (await this.entries(record, REVISIONS, version, record.info.version + 1)).map(readRevision);
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
  ): Promise<readonly string[]> {
    if (to <= from) return [];
    const range = { from, to, limit: to - from };
    const items = await this.opened.backend.readArchive(info.sessionId, incarnation, archive, range);
    return items.map(({ json }) => json);
  }
}

/** The position that a cursor names; `undefined` without a cursor. */
function positionIn(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const position = Number(cursor);
  if (/^\d{1,15}$/.test(cursor) && Number.isSafeInteger(position)) return position;
  throw invalidArgument(`The cursor must be one that the store returned, found ${describeValue(cursor)}.`);
}
