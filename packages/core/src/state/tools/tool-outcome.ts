import { HoldfastError } from '../../errors.ts';
import {
  readNonEmpty,
  readJson,
  readJsonObject,
  readOneOf,
  type DocumentReader,
  type Read,
} from '../../document.ts';
import {
  compact,
  isJsonObject,
  namesOf,
  toJsonObject,
  toJsonValue,
  type JsonObject,
  type JsonValue,
} from '../../json.ts';
import { readErrorRecord, toErrorRecord, type ErrorRecord } from '../values/error-record.ts';
import { readToolOutput, type ToolOutput } from '../messages/messages.ts';
import { checkArgument, checkedCopy, mustBe, requireObject } from '../../arguments.ts';

/**
 * How a call completed. `blocked`: a hook forbade it. `denied`: a person refused it. `interrupted`: it was aborted, or
 * it was in doubt and is not repeated.
 */
export type ToolOutcomeType = 'succeeded' | 'failed' | 'blocked' | 'denied' | 'interrupted';

/** The outcome of a call: a value or an error. */
export type ToolOutcome =
  | {
      readonly type: 'succeeded';
      readonly value: JsonValue;
      /** The model output, when it differs from the value. */
      readonly modelOutput?: ToolOutput;
      /** Metadata that the call sets in the agent when its step is closed, in the order of the calls. */
      readonly metadata?: JsonObject;
    }
  | { readonly type: Exclude<ToolOutcomeType, 'succeeded'>; readonly error: ErrorRecord };

/** A hook that blocked a call, and its reason. */
export interface ToolBlock {
  /** The hook's name, or its position in the list of hooks, as in `hook 2`. */
  readonly hook: string;
  /** The reason; `''` when the hook gave none. */
  readonly reason: string;
}

/** The consequences of an outcome for the step and the execution. `OUTCOME_RULES` is their only definition. */
export interface OutcomeRule {
  readonly hasError: boolean;
  /** The step gets the type `error`. */
  readonly makesStepError: boolean;
  /** A step with only such calls counts as a consecutive failure. */
  readonly countsAsFailure: boolean;
  /** The execution fails if the loop has `toolErrors: 'fail'`. */
  readonly canFailExecution: boolean;
  /** Only a started call can have the outcome. */
  readonly needsStart: boolean;
}

const SUCCESS: OutcomeRule = {
  hasError: false,
  makesStepError: false,
  countsAsFailure: false,
  canFailExecution: false,
  needsStart: true,
};
const DENIAL: OutcomeRule = { ...SUCCESS, hasError: true, makesStepError: true, needsStart: false };

export const OUTCOME_RULES: { readonly [T in ToolOutcomeType]: OutcomeRule } = {
  succeeded: SUCCESS,
  failed: { ...DENIAL, countsAsFailure: true, canFailExecution: true },
  blocked: { ...DENIAL, countsAsFailure: true },
  denied: DENIAL,
  interrupted: { ...DENIAL, canFailExecution: true, needsStart: true },
};

/**
 * Returns the outcome of a started call without further knowledge; `cause` is the error with which its tool failed to
 * reconcile the call.
 */
export function interruptedOutcome({ name }: { readonly name: string }, cause?: unknown): ToolOutcome {
  const message = `Tool "${name}" was started and interrupted: whether it had its effect is unknown.`;
  return interruptedWith(message, cause);
}

/** Returns the outcome of a started call at the end of its execution. An answer that was given counts. */
export function outcomeAtEnd(execution: {
  readonly name: string;
  readonly isAwaitingAnswer: boolean;
  readonly answer: { readonly outcome?: ToolOutcome } | undefined;
}): ToolOutcome {
  const { name, isAwaitingAnswer, answer } = execution;
  if (answer?.outcome) return answer.outcome;
  return isAwaitingAnswer
    ? interruptedWith(`Tool "${name}" was not answered before the execution ended.`)
    : interruptedOutcome(execution);
}

export function interruptedWith(message: string, cause?: unknown): ToolOutcome {
  const error = toErrorRecord(new HoldfastError('TOOL_INTERRUPTED', message, { cause }));
  return Object.freeze({ type: 'interrupted', error });
}

/**
 * Returns a frozen copy of an outcome, with its value as JSON.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for a value that is not an outcome.
 */
export function checkedOutcome(outcome: ToolOutcome): ToolOutcome {
  requireObject(outcome, 'an outcome: an object with a type');
  checkArgument('The type of an outcome', outcome.type, OUTCOME_TYPE);
  if (outcome.type !== 'succeeded')
    return compact({ type: outcome.type, error: toErrorRecord(outcome.error) });
  return succeededWith({ ...outcome, value: toJsonValue(outcome.value) });
}

/** Returns the frozen outcome of a successful call. The value is frozen JSON already. */
export function succeededWith(outcome: Extract<ToolOutcome, { readonly type: 'succeeded' }>): ToolOutcome {
  const { type, value, modelOutput } = outcome;
  return compact({
    type,
    value,
    modelOutput: modelOutput && checkedCopy('output of a tool', modelOutput, readToolOutput),
    metadata: nonEmptyMetadata(outcome.metadata),
  });
}

/** Returns the hooks that blocked a call, from the error of its outcome. */
export function blocksIn({ data }: ErrorRecord): readonly ToolBlock[] {
  const blocks = isJsonObject(data) ? data['blockedBy'] : undefined;
  return Array.isArray(blocks) ? blocks.filter(isToolBlock) : [];
}

function isToolBlock(value: JsonValue): value is JsonObject & ToolBlock {
  return isJsonObject(value) && typeof value['hook'] === 'string' && typeof value['reason'] === 'string';
}

function nonEmptyMetadata(metadata: JsonObject | undefined): JsonObject | undefined {
  const json = metadata === undefined ? {} : toJsonObject(metadata);
  return Object.keys(json).length === 0 ? undefined : json;
}

const OUTCOME_TYPE = mustBe.oneOf(namesOf(OUTCOME_RULES));
const readOutcomeType = readOneOf(namesOf(OUTCOME_RULES));
const readNonEmptyObject = readNonEmpty(readJsonObject);
const SUCCESS_NAMES = new Set(['type', 'value', 'modelOutput', 'metadata']);
const FAILURE_NAMES = new Set(['type', 'error']);

/** Reads an outcome. `valueElsewhere` is the value of a success that the document omits. */
export function readOutcomeWith(
  reader: DocumentReader,
  value: unknown,
  valueElsewhere: JsonValue | undefined,
): ToolOutcome {
  const document = reader.object(value);
  const isSuccess = document['type'] === 'succeeded';
  const type = isSuccess ? 'succeeded' : reader.required(document, 'type', readOutcomeType);
  if (type !== 'succeeded') {
    const members = reader.members(value, FAILURE_NAMES);
    return Object.freeze({ type, error: reader.required(members, 'error', readErrorRecord) });
  }
  const members = reader.members(value, SUCCESS_NAMES);
  const known = members['value'] === undefined ? valueElsewhere : undefined;
  const result = known === undefined ? reader.required(members, 'value', readJson) : known;
  if (members['modelOutput'] === undefined && members['metadata'] === undefined)
    return Object.freeze({ type, value: result });
  const modelOutput = reader.optional(members, 'modelOutput', readToolOutput);
  const metadata = reader.optional(members, 'metadata', readNonEmptyObject);
  return compact({ type, value: result, modelOutput, metadata }) as ToolOutcome;
}

export const readOutcome: Read<ToolOutcome> = (reader, value) => readOutcomeWith(reader, value, undefined);
