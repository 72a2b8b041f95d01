import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { DocumentReader, Read } from '../../document.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { checkedCopy, readNonEmpty, readJson, readJsonObject, readOneOf } from '../../document.ts';
import { compact, isJsonObject, toJsonObject, toJsonValue } from '../../json.ts';
import type { ErrorRecord } from '../values/error-record.ts';
import { readErrorRecord, toErrorRecord } from '../values/error-record.ts';
import type { ToolOutput } from '../messages/messages.ts';
import { readToolOutput } from '../messages/messages.ts';
import { requireObject } from '../../arguments.ts';

/**
 * How a call ended. `blocked`: a hook forbade it. `denied`: a person did. `interrupted`: it was started and
 * nobody knows how it ended.
 */
export type ToolOutcomeType = 'succeeded' | 'failed' | 'blocked' | 'denied' | 'interrupted';

/** The end of a call: a value, or an error. */
export type ToolOutcome =
  | {
      readonly type: 'succeeded';
      readonly value: JsonValue;
      /** What the model reads, when it is not the value itself. */
      readonly modelOutput?: ToolOutput;
      /** Facts that it sets in the agent's metadata when its step closes, in the order of the calls. */
      readonly metadata?: JsonObject;
    }
  | { readonly type: Exclude<ToolOutcomeType, 'succeeded'>; readonly error: ErrorRecord };

/** A hook that forbade a call, and why. */
export interface ToolBlock {
  /** The hook's name; of a hook without one its place in the list of hooks, as in `hook 2`. */
  readonly hook: string;
  /** `''` when the hook gave none. */
  readonly reason: string;
}

/** What an outcome means for the step and the execution. The only place that says so. */
export interface OutcomeRule {
  readonly hasError: boolean;
  /** The step's type becomes `error`. */
  readonly makesStepError: boolean;
  /** A step of nothing but such calls counts as a consecutive failure. */
  readonly countsAsFailure: boolean;
  /** With `toolErrors: 'fail'` the execution fails. */
  readonly canFailExecution: boolean;
  /** It comes only of a call that was started. */
  readonly needsStart: boolean;
}

export const OUTCOME_RULES: { readonly [T in ToolOutcomeType]: OutcomeRule } = {
  succeeded: {
    hasError: false,
    makesStepError: false,
    countsAsFailure: false,
    canFailExecution: false,
    needsStart: true,
  },
  failed: {
    hasError: true,
    makesStepError: true,
    countsAsFailure: true,
    canFailExecution: true,
    needsStart: false,
  },
  blocked: {
    hasError: true,
    makesStepError: true,
    countsAsFailure: true,
    canFailExecution: false,
    needsStart: false,
  },
  denied: {
    hasError: true,
    makesStepError: true,
    countsAsFailure: false,
    canFailExecution: false,
    needsStart: false,
  },
  interrupted: {
    hasError: true,
    makesStepError: true,
    countsAsFailure: false,
    canFailExecution: true,
    needsStart: true,
  },
};

/** The outcome of a call that was started and of which nothing more is known; `cause`: why not even its tool could say. */
export function interruptedOutcome({ name }: { readonly name: string }, cause?: unknown): ToolOutcome {
  const message = `Tool "${name}" was started and interrupted: whether it had its effect is unknown.`;
  return interruptedWith(message, cause);
}

/** The outcome of a call that something has kept from its end. */
export function interruptedWith(message: string, cause?: unknown): ToolOutcome {
  const error = toErrorRecord(new HoldfastError('TOOL_INTERRUPTED', message, { cause }));
  return Object.freeze({ type: 'interrupted', error });
}

/** A frozen copy of an outcome, its value as JSON. @throws RangeError or TypeError `ARGUMENT_INVALID` for what is none. */
export function checkedOutcome(outcome: ToolOutcome): ToolOutcome {
  requireObject(outcome, 'an outcome: an object with a type');
  if (!Object.hasOwn(OUTCOME_RULES, outcome.type)) {
    const types = Object.keys(OUTCOME_RULES).join(', ');
    throw invalidArgument(`An outcome is one of ${types}, found ${describeValue(outcome.type)}.`);
  }
  if (outcome.type !== 'succeeded')
    return compact({ type: outcome.type, error: toErrorRecord(outcome.error) });
  const { modelOutput: given } = outcome;
  const modelOutput =
    given === undefined ? undefined : checkedCopy('output of a tool', given, readToolOutput);
  const metadata = nonEmptyMetadata(outcome.metadata);
  return compact({
    type: outcome.type,
    value: toJsonValue(outcome.value),
    modelOutput,
    metadata,
  }) as ToolOutcome;
}

/** The hooks that forbade a call, as the error of its outcome names them. */
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

const readOutcomeType = readOneOf(Object.keys(OUTCOME_RULES) as ToolOutcomeType[]);
const readNonEmptyObject = readNonEmpty(readJsonObject);
const SUCCESS_NAMES = new Set(['type', 'value', 'modelOutput', 'metadata']);
const FAILURE_NAMES = new Set(['type', 'error']);

/** Reads an outcome. The value of a success may be known from elsewhere. */
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

/** Reads an outcome. */
export const readOutcome: Read<ToolOutcome> = (reader, value) => readOutcomeWith(reader, value, undefined);
