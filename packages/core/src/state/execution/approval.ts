import type { Instant } from '../../clock.ts';
import type { Read } from '../../document.ts';
import { readInstant, readOneOf, readString, shapeReader } from '../../document.ts';

/** A person's permission for one tool call. It has no decision while it is pending. */
export interface Approval {
  readonly requestedAt: Instant;
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

/** Reads a decision. */
export const readDecision: Read<ApprovalDecision> = shapeReader({
  type: readOneOf(['approved', 'denied']),
  at: readInstant,
  'by?': readString,
  'reason?': readString,
});

/** Reads an approval. */
export const readApproval: Read<Approval> = shapeReader({
  requestedAt: readInstant,
  'decision?': readDecision,
});
