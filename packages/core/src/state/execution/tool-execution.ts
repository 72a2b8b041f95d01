import type { Instant } from '../../clock.ts';
import { secondsBetween, toInstant } from '../../clock.ts';
import type { Members } from '../../document.ts';
import type { JsonValue } from '../../json.ts';
import { checkedCopy, DocumentReader } from '../../document.ts';
import { isSameJson, toJsonValue } from '../../json.ts';
import { addCounts } from '../values/amounts.ts';
import { draft, freeze } from '../values/copy.ts';
import type { ErrorRecord } from '../values/error-record.ts';
import { ToolExecutionId } from '../values/ids.ts';
import type { ToolCallPart, ToolOutput, ToolResultPart } from '../messages/messages.ts';
import { checkedToolCall, readToolCall } from '../messages/messages.ts';
import type { OutcomeRule, ToolBlock, ToolOutcome } from './tool-outcome.ts';
import { blocksIn, checkedOutcome, OUTCOME_RULES, readOutcome } from './tool-outcome.ts';
import { requireUsage, Usage } from '../inference/usage.ts';
import type { ToolExecutionFields, ToolExecutionInit } from '../documents/tool-execution-document.ts';
import {
  readToolExecution,
  TOOL_EXECUTION_NAMES,
  writeToolExecution,
} from '../documents/tool-execution-document.ts';
import type { Approval, ApprovalDecision } from './approval.ts';
import { readDecision } from './approval.ts';
import type { Waiting } from './waiting.ts';
import { readWaitings } from './waiting.ts';

const NOTHING: readonly never[] = Object.freeze([]);

/**
 * One tool call as it is carried out: intended, perhaps approved, started, ended. Once `startedAt` is set the tool
 * may have had its effect.
 */
export class ToolExecution<Args extends JsonValue = JsonValue, Value extends JsonValue = JsonValue> {
  readonly id: ToolExecutionId;
  readonly call: ToolCallPart;
  /** 1 for the first try, one more for each that follows a crash or a retry. */
  readonly attempt: number;
  /** Present when the call needs a person's approval. */
  readonly approval: Approval | undefined;
  /** Absent while nothing was begun. */
  readonly startedAt: Instant | undefined;
  readonly completedAt: Instant | undefined;
  /** Absent until it has ended. */
  readonly outcome: ToolOutcome | undefined;
  /** What the tool itself used, such as the inference of a subagent. Counts in the totals of the execution. */
  readonly usage: Usage;
  /**
   * What the tool wants to find at its next try: another try after an error, or, of a resumable tool such as a subagent,
   * a call taken up after a crash. Other calls that a crash has interrupted are not tried again.
   */
  readonly progress: JsonValue | undefined;
  /**
   * What the running call waits for, as a subagent does whose own tool needs approval. The loop sets it and lets the call
   * be until something of it has come. Empty for any other call.
   */
  readonly waitingInside: readonly Waiting[];

