import { checkedCopy } from '../../arguments.ts';
import { secondsBetween, toInstant, type Instant } from '../../clock.ts';
import { DocumentReader, isInstant, readInto, type Members } from '../../document.ts';
import { isEqualJson, isSameJson, toJsonValue, type JsonValue } from '../../json.ts';
import { addCounts } from '../values/amounts.ts';
import { draft, freeze } from '../values/copy.ts';
import type { ErrorRecord } from '../values/error-record.ts';
import { ToolExecutionId } from '../values/ids.ts';
import {
  checkedToolCall,
  readToolCall,
  type ToolCallPart,
  type ToolOutput,
  type ToolResultPart,
} from '../messages/messages.ts';
import {
  blocksIn,
  checkedOutcome,
  OUTCOME_RULES,
  readOutcome,
  type OutcomeRule,
  type ToolBlock,
  type ToolOutcome,
} from './tool-outcome.ts';
import { requireUsage, Usage } from '../inference/usage.ts';
import {
  isCommonDocument,
  requireConsistent,
  TOOL_EXECUTION,
  writeToolExecution,
  type ToolExecutionFields,
  type ToolExecutionInit,
} from './tool-execution-document.ts';
import { readAnswer, recordedAnswer, type Answer } from './answer.ts';
import { readDecision, requestedApproval, type Approval, type ApprovalDecision } from './approval.ts';
import { readWaitings, type Waiting } from '../values/waiting.ts';
import { NOTHING } from '../values/frozen-array.ts';

/**
 * How the loop handles one tool call: approval, start, attempts and outcome. The tool may have had its effect as soon
 * as `startedAt` is set.
 */
export class ToolExecution<Args extends JsonValue = JsonValue, Value extends JsonValue = JsonValue> {
  readonly id: ToolExecutionId;
  /** The call as the model wrote it, or as a hook changed it. */
  readonly call: ToolCallPart;
  /**
   * The arguments that an approval rule judged, that a person approves, and that the tool receives. `undefined` while
   * they are equal to `call.input`.
   */
  readonly checkedArgs: JsonValue | undefined;
  /** The number of the attempt, from 1. A retry, and a repetition after a crash, add 1. */
  readonly attempt: number;
  /** The approval; present when the call needs one. */
  readonly approval: Approval | undefined;
  /** The answer, for a tool without `execute`; absent before. */
  readonly answer: Answer | undefined;
  /** When the attempt started; absent before. */
  readonly startedAt: Instant | undefined;
  readonly completedAt: Instant | undefined;
  /** The outcome; absent until the call completes. */
  readonly outcome: ToolOutcome | undefined;
  /** The usage of the tool itself, such as the inference of a subagent. It counts in the totals of the execution. */
  readonly usage: Usage;
  /**
   * JSON that the tool saves for its next attempt: after an error, or after a crash if the tool is resumable, as a
   * subagent is. Other calls that a crash interrupted are not repeated with it.
   */
  readonly progress: JsonValue | undefined;
  /**
   * The events that the running call waits for, such as its answer or an approval of a call of a subagent. The loop
   * sets them, and resumes the call when one of the events has occurred. Empty for any other call.
   */
  readonly waitingInside: readonly Waiting[];

  /** The caller freezes the new object. */
  private constructor(fields: ToolExecutionInit) {
    this.id = fields.id;
    this.call = fields.call;
    this.checkedArgs = fields.checkedArgs;
    this.attempt = fields.attempt ?? 1;
    this.approval = fields.approval;
    this.answer = fields.answer;
    this.startedAt = fields.startedAt;
    this.completedAt = fields.completedAt;
    this.outcome = fields.outcome;
    this.usage = fields.usage ?? Usage.none;
    this.progress = fields.progress;
    this.waitingInside = fields.waitingInside ?? NOTHING;
  }

  private with(changes: Partial<ToolExecutionFields>): ToolExecution {
    return freeze(Object.assign(new ToolExecution(this), changes));
  }

