import { bytesOf } from '../../json.ts';
import { SessionNotFoundError } from '../session-errors.ts';
import type { InboxPage } from '../session-claim.ts';
import type { SessionInspection, SessionSizes } from '../session-inspection.ts';
import type { BackendReader } from './backend/backend-reader.ts';
import { retryWhileOutdated } from './backend/write-record.ts';
import { readHead } from './content/saved-head.ts';
import { readStored, type SessionContent } from './content/session-content.ts';
import { leaseClaimOf } from './record/claim-record.ts';
import { waitingItemCount } from './record/inbox-cursor.ts';
import { listedSession, recordDueAt, type SessionRecord } from './record/session-record.ts';

/**
 * Reads what the store holds about a session beside its content, and changes nothing. The head of the content has the sizes.
 * @throws SessionNotFoundError
 */
export async function inspectSession(
  reader: BackendReader,
  sessionId: string,
  owner: string | undefined,
): Promise<SessionInspection> {
  return retryWhileOutdated(sessionId, async () => {
    const measured = await measuredSession(reader, sessionId, owner);
    if (measured === undefined) throw new SessionNotFoundError(sessionId);
    const { record, sizes } = measured;
    const inbox = await reader.inbox(record);
    // An item that was used or removed meanwhile is not unreadable.
    const isCurrent = inbox.unreadable.length === 0 || (await reader.isCurrent(record));
    return isCurrent ? { answer: inspectionOf(record, sizes, inbox) } : undefined;
  });
}

function inspectionOf(record: SessionRecord, sizes: SessionSizes, inbox: InboxPage): SessionInspection {
  return Object.freeze({
    info: listedSession(record),
    incarnation: record.incarnation,
    claim: leaseClaimOf(record),
    attempt: record.attempt,
    dueAt: recordDueAt(record),
    expiresAt: record.expiresAt,
    waitingItems: waitingItemCount(record.inbox),
    inbox,
    sizes,
  });
}

interface MeasuredSession {
  readonly record: SessionRecord;
  readonly sizes: SessionSizes;
}

async function measuredSession(
  reader: BackendReader,
  sessionId: string,
  owner: string | undefined,
): Promise<MeasuredSession | undefined> {
  const found = await reader.head(sessionId, owner);
  const { head } = found?.content ?? {};
  const where = `session ${JSON.stringify(sessionId)}`;
  const sizes =
    head === undefined
      ? undefined
      : readStored(where, 'a head that this release can read', () => sizesIn(head));
  if (found === undefined || sizes) return found && sizes && { record: found.record, sizes };
  const stored = await reader.stored(sessionId, owner);
  return stored && { record: stored.record, sizes: measuredSizes(stored.content) };
}

/** Returns the sizes that a head has; `undefined` for the head of a release that did not count them. */
function sizesIn(text: string): SessionSizes | undefined {
  const { values, lists } = readHead(text);
  const valueMarks = [...values.values()].filter((mark) => mark !== undefined);
  const sizes = [...lists].flatMap(([name, { length, mark }]) =>
    mark ? [{ name, length, bytes: mark.bytes }] : [],
  );
  if (valueMarks.length < values.size || sizes.length < lists.size) return undefined;
  return sizesOf(
    text,
    valueMarks.reduce((sum, { bytes }) => sum + bytes, 0),
    sizes,
  );
}

function measuredSizes({ head, values, lists }: SessionContent): SessionSizes {
  const sizes = [...lists].map(([name, texts]) => ({ name, length: texts.length, bytes: sumOfBytes(texts) }));
  return sizesOf(head, sumOfBytes([...values.values()]), sizes);
}

function sizesOf(head: string, valueBytes: number, lists: SessionSizes['lists']): SessionSizes {
  const headBytes = bytesOf(head);
  const totalBytes = lists.reduce((sum, { bytes }) => sum + bytes, headBytes + valueBytes);
  return Object.freeze({ totalBytes, headBytes, valueBytes, lists: Object.freeze(lists) });
}

function sumOfBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + bytesOf(text), 0);
}