  /** Not frozen yet. */
  private constructor(fields: ToolExecutionInit) {
    this.id = fields.id;
    this.call = fields.call;
    this.attempt = fields.attempt ?? 1;
    this.approval = fields.approval;
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

  /** A call that nothing was done for. @throws HoldfastError `CONTEXT_INVALID` when it is not a call. */
  static create(call: ToolCallPart, id: ToolExecutionId = ToolExecutionId.create()): ToolExecution {
    return ToolExecution.ofChecked(checkedToolCall(call), undefined, ToolExecutionId.parse(id));
  }

  /** A call about to run. @throws HoldfastError `CONTEXT_INVALID` when it is not a call. */
  static start(
    call: ToolCallPart,
    at: Instant,
    id: ToolExecutionId = ToolExecutionId.create(),
  ): ToolExecution {
    return ToolExecution.ofChecked(checkedToolCall(call), toInstant(at), ToolExecutionId.parse(id));
  }

  /** For a call that was made or checked here. @internal */
  static ofChecked(call: ToolCallPart, startedAt: Instant | undefined, id: ToolExecutionId): ToolExecution {
    return freeze(new ToolExecution({ id, call, startedAt }));
  }

  /** The tool's name. */
  get name(): string {
    return this.call.toolName;
  }

  /** What the tool was called with. */
  get args(): Args {
    return this.call.input as Args; // `isExecutionOf` says which type that is
  }

  /** What the tool returned; `undefined` unless it succeeded. */
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

  /** The hooks that forbade it, in the order in which they were called; empty unless it was blocked. */
  get blockedBy(): readonly ToolBlock[] {
    return this.outcome?.type === 'blocked' ? blocksIn(this.outcome.error) : NOTHING;
  }

  /** True when it was started and no outcome is known. */
  get isRunning(): boolean {
    return this.startedAt !== undefined && this.outcome === undefined;
  }

  /** True while a person has yet to decide on it. */
  get isAwaitingApproval(): boolean {
    return this.approval !== undefined && this.approval.decision === undefined && this.outcome === undefined;
  }

  /** True when a person has approved it and nothing was begun since. */
  get isApproved(): boolean {
    return (
      this.startedAt === undefined &&
      this.outcome === undefined &&
      this.approval?.decision?.type === 'approved'
    );
  }

  /** The key to hand to an outside service, so that a repeated call has one effect. The same for every attempt. */
  get idempotencyKey(): string {
    return this.id;
  }

  /** Seconds from start to end; 0 while it runs, and when it was never started. */
  get duration(): number {
    const { startedAt, completedAt } = this;
    return startedAt === undefined || completedAt === undefined ? 0 : secondsBetween(startedAt, completedAt);
  }

  /** What the outcome means; `undefined` while there is none. */
  get rule(): OutcomeRule | undefined {
    return this.outcome && OUTCOME_RULES[this.outcome.type];
  }

  /**
   * The same, waiting for a person. `this` when it was asked for already; of one that was started since, and left, it is
   * asked again.
   */
  withApprovalRequested(at: Instant): ToolExecution {
    if (this.isAwaitingApproval || (this.approval !== undefined && !this.isRunning)) return this;
    return this.with({ approval: Object.freeze({ requestedAt: toInstant(at) }) });
  }

  /**
   * The same with the decision, which is made once: `this` when there is one. An approval may come with other
   * arguments than the model gave; a call that was started before is to be tried once more. A denial ends the call.
   * @throws HoldfastError `CONTEXT_INVALID` for a decision that is none.
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

  /** The same with another call, which was checked. @internal */
  forCall(call: ToolCallPart): ToolExecution {
    return call === this.call ? this : this.with({ call });
  }

  /** The same, begun: from here on the tool may have had its effect. `this` when it was begun before. */
  withStarted(at: Instant): ToolExecution {
    if (this.startedAt !== undefined) return this;
    const next = new ToolExecution(this);
    draft(next).startedAt = toInstant(at);
    return freeze(next);
  }

  /**
   * The same with its end; the value is turned into JSON.
   * @throws HoldfastError `NOT_JSON` for a value that cannot be JSON, `CONTEXT_INVALID` for an output that is none,
   * RangeError or TypeError `ARGUMENT_INVALID` for another kind of end.
   */
  withOutcome(outcome: ToolOutcome, at: Instant): ToolExecution {
    return this.withCheckedOutcome(checkedOutcome(outcome), at);
  }

  /** The same for an outcome that was made here. @internal */
  withCheckedOutcome(outcome: ToolOutcome, at: Instant): ToolExecution {
    const completedAt = Math.max(toInstant(at), this.startedAt ?? 0);
    const startedAt = this.startedAt ?? (OUTCOME_RULES[outcome.type].needsStart ? completedAt : undefined);
    const next = new ToolExecution(this);
    draft(next).startedAt = startedAt;
    draft(next).completedAt = completedAt;
    draft(next).outcome = outcome;
    draft(next).waitingInside = NOTHING;
    return freeze(next);
  }

  /** The same with more used by the tool itself. */
  withUsage(usage: Usage): ToolExecution {
    requireUsage(usage);
    return usage === Usage.none ? this : this.with({ usage: this.usage.plus(usage) });
  }

  /** The same with progress that is known to be JSON and another than before, or with none. @internal */
  withNewProgress(progress: JsonValue | undefined): ToolExecution {
    return this.with({ progress });
  }

  /** The same, waiting for something while it runs; for nothing any more when the list is empty. @internal */
  withWaitingInside(waiting: readonly Waiting[]): ToolExecution {
    const isNone = waiting.length === 0 || !this.isRunning;
    if (isNone && this.waitingInside.length === 0) return this;
    return this.with({ waitingInside: isNone ? NOTHING : checkedCopy('waiting', waiting, readWaitings) });
  }

  /** The same with what the tool wants to find again. @throws HoldfastError `NOT_JSON` when it is not JSON. */
  withProgress(progress: JsonValue): ToolExecution {
    const json = toJsonValue(progress);
    return isSameJson(json, this.progress) ? this : this.with({ progress: json });
  }

  /** The same call, tried once more. What was approved, used and kept stays. */
  withNextAttempt(at: Instant): ToolExecution {
    const attempt = addCounts(this.attempt, 1);
    const begun = { startedAt: toInstant(at), completedAt: undefined, outcome: undefined };
    return this.with({ attempt, ...begun, waitingInside: NOTHING });
  }

  /** The result as the model reads it. */
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

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): ToolExecution {
    return DocumentReader.read(json, (reader, value) => {
      const members = reader.members(value, TOOL_EXECUTION_NAMES);
      const call = reader.required(members, 'call', readToolCall);
      return ToolExecution.decode(reader, members, call, reader.optional(members, 'outcome', readOutcome));
    });
  }

  /** The rest of a document whose call and outcome were read. @internal */
  static decode(
    reader: DocumentReader,
    members: Members,
    call: ToolCallPart,
    outcome: ToolOutcome | undefined,
  ): ToolExecution {
    return freeze(new ToolExecution(readToolExecution(reader, members, call, outcome)));
  }
}

const NOT_STARTED = 'The call was not started.';
const UNKNOWN_OUTCOME = 'The call was started and its outcome is unknown.';

/** The usual way to show a value to a model: a text as it is, all else as JSON. */
function valueOutput(value: JsonValue): ToolOutput {
  return Object.freeze(typeof value === 'string' ? { type: 'text', value } : { type: 'json', value });
}

/** A failure as a model reads it. */
export function errorOutput(message: string): ToolOutput {
  return Object.freeze({ type: 'error-text', value: message });
}

/** The result of a call, with what the provider attached to the call: some providers need it back on the result. */
export function resultPart(
  { toolCallId, toolName, providerOptions }: ToolCallPart,
  output: ToolOutput,
): ToolResultPart {
  if (providerOptions === undefined)
    return Object.freeze({ type: 'tool-result', toolCallId, toolName, output });
  return Object.freeze({ type: 'tool-result', toolCallId, toolName, output, providerOptions });
}