  /**
   * Creates the execution of a call that is not started. @throws HoldfastError `CONTEXT_INVALID` for an invalid call.
   */
  static create(call: ToolCallPart, id: ToolExecutionId = ToolExecutionId.create()): ToolExecution {
    return ToolExecution.ofChecked(checkedToolCall(call), undefined, ToolExecutionId.parse(id));
  }

  /** Creates the execution of a started call. @throws HoldfastError `CONTEXT_INVALID` for an invalid call. */
  static start(
    call: ToolCallPart,
    at: Instant,
    id: ToolExecutionId = ToolExecutionId.create(),
  ): ToolExecution {
    return ToolExecution.ofChecked(checkedToolCall(call), toInstant(at), ToolExecutionId.parse(id));
  }

  /** Creates the execution of a call that is valid already. @internal */
  static ofChecked(call: ToolCallPart, startedAt: Instant | undefined, id: ToolExecutionId): ToolExecution {
    return freeze(new ToolExecution({ id, call, startedAt }));
  }

  /** The name of the tool. */
  get name(): string {
    return this.call.toolName;
  }

  /** The arguments that the tool receives: `checkedArgs`, or those of the call. */
  get args(): Args {
    const args = this.checkedArgs === undefined ? this.call.input : this.checkedArgs;
    return args as Args; // `isExecutionOf` narrows the type
  }

