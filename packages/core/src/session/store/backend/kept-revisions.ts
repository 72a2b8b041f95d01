import {
  DocumentReader,
  orderedReader,
  readCount,
  readFrozenList,
  readString,
  shapeReader,
} from '../../../document.ts';
import { compact, fitsIn, type JsonValue } from '../../../json.ts';
import type { AgentSession } from '../../session.ts';
import { readSessionInfo, type SessionInfo } from '../../session-info.ts';
import type { SaveOptions } from '../../session-store.ts';
import type { KeptRevision } from '../../session-pages.ts';
import { planUndo } from '../content/save-plan.ts';
import type { ArchiveChange } from './session-backend.ts';
import { parsePart, type SavePlan } from '../content/session-content.ts';
import type { SessionRecord } from '../record/session-record.ts';

/** The archive with one entry for each kept revision, at the position of its version. */
export const REVISIONS = 'revisions';

export interface StoredRevision {
  readonly shown: KeptRevision;
  readonly info: SessionInfo;
  /** Leads from its content to that of the version before; absent when the store did not know that content. */
  readonly undo: SavePlan | undefined;
}

interface RevisionChange {
  readonly archive: ArchiveChange | undefined;
  /** The oldest version that can be loaded after the save. */
  readonly firstRevision: number | undefined;
}

/** The parts of a save that its revision is made of. */
export interface SavedParts extends Pick<SaveOptions, 'checkpoint' | 'epoch'> {
  readonly plan: SavePlan;
  readonly base?: AgentSession | undefined;
  /** The number of revisions to keep, the last one included; 0: none. */
  readonly keptRevisions: number;
  /** The largest entry that the store accepts, in bytes. Default: any. */
  readonly maxValueBytes?: number | undefined;
}

/** Returns the entry for a save, and the removal of entries that are no longer kept. */
export function revisionChange(
  next: AgentSession,
  before: Pick<SessionRecord, 'firstRevision' | 'lease'> | undefined,
  { plan, base, keptRevisions, checkpoint, epoch, maxValueBytes = Infinity }: SavedParts,
): RevisionChange {
  const { version } = next;
  const first = before?.firstRevision;
  if (keptRevisions === 0) {
    const remove = first === undefined ? undefined : { from: first, to: version };
    return { archive: remove && { archive: REVISIONS, put: [], remove }, firstRevision: undefined };
  }
  const workerId = epoch === undefined ? undefined : before?.lease?.workerId;
  const shown = { info: next.info, checkpoint, workerId, writtenLength: lengthOf(plan) };
  const undo = base && planUndo(base, plan);
  const whole = undo && JSON.stringify({ ...shown, undo: planJson(undo) });
  // A save that discards more than one value of the store can hold must be possible: the revisions then begin with it.
  const kept = whole !== undefined && fitsIn(maxValueBytes, whole) ? whole : undefined;
  const oldest = kept && first !== undefined ? Math.max(first, version - keptRevisions + 1) : version;
  const put = [{ position: version, json: kept ?? JSON.stringify(shown) }];
  const removed = first !== undefined && first < oldest ? { from: first, to: oldest } : undefined;
  return { archive: { archive: REVISIONS, put, remove: removed }, firstRevision: oldest };
}

function lengthOf({ head, values, lists }: SavePlan): number {
  let length = head.length;
  for (const text of values.values()) length += text?.length ?? 0;
  for (const { append } of lists) for (const text of append) length += text.length;
  return length;
}

function planJson({ head, values, lists }: SavePlan): JsonValue {
  return {
    head,
    values: [...values].map(([name, text]) => ({ name, ...(text !== undefined && { text }) })),
    lists: lists.map(({ name, keep, append }) => ({ name, keep, append: [...append] })),
  };
}

const readPlanParts = shapeReader({
  head: readString,
  values: readFrozenList(shapeReader({ name: readString, 'text?': readString })),
  lists: readFrozenList(
    shapeReader({ name: readString, keep: readCount, append: readFrozenList(readString) }),
  ),
});

function planOf({ head, values, lists }: ReturnType<typeof readPlanParts>): SavePlan {
  return { isWhole: false, head, values: new Map(values.map(({ name, text }) => [name, text])), lists };
}

const readEntry = orderedReader({
  info: readSessionInfo,
  'checkpoint?': readString,
  'workerId?': readString,
  writtenLength: readCount,
  'undo?': readPlanParts,
});

/** Reads an entry. @throws StateFormatError */
export function readRevision(json: string): StoredRevision {
  const entry = DocumentReader.read(parsePart(json, 'a kept revision'), readEntry);
  const { info, undo, checkpoint, workerId, writtenLength } = entry;
  const shown = compact({ ...lastRevision({ info }), checkpoint, workerId, writtenLength });
  return { shown, info, undo: undo && planOf(undo) };
}

/** The last revision of a session whose store keeps no others. */
export function lastRevision({ info }: Pick<SessionRecord, 'info'>): KeptRevision {
  const { version, updatedAt: savedAt, executionStatus } = info;
  return compact({ version, savedAt, executionStatus });
}
