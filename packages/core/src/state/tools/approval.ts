import type { Instant } from '../../clock.ts';
import {
  readCount,
  readInstant,
  readOneOf,
  readString,
  shapeReader,
  since,
  type Read,
} from '../../document.ts';
import { addCounts } from '../values/amounts.ts';

/** A person's permission for one tool call. It has no decision while it is pending. */
export interface Approval {
  /** When the approval was requested. A later request of the same call always has a later instant. */
  readonly requestedAt: Instant;
  /** The number of this request among the requests of the call, from 2; absent for the first request. */
  readonly requestNumber?: number;
  readonly decision?: ApprovalDecision;
}

/** The decision on a call. It is final. */
export interface ApprovalDecision {
  readonly type: 'approved' | 'denied';
  readonly at: Instant;
  /** The person who decided, in the application's terms. */
  readonly by?: string;
  /** The reason, which the model reads. */
  readonly reason?: string;
}

export const readDecision: Read<ApprovalDecision> = shapeReader({
  type: readOneOf(['approved', 'denied']),
  at: readInstant,
  'by?': readString,
  'reason?': readString,
});

const readLaterRequest: Read<number> = since(2, (reader, value) => {
  const number = readCount(reader, value);
  return number > 1 ? number : reader.fail('a number above 1, or an omitted member', value);
});

export const readApproval: Read<Approval> = shapeReader({
  requestedAt: readInstant,
  'requestNumber?': readLaterRequest,
  'decision?': readDecision,
});

/**
 * Returns the approval of a new request, after the earlier request of the same call. A clock that was set back must not
 * give two requests the same instant.
 */
export function requestedApproval(at: Instant, earlier: Approval | undefined): Approval {
  if (earlier === undefined) return Object.freeze({ requestedAt: at });
  const requestedAt = Math.max(at, addCounts(earlier.requestedAt, 1));
  return Object.freeze({ requestedAt, requestNumber: addCounts(earlier.requestNumber ?? 1, 1) });
}