  /** The value that the tool returned; `undefined` unless the call succeeded. */
  get value(): Value | undefined {
    return this.outcome?.type === 'succeeded' ? (this.outcome.value as Value) : undefined;
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

  /** The hooks that blocked the call, in the order of their calls; empty unless the call is blocked. */
  get blockedBy(): readonly ToolBlock[] {
    return this.outcome?.type === 'blocked' ? blocksIn(this.outcome.error) : NOTHING;
  }

  /** True when the call is started and has no outcome. */
  get isRunning(): boolean {
    return this.startedAt !== undefined && this.outcome === undefined;
  }

  /** True while the decision on the call is pending. */
  get isAwaitingApproval(): boolean {
    return this.approval !== undefined && this.approval.decision === undefined && this.outcome === undefined;
  }

  /** True while the call, of a tool without `execute`, waits for its answer. */
  get isAwaitingAnswer(): boolean {
    const [waiting] = this.waitingInside;
    return waiting?.type === 'answer' && waiting.toolExecutionId === this.id;
  }

  /** True when the call is approved and not started since. */
  get isApproved(): boolean {
    return this.startedAt === undefined && this.outcome === undefined && this.hasApproval;
  }

  /** True when a person has approved the latest request. The arguments then stay as they were approved. */
  get hasApproval(): boolean {
    return this.approval?.decision?.type === 'approved';
  }

  /**
   * The key that identifies the call to an outside service, so that repeated attempts have one effect. It is the same
   * for every attempt.
   */
  get idempotencyKey(): string {
    return this.id;
  }

  /** Seconds from start to end; 0 while the call runs, and for a call that was never started. */
  get duration(): number {
    const { startedAt, completedAt } = this;
    return startedAt === undefined || completedAt === undefined ? 0 : secondsBetween(startedAt, completedAt);
  }

  /** The rule of the outcome; `undefined` without an outcome. */
  get rule(): OutcomeRule | undefined {
    return this.outcome && OUTCOME_RULES[this.outcome.type];
  }

  /**
   * Returns the execution with an approval requested; `this` when it was requested before. After the call was started
   * and interrupted, a new approval is requested, which has the next request number.
   */
  withApprovalRequested(at: Instant): ToolExecution {
    if (this.isAwaitingApproval || (this.approval !== undefined && !this.isRunning)) return this;
    return this.with({ approval: requestedApproval(toInstant(at), this.approval) });
  }

  /**
   * Returns the execution with a new request for approval, which replaces a pending one: the arguments are not those
   * of the pending request.
   */
  withApprovalRequestedFor(args: JsonValue, at: Instant): ToolExecution {
    return this.withEditedArgs(args).with({ approval: requestedApproval(toInstant(at), this.approval) });
  }

  /**
   * Returns the execution with the arguments that the tool will receive; `undefined` for those of the call. Returns `this`
   * once an approval was requested, because a person decides on the arguments of the request.
   * @throws HoldfastError `NOT_JSON` for a value that JSON cannot hold.
   */
  withCheckedArgs(args: JsonValue | undefined): ToolExecution {
    return this.approval === undefined ? this.withEditedArgs(args) : this;
  }

  /** Returns the execution with the arguments that a person typed. @internal */
  withEditedArgs(args: JsonValue | undefined): ToolExecution {
    const json = args === undefined ? undefined : toJsonValue(args);
    const checkedArgs = json === undefined || isEqualJson(json, this.call.input) ? undefined : json;
    return isSameJson(checkedArgs, this.checkedArgs) ? this : this.with({ checkedArgs });
  }

  /**
   * Returns the execution with the decision, or `this` when no decision is pending. An approval can replace the call. If
   * the call was started before, an approval permits another attempt. A denial completes the call.
   * @throws HoldfastError `CONTEXT_INVALID` for an invalid decision.
   */
  withDecision(decision: ApprovalDecision, call: ToolCallPart = this.call): ToolExecution {
    if (!this.isAwaitingApproval) return this;
    const checkedDecision = checkedCopy('decision', decision, readDecision);
    const approval = Object.freeze({ ...(this.approval as Approval), decision: checkedDecision });
    if (checkedDecision.type === 'approved') {
      const attempt = this.isRunning ? this.attempt + 1 : this.attempt;
      const again = { attempt, startedAt: undefined, waitingInside: NOTHING };
      return this.with({ approval, call: checkedToolCall(call), ...again });
    }
    const reason = checkedDecision.reason ?? 'The call was denied.';
    const message = this.isRunning ? `${reason} ${UNKNOWN_OUTCOME}` : reason;
    const error = { name: 'Error', code: 'TOOL_DENIED', message };
    return this.with({ approval }).withOutcome({ type: 'denied', error }, checkedDecision.at);
  }

  /**
   * Returns the execution with its answer, or `this` when it waits for none. The loop then records the outcome.
   * @throws HoldfastError `CONTEXT_INVALID` for an invalid answer. @internal
   */
  withAnswer(answer: Answer): ToolExecution {
    if (!this.isAwaitingAnswer) return this;
    return this.with({ answer: checkedCopy('answer', answer, readAnswer), waitingInside: NOTHING });
  }

  /** Returns the execution with another valid call. @internal */
  forCall(call: ToolCallPart): ToolExecution {
    return call === this.call ? this : this.with({ call });
  }

  /**
   * Returns the execution with the call started, or `this` when it was started before. The tool may now have its
   * effect.
   */
  withStarted(at: Instant): ToolExecution {
    if (this.startedAt !== undefined) return this;
    const next = new ToolExecution(this);
    draft(next).startedAt = toInstant(at);
    return freeze(next);
  }

  /**
   * Returns the execution with its outcome, whose value is converted to JSON.
   * @throws HoldfastError `NOT_JSON` for a value that JSON cannot hold, `CONTEXT_INVALID` for an invalid output,
   * RangeError or TypeError `ARGUMENT_INVALID` for an unknown type of outcome.
   */
  withOutcome(outcome: ToolOutcome, at: Instant): ToolExecution {
    return this.withCheckedOutcome(checkedOutcome(outcome), at);
  }

  /** As `withOutcome`, for a valid outcome. @internal */
  withCheckedOutcome(outcome: ToolOutcome, at: Instant): ToolExecution {
    const completedAt = Math.max(toInstant(at), this.startedAt ?? 0);
    const startedAt = this.startedAt ?? (OUTCOME_RULES[outcome.type].needsStart ? completedAt : undefined);
    const next = new ToolExecution(this);
    draft(next).startedAt = startedAt;
    draft(next).completedAt = completedAt;
    draft(next).outcome = outcome;
    if (this.answer) draft(next).answer = recordedAnswer(this.answer);
    draft(next).waitingInside = NOTHING;
    return freeze(next);
  }

  /** Returns the execution with added usage of the tool itself. */
  withUsage(usage: Usage): ToolExecution {
    requireUsage(usage);
    return usage === Usage.none ? this : this.with({ usage: this.usage.plus(usage) });
  }

  /** Returns the execution with progress that is valid JSON and new, or without progress. @internal */
  withNewProgress(progress: JsonValue | undefined): ToolExecution {
    return this.with({ progress });
  }

  /** Returns the execution with the events that its running call waits for; an empty list removes them. @internal */
  withWaitingInside(waiting: readonly Waiting[]): ToolExecution {
    const isNone = waiting.length === 0 || !this.isRunning;
    if (isNone && this.waitingInside.length === 0) return this;
    return this.with({
      waitingInside: isNone ? NOTHING : checkedCopy('waiting list', waiting, readWaitings),
    });
  }

  /** Returns the execution with saved progress. @throws HoldfastError `NOT_JSON` for a value that is not JSON. */
  withProgress(progress: JsonValue): ToolExecution {
    const json = toJsonValue(progress);
    return isSameJson(json, this.progress) ? this : this.with({ progress: json });
  }

  /** Returns the execution with the next attempt started. Approval, usage and progress stay. */
  withNextAttempt(at: Instant): ToolExecution {
    const attempt = addCounts(this.attempt, 1);
    const begun = { startedAt: toInstant(at), completedAt: undefined, outcome: undefined };
    return this.with({ attempt, ...begun, waitingInside: NOTHING });
  }

  /** Returns the tool result, which the model reads. */
  toResultPart(): ToolResultPart {
    return resultPart(this.call, this.toOutput());
  }

  private toOutput(): ToolOutput {
    const { outcome } = this;
    if (outcome === undefined)
      return errorOutput(this.startedAt === undefined ? NOT_STARTED : UNKNOWN_OUTCOME);
    if (outcome.type === 'succeeded') return outcome.modelOutput ?? valueOutput(outcome.value);
    if (outcome.type === 'blocked' || outcome.type === 'denied') {
      return Object.freeze({ type: 'execution-denied', reason: outcome.error.message });
    }
    return errorOutput(outcome.error.message);
  }

  toJSON(): object {
    return writeToolExecution(this, { call: this.call }, this.outcome);
  }

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): ToolExecution {
    return DocumentReader.read(json, (reader, value) => {
      const members = reader.members(value, TOOL_EXECUTION.members);
      const call = reader.required(members, 'call', readToolCall);
      return ToolExecution.decode(reader, members, call, reader.optional(members, 'outcome', readOutcome));
    });
  }

