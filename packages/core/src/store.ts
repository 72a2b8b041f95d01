// What authors of session stores need besides the root: the contract, and how a database becomes a store
export type { AgentSessionInit, SessionRevision } from './session/session.ts';
export { StoreThrottledError } from './session/session-errors.ts';
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
  InboxItemName,
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
  ItemRange,
  RecordChange,
  SessionBackend,
  StoredItem,
  StoredSession,
  SwapResult,
} from './session/store/session-backend.ts';
export { isItemWaiting, waitingItems } from './session/store/inbox-cursor.ts';
export type { InboxCursor } from './session/store/inbox-cursor.ts';
export { dueAt, isExpired, listedSession, recordName } from './session/store/session-record.ts';
export { readSessionRecord } from './session/store/read-session-record.ts';
export type { SessionRecord } from './session/store/session-record.ts';
export {
  compareDue,
  compareListedSessions,
  fitsDue,
  fitsQuery,
  isAfter,
} from './session/store/session-query.ts';
export type {
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SessionPosition,
} from './session/store/session-query.ts';
export { planSave, restoreSession, savedParts } from './session/store/save-plan.ts';
export { carriedOut } from './session/store/session-content.ts';
export type { ListChange, SavedParts, SavedSession, SavePlan } from './session/store/session-content.ts';
export type { StateFormatErrorOptions } from './errors.ts';
export { checkArgument, mustBe, optionsCheck } from './arguments.ts';
export type { ArgumentCheck, OptionChecks, OptionsCheck } from './arguments.ts';
