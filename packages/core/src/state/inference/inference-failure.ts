import type { Instant } from '../../clock.ts';
import { orderedReader, readFilledList, readInstant, readString, type Read } from '../../document.ts';
import { compact } from '../../json.ts';
import { readErrorRecord, type ErrorRecord } from '../values/error-record.ts';
import { readNonEmptyUsage, Usage } from './usage.ts';
import type { Waiting } from '../values/waiting.ts';

/** A failed call of the model, which its step repeats. */
export interface InferenceFailure {
  readonly error: ErrorRecord;
  readonly at: Instant;
  /** The model that failed, when it is known. */
  readonly modelId?: string;
  /** The usage of the failed call that the provider is known to bill. */
  readonly usage?: Usage;
  /** When the loop repeats the call. Absent while it waits for `retry()`. */
  readonly retryAt?: Instant;
  /** When the execution fails, unless `retry()` is called before. */
  readonly failAt?: Instant;
  /** When the loop repeated the call. Absent before that. */
  readonly retriedAt?: Instant;
}

const readInferenceFailure: Read<InferenceFailure> = orderedReader({
  error: readErrorRecord,
  at: readInstant,
  'modelId?': readString,
  'usage?': readNonEmptyUsage,
  'retryAt?': readInstant,
  'failAt?': readInstant,
  'retriedAt?': readInstant,
});

/** Reads the failed calls of a step; refuses an empty list. @internal */
export const readInferenceFailures: Read<readonly InferenceFailure[]> = readFilledList(readInferenceFailure);

/** Returns the document of a failed call. @internal */
export function writeInferenceFailure({ usage, ...failure }: InferenceFailure): object {
  return usage === undefined ? failure : { ...failure, usage: usage.toJSON() };
}

/** Returns the usage of all failed calls. */
export function usageOfFailures(failures: readonly InferenceFailure[]): Usage {
  return failures.reduce((sum, { usage }) => (usage ? sum.plus(usage) : sum), Usage.none);
}

/** Returns the `waiting` entry of an execution that is suspended until the call is repeated. */
export function waitingForRetry({ error, retryAt, failAt }: InferenceFailure): Waiting {
  return compact({ type: 'retry', error, until: retryAt, failAt }) as Waiting;
}
