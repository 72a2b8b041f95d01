// Exports for authors of session stores, beside those of the root: the store contract, and the backend contract with
// the functions for a new database
export type { AgentSessionInit, SessionRevision } from './session/session.ts';
export { SessionSuspectError, StoreThrottledError } from './session/session-errors.ts';
export type { SessionConflictKind } from './session/session-errors.ts';
export type {
  ClaimedSession,
  ClaimOptions,
  CreateOptions,
  DeleteOptions,
  DuePage,
  DueQuery,
  DueSession,
  InboxItem,
  InboxItemRef,
  InboxPage,
  LoadOptions,
  RenewedClaim,
  RenewOptions,
  SaveOptions,
  SessionClaim,
  StoreCapabilities,
  UnreadableItem,
} from './session/session-store.ts';
export { BackedSessionStore, storeOptionChecks } from './session/store/backed-session-store.ts';
export type { StoreOptions } from './session/store/backed-session-store.ts';
export type {
  CompareAndSetResult,
  ItemRange,
  RecordChange,
  SessionBackend,
  StoredItem,
  StoredSession,
} from './session/store/session-backend.ts';
export { isItemWaiting, waitingItemCount, waitingPositions } from './session/store/inbox-cursor.ts';
export type { InboxCursor } from './session/store/inbox-cursor.ts';
export {
  isExpired,
  listedSession,
  recordDueAt,
  recordName,
  waitingForOf,
} from './session/store/session-record.ts';
export type { SessionRecord } from './session/store/session-record.ts';
export { readSessionRecord } from './session/store/read-session-record.ts';
export {
  compareDueSessions,
  compareListedSessions,
  isAfterCursor,
  matchesDueQuery,
  matchesSessionQuery,
} from './session/store/session-query.ts';
export type {
  CursorPosition,
  ResolvedDueQuery,
  ResolvedSessionQuery,
} from './session/store/session-query.ts';
export { contentParts, planSave, restoreSession } from './session/store/save-plan.ts';
export { applySavePlan } from './session/store/session-content.ts';
export type { ContentParts, ListChange, SavePlan, SessionContent } from './session/store/session-content.ts';
export type { StateFormatErrorOptions } from './errors.ts';
export { checkArgument, mustBe, optionsCheck } from './arguments.ts';
export type { ArgumentCheck, OptionChecks, OptionsCheck } from './arguments.ts';
export type { FailedWork, WorkFailure } from './session/work-failure.ts';
