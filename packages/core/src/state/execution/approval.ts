import type { Instant } from '../../clock.ts';
import type { Read } from '../../document.ts';
import { readInstant, readOneOf, readString, shapeReader } from '../../document.ts';

/** A person's word on a call. There is no decision as long as it is awaited. */
export interface Approval {
  readonly requestedAt: Instant;
  readonly decision?: ApprovalDecision;
}

/** What was decided on a call, once. */
export interface ApprovalDecision {
  readonly type: 'approved' | 'denied';
  readonly at: Instant;
  /** Who decided, as the application names people. */
  readonly by?: string;
  /** Why, for the model to read. */
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
