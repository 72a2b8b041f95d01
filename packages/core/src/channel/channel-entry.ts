import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { InferenceDelta } from '../loop/inference/driver.ts';

/**
 * One entry of a session's tail: a change that a worker made after the last save, or the fact that it saved. An entry is
 * JSON, and frozen.
 *
 * Entries are ordered by `epoch`, then `series`, then `n`. A reader drops an entry that is older than one it has used.
 * A worker that was replaced has a lower epoch, so its entries never show.
 */
export interface ChannelEntry {
  /** The incarnation of the session. Epochs of different incarnations do not compare. */
  readonly incarnation: string;
  /** The epoch of the claim under which the worker publishes. */
  readonly epoch: number;
  /**
   * The number of the series under this claim, from 0. A series begins after each save. It also begins when the worker
   * repeats all that is newer than the save, because it dropped entries or because the tail has become long.
   */
  readonly series: number;
  /** The number of the entry in its series, from 0. A reader that misses a number waits for the next series. */
  readonly n: number;
  /** The version of the session that was saved last. The changes of a series apply to that version. */
  readonly base: number;
  /** The present execution; absent without one. */
  readonly executionId?: string;
  readonly change: ChannelChange;
}

/** The content of an entry. */
export type ChannelChange =
  /**
   * The state changed: an execution or a step began, a response arrived, a tool call changed, a step was closed. `patch`
   * changes the state before the entry into the state after it.
   */
  | { readonly type: 'state'; readonly patch: JsonObject }
  /** A piece of the response to this attempt at this step. `attempt` counts from 1. */
  | {
      readonly type: 'delta';
      readonly stepId: string;
      readonly attempt: number;
      readonly delta: InferenceDelta;
    }
  /** The worker saved the state before the entry, as this version. The series ends here. */
  | {
      readonly type: 'saved';
      readonly version: number;
      /** The status of the session. */
      readonly status: string;
      /** When the session was saved. */
      readonly at: number;
    };

/** Returns the text of an entry: JSON without lone surrogates. */
export function writeChannelEntry(entry: ChannelEntry): string {
  return JSON.stringify(entry);
}

/**
 * Reads the text of an entry. Returns `undefined` for a text that is damaged or that a newer release wrote: report a gap
 * then.
 */
export function readChannelEntry(text: string): ChannelEntry | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isEntry(value) ? (value as unknown as ChannelEntry) : undefined;
  } catch {
    return undefined;
  }
}

/** True for a value with the form of an entry of this release. The content of a patch is not checked. */
function isEntry(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { incarnation, epoch, series, n, base, executionId, change } = value;
  const isPositioned = typeof incarnation === 'string' && [epoch, series, n, base].every(isCount);
  const isNamed = executionId === undefined || typeof executionId === 'string';
  return isPositioned && isNamed && isJsonObject(change) && isChange(change);
}

function isChange({ type, patch, stepId, attempt, delta, version, status, at }: JsonObject): boolean {
  if (type === 'state') return isJsonObject(patch);
  if (type === 'saved') return isCount(version) && typeof status === 'string' && isCount(at);
  return type === 'delta' && typeof stepId === 'string' && isCount(attempt) && isDelta(delta);
}

function isDelta(delta: JsonValue | undefined): boolean {
  if (!isJsonObject(delta) || typeof delta['id'] !== 'string' || typeof delta['text'] !== 'string')
    return false;
  const { type, toolName } = delta;
  return type === 'text' || type === 'reasoning' || (type === 'tool-input' && typeof toolName === 'string');
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
