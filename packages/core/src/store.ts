// Exports for authors of session stores, beside those of the root: the store contract, and the backend contract with
// the functions for a new database
export type { AgentSessionInit, SessionRevision } from './session/session.ts';
export { isUnreadableError, SessionSuspectError, StoreThrottledError } from './session/session-errors.ts';
export type { SessionConflictKind } from './session/session-errors.ts';
export type {
  CreateOptions,
  DeleteOptions,
  SaveOptions,
  StoreCapabilities,
  SessionPage,
  UnreadableSession,
} from './session/session-store.ts';
export type {
  ClaimedSession,
  ClaimOptions,
  EnqueueOptions,
  InboxItem,
  InboxItemRef,
  InboxPage,
  LoadOptions,
  OwnerOptions,
  RenewedClaim,
  ReleaseOptions,
  RenewOptions,
  SessionClaim,
  UnreadableItem,
} from './session/session-claim.ts';
export type {
  AnnouncedWorker,
  DuePage,
  DueQuery,
  DueSession,
  SeenWorker,
} from './session/session-directory.ts';
export type { SessionInspection, SessionSizes } from './session/session-inspection.ts';
export type {
  ExecutionPage,
  ExecutionQuery,
  KeptRevision,
  PageQuery,
  RevisionPage,
  RevisionQuery,
  UnreadableRow,
} from './session/session-pages.ts';
export { BackedSessionStore } from './session/store/backed-session-store.ts';
export { storeOptionChecks } from './session/store/store-options.ts';
export type { StoreOptions } from './session/store/store-options.ts';
export { missingParts, requestedParts } from './session/store/backend/session-backend.ts';
export type {
  ArchiveChange,
  CompareAndSetResult,
  ItemRange,
  KnownSession,
  ReadExtent,
  ReadRequest,
  ReadSession,
  RecordChange,
  SessionBackend,
  StoredItem,
  StoredSession,
} from './session/store/backend/session-backend.ts';
export { isItemWaiting, waitingItemCount, waitingPositions } from './session/store/record/inbox-cursor.ts';
export type { InboxCursor } from './session/store/record/inbox-cursor.ts';
export type { ReservedItem } from './session/store/record/inbox-reserve.ts';
export {
  isExpired,
  listedSession,
  recordDueAt,
  recordName,
  waitingForOf,
} from './session/store/record/session-record.ts';
export type { SessionRecord } from './session/store/record/session-record.ts';
export type { ExecutionSummary } from './session/execution-summary.ts';
export type { SessionTotals } from './session/session-totals.ts';
export type { SessionDescription, SessionLabels } from './session/title-labels-owner.ts';
export {
  parseSeenWorker,
  parseSessionRecord,
  readSessionRecord,
} from './session/store/record/read-session-record.ts';
export {
  compareDueSessions,
  compareListedSessions,
  isAfterCursor,
  isUnreadableEntry,
  matchesDueQuery,
  matchesSessionQuery,
} from './session/store/backend/session-query.ts';
export type {
  CursorPosition,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  UnreadableEntry,
} from './session/store/backend/session-query.ts';
export { planSave } from './session/store/content/save-plan.ts';
export { restoreSession } from './session/store/content/restore-session.ts';
export type {
  KnownContent,
  MissingElements,
  MissingParts,
  ReadContent,
} from './session/store/content/known-content.ts';
export type { ContentMark } from './session/store/content/content-mark.ts';
export { applySavePlan, readStored } from './session/store/content/session-content.ts';
export type { ListChange, SavePlan, SessionContent } from './session/store/content/session-content.ts';
export type { StateFormatErrorOptions } from './errors.ts';
export { backoff } from './backoff.ts';
export type { BackoffOptions } from './backoff.ts';
export { checkArgument, mustBe, openableChecks, optionsCheck } from './arguments.ts';
export type {
  ArgumentCheck,
  OpenableChecks,
  OpenableOptions,
  OptionChecks,
  OptionsCheck,
} from './arguments.ts';
export type { FailedWork, WorkFailure } from './session/work-failure.ts';
