import type { Instant } from '../../clock.ts';
import type { Read, Shape } from '../../document.ts';
import { readInstant, readOneOf, readShape, readString, shapeOf } from '../../document.ts';

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

const DECISION: Shape<ApprovalDecision> = shapeOf({
  type: readOneOf(['approved', 'denied']),
  at: readInstant,
  'by?': readString,
  'reason?': readString,
});

/** Reads a decision. @internal */
export const readDecision: Read<ApprovalDecision> = (reader, value) => readShape(reader, value, DECISION);

const APPROVAL: Shape<Approval> = shapeOf({ requestedAt: readInstant, 'decision?': readDecision });

/** Reads an approval. @internal */
export const readApproval: Read<Approval> = (reader, value) => readShape(reader, value, APPROVAL);
