import type { Instant } from '../clock.ts';
import { secondsBetween, toInstant } from '../clock.ts';
import type { JsonValue, Members, Read } from '../json.ts';
import {
  checked,
  compact,
  DocumentReader,
  readCount,
  readInstant,
  readJson,
  readOneOf,
  toJsonValue,
} from '../json.ts';
import type { ErrorRecord } from './error-record.ts';
import { readErrorRecord, toErrorRecord } from './error-record.ts';
import { ToolExecutionId } from './ids.ts';
import type { ToolCallPart, ToolOutput, ToolResultPart } from './messages.ts';
import { checkedToolCall, readToolCall, readToolOutput } from './messages.ts';

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
      readonly output?: ToolOutput;
    }
  | { readonly type: Exclude<ToolOutcomeType, 'succeeded'>; readonly error: ErrorRecord };

/** What an outcome means for the step and the execution. The only place that says so. */
export interface OutcomeRule {
  readonly hasError: boolean;
  /** The step's type becomes `error`. */
  readonly makesStepError: boolean;
  /** A step of nothing but such calls counts as a consecutive failure. */
  readonly countsAsFailure: boolean;
  /** With `toolErrors: 'fail'` the execution fails. */
  readonly canFailExecution: boolean;
}

export const OUTCOME_RULES: { readonly [T in ToolOutcomeType]: OutcomeRule } = {
  succeeded: { hasError: false, makesStepError: false, countsAsFailure: false, canFailExecution: false },
  failed: { hasError: true, makesStepError: true, countsAsFailure: true, canFailExecution: true },
  blocked: { hasError: true, makesStepError: true, countsAsFailure: true, canFailExecution: false },
  denied: { hasError: true, makesStepError: true, countsAsFailure: false, canFailExecution: false },
  interrupted: { hasError: true, makesStepError: true, countsAsFailure: false, canFailExecution: true },
};

type ToolExecutionFields = Pick<
  ToolExecution,
  'id' | 'call' | 'attempt' | 'startedAt' | 'completedAt' | 'outcome'
>;

/** One tool call as it was carried out. */
export class ToolExecution {
  readonly id: ToolExecutionId;
  readonly call: ToolCallPart;
  /** 1 for the first try, one more for each that follows a crash or a retry. */
  readonly attempt: number;
  readonly startedAt: Instant;
  readonly completedAt: Instant | undefined;
  /** Absent while it runs. */
  readonly outcome: ToolOutcome | undefined;

  private constructor(fields: ToolExecutionFields) {
    this.id = fields.id;
    this.call = fields.call;
    this.attempt = fields.attempt;
    this.startedAt = fields.startedAt;
    this.completedAt = fields.completedAt;
    this.outcome = fields.outcome;
    Object.freeze(this);
  }

  /** A call about to run. @throws HoldfastError `CONTEXT_INVALID` when it is not a call. */
  static started(
    call: ToolCallPart,
    at: Instant,
    id: ToolExecutionId = ToolExecutionId.create(),
  ): ToolExecution {
    return new ToolExecution({
      id,
      call: checkedToolCall(call),
      attempt: 1,
      startedAt: toInstant(at),
      completedAt: undefined,
      outcome: undefined,
    });
  }

  /** The tool's name. */
  get name(): string {
    return this.call.toolName;
  }

  /** What the tool was called with. */
  get args(): JsonValue {
    return this.call.input;
  }

  /** What the tool returned; `undefined` unless it succeeded. */
  get value(): JsonValue | undefined {
    return this.outcome?.type === 'succeeded' ? this.outcome.value : undefined;
  }

  get error(): ErrorRecord | undefined {
    return this.outcome === undefined || this.outcome.type === 'succeeded' ? undefined : this.outcome.error;
  }

  get hasError(): boolean {
    return this.rule?.hasError ?? false;
  }

  get wasBlocked(): boolean {
    return this.outcome?.type === 'blocked';
  }

  /** True while no outcome is known. */
  get isRunning(): boolean {
    return this.outcome === undefined;
  }

  /** The key to hand to an outside service, so that a repeated call has one effect. The same for every attempt. */
  get idempotencyKey(): string {
    return this.id;
  }

  /** Seconds from start to end; 0 while it runs. */
  get duration(): number {
    return this.completedAt === undefined ? 0 : secondsBetween(this.startedAt, this.completedAt);
  }

  /** What the outcome means; `undefined` while there is none. */
  get rule(): OutcomeRule | undefined {
    return this.outcome && OUTCOME_RULES[this.outcome.type];
  }

  /**
   * The same with its end; the value is turned into JSON.
   * @throws HoldfastError `NOT_JSON` for a value that cannot be JSON, `CONTEXT_INVALID` for an output that is none.
   */
  withOutcome(outcome: ToolOutcome, at: Instant): ToolExecution {
    const { id, call, attempt, startedAt } = this;
    const completedAt = Math.max(toInstant(at), startedAt);
    return new ToolExecution({ id, call, attempt, startedAt, completedAt, outcome: checkedOutcome(outcome) });
  }