  /** Reads the rest of a document whose call and outcome are read already. @internal */
  static decode(
    reader: DocumentReader,
    members: Members,
    call: ToolCallPart,
    outcome: ToolOutcome | undefined,
  ): ToolExecution {
    const { id, startedAt, completedAt } = members;
    const read = new ToolExecution({
      id: ToolExecutionId.is(id) ? id : reader.required(members, 'id', ToolExecutionId.read),
      call,
      startedAt: isInstant(startedAt) ? startedAt : undefined,
      completedAt: isInstant(completedAt) ? completedAt : undefined,
      outcome,
    });
    if (!isCommonDocument(members, read)) readInto(reader, members, TOOL_EXECUTION, read);
    requireConsistent(reader, members, read);
    return freeze(read);
  }
}

const NOT_STARTED = 'The call was not started.';
const UNKNOWN_OUTCOME = 'The call was started and its outcome is unknown.';

/** Returns the default model output of a value: a text as it is, any other value as JSON. */
function valueOutput(value: JsonValue): ToolOutput {
  return Object.freeze(typeof value === 'string' ? { type: 'text', value } : { type: 'json', value });
}

/** Returns the model output of a failure. */
export function errorOutput(message: string): ToolOutput {
  return Object.freeze({ type: 'error-text', value: message });
}

/** Returns the tool result of a call. It has the provider options of the call, because some providers require them. */
export function resultPart(
  { toolCallId, toolName, providerOptions }: ToolCallPart,
  output: ToolOutput,
): ToolResultPart {
  if (providerOptions === undefined)
    return Object.freeze({ type: 'tool-result', toolCallId, toolName, output });
  return Object.freeze({ type: 'tool-result', toolCallId, toolName, output, providerOptions });
}
