import type { SessionInspection, SessionSizes } from '../session-inspection.ts';
import type { BackendReader } from './backend/backend-reader.ts';
import { leaseClaimOf } from './record/claim-record.ts';
import { waitingItemCount } from './record/inbox-cursor.ts';
import { bytesOf } from '../../json.ts';
import type { SessionContent } from './content/session-content.ts';
import { listedSession, recordDueAt } from './record/session-record.ts';
import { retryWhileOutdated } from './backend/write-record.ts';
import { SessionNotFoundError } from '../session-errors.ts';
import type { InboxPage } from '../session-claim.ts';
import type { StoredSession } from './backend/session-backend.ts';

/** Reads what the store holds about a session, and changes nothing. @throws SessionNotFoundError */
export async function inspectSession(
  reader: BackendReader,
  sessionId: string,
  owner: string | undefined,
): Promise<SessionInspection> {
  return retryWhileOutdated(sessionId, async () => {
    const stored = await reader.stored(sessionId, owner);
    if (stored === undefined) throw new SessionNotFoundError(sessionId);
    const inbox = await reader.inbox(stored.record);
    // An item that was used or removed meanwhile is not unreadable.
    const isCurrent = inbox.unreadable.length === 0 || (await reader.isCurrent(stored.record));
    return isCurrent ? { answer: inspectionOf(stored, inbox) } : undefined;
  });
}

function inspectionOf({ record, content }: StoredSession, inbox: InboxPage): SessionInspection {
  return Object.freeze({
    info: listedSession(record),
    incarnation: record.incarnation,
    claim: leaseClaimOf(record),
    attempt: record.attempt,
    dueAt: recordDueAt(record),
    expiresAt: record.expiresAt,
    waitingItems: waitingItemCount(record.inbox),
    inbox,
    sizes: sizesOf(content),
  });
}

function sizesOf({ head, values, lists }: SessionContent): SessionSizes {
  const sizes = [...lists].map(([name, texts]) => ({ name, length: texts.length, bytes: sumOfBytes(texts) }));
  const headBytes = bytesOf(head);
  const valueBytes = sumOfBytes([...values.values()]);
  const totalBytes = sizes.reduce((sum, { bytes }) => sum + bytes, headBytes + valueBytes);
  return Object.freeze({ totalBytes, headBytes, valueBytes, lists: Object.freeze(sizes) });
}

function sumOfBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + bytesOf(text), 0);
}