  /** The same call, tried once more. */
  withNextAttempt(at: Instant): ToolExecution {
    const { id, call, attempt } = this;
    return new ToolExecution({
      id,
      call,
      attempt: attempt + 1,
      startedAt: toInstant(at),
      completedAt: undefined,
      outcome: undefined,
    });
  }

  /** The result as the model reads it. */
  toResultPart(): ToolResultPart {
    const { toolCallId, toolName } = this.call;
    return Object.freeze({ type: 'tool-result', toolCallId, toolName, output: this.toOutput() });
  }

  private toOutput(): ToolOutput {
    const { outcome } = this;
    if (outcome === undefined) return errorOutput('The call was started and its outcome is unknown.');
    if (outcome.type === 'succeeded') return outcome.output ?? valueOutput(outcome.value);
    if (outcome.type === 'blocked' || outcome.type === 'denied') {
      return Object.freeze({ type: 'execution-denied', reason: outcome.error.message });
    }
    return errorOutput(outcome.error.message);
  }

  toJSON(): object {
    return this.toEnvelope(this.call, this.outcome);
  }

  /** The document with the call and the outcome in the form that a step gives them. @internal */
  toEnvelope(call: ToolCallPart | string, outcome: ToolOutcome | undefined): object {
    const { id, attempt, startedAt, completedAt } = this;
    const document: ToolExecutionDocument = { id, call, startedAt };
    if (attempt !== 1) document.attempt = attempt;
    if (completedAt !== undefined) document.completedAt = completedAt;
    if (outcome !== undefined) document.outcome = outcome;
    return document;
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): ToolExecution {
    return DocumentReader.read(json, (reader, value) => {
      const members = reader.members(value, TOOL_EXECUTION_NAMES);
      const call = reader.required(members, 'call', readToolCall);
      return ToolExecution.readEnvelope(
        reader,
        members,
        call,
        reader.optional(members, 'outcome', readOutcome),
      );
    });
  }

  /** @internal */
  static readEnvelope(
    reader: DocumentReader,
    members: Members,
    call: ToolCallPart,
    outcome: ToolOutcome | undefined,
  ): ToolExecution {
    const completedAt = reader.optional(members, 'completedAt', readInstant);
    if ((outcome === undefined) !== (completedAt === undefined)) {
      reader.fail('an outcome and completedAt together, or neither', members);
    }
    const attempt = reader.optional(members, 'attempt', readLaterAttempt) ?? 1;
    const startedAt = reader.required(members, 'startedAt', readInstant);
    if (completedAt !== undefined && completedAt < startedAt)
      reader.fail('completedAt not before startedAt', completedAt);
    const id = reader.required(members, 'id', ToolExecutionId.read);
    return new ToolExecution({ id, call, attempt, startedAt, completedAt, outcome });
  }
}

interface ToolExecutionDocument {
  id: ToolExecutionId;
  call: ToolCallPart | string;
  attempt?: number;
  startedAt: Instant;
  completedAt?: Instant;
  outcome?: ToolOutcome;
}

/** The members of a stored tool execution. @internal */
export const TOOL_EXECUTION_NAMES: ReadonlySet<string> = new Set([
  'id',
  'call',
  'attempt',
  'startedAt',
  'completedAt',
  'outcome',
]);

/** The usual way to show a value to a model: a text as it is, all else as JSON. @internal */
function valueOutput(value: JsonValue): ToolOutput {
  return Object.freeze(typeof value === 'string' ? { type: 'text', value } : { type: 'json', value });
}

/** A failure as a model reads it. @internal */
export function errorOutput(message: string): ToolOutput {
  return Object.freeze({ type: 'error-text', value: message });
}

const readLaterAttempt: Read<number> = (reader, value) => {
  const attempt = readCount(reader, value);
  return attempt > 1 ? attempt : reader.fail('an attempt after the first, or no number', value);
};

function checkedOutcome(outcome: ToolOutcome): ToolOutcome {
  if (outcome.type !== 'succeeded')
    return compact({ type: outcome.type, error: toErrorRecord(outcome.error) });
  const output = outcome.output && checked('output of a tool', outcome.output, readToolOutput);
  return compact({ type: outcome.type, value: toJsonValue(outcome.value), output }) as ToolOutcome;
}

const readOutcomeType = readOneOf(Object.keys(OUTCOME_RULES) as ToolOutcomeType[]);
const SUCCESS_NAMES = new Set(['type', 'value', 'output']);
const FAILURE_NAMES = new Set(['type', 'error']);

/** Reads an outcome. @internal */
export const readOutcome: Read<ToolOutcome> = (reader, value) => {
  const type = reader.required(reader.object(value), 'type', readOutcomeType);
  if (type !== 'succeeded') {
    const members = reader.members(value, FAILURE_NAMES);
    return Object.freeze({ type, error: reader.required(members, 'error', readErrorRecord) });
  }
  const members = reader.members(value, SUCCESS_NAMES);
  return compact({
    type,
    value: reader.required(members, 'value', readJson),
    output: reader.optional(members, 'output', readToolOutput),
  }) as ToolOutcome;
};
