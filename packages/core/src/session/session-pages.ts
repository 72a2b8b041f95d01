import type { Instant } from '../clock.ts';
import type { StateFormatError } from '../errors.ts';
import type { ExecutionStatus } from '../state/execution/status.ts';
import type { ExecutionSummary } from './execution-summary.ts';
import type { LoadOptions, OwnerOptions } from './session-claim.ts';

/** Selects a page. */
export interface PageQuery {
  /** The largest number of rows in the page: 1 to 100. Default: 50. */
  readonly limit?: number | undefined;
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** A row of a page that this release cannot read: it is damaged, or a newer release wrote it. */
export interface UnreadableRow {
  /** The index of the execution among all executions of the session, from 0; or the version of the revision. */
  readonly position: number;
  /** Its code is `STATE_VERSION` when a newer release wrote the row. */
  readonly error: StateFormatError;
}

/** Selects the executions of a session. */
export interface ExecutionQuery extends LoadOptions, PageQuery {}

/** A page of the executions of a session. */
export interface ExecutionPage {
  readonly executions: readonly ExecutionSummary[];
  /** The rows between them that this release cannot read. They count to the limit of the page. */
  readonly unreadable: readonly UnreadableRow[];
  /** The cursor to pass for the next page; `undefined` on the last page. */
  readonly cursor: string | undefined;
}

/** Selects the revisions of a session. */
export interface RevisionQuery extends OwnerOptions, PageQuery {}

/** A saved state of a session that can be loaded again. */
export interface KeptRevision {
  readonly version: number;
  readonly savedAt: Instant;
  /** Where in the run the session was saved; absent for a save outside of a run. */
  readonly checkpoint?: string;
  /** The worker whose claim the save was under; absent for a save without a claim. */
  readonly workerId?: string;
  readonly executionStatus?: ExecutionStatus;
  /** The length of what the save wrote, in UTF-16 code units of JSON; absent when the store keeps no revisions. */
  readonly writtenLength?: number;
}

/** A page of the revisions of a session. */
export interface RevisionPage extends Pick<ExecutionPage, 'unreadable' | 'cursor'> {
  readonly revisions: readonly KeptRevision[];
}
