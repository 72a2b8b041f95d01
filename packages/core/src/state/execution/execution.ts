import { mustBe, optionsCheck } from '../../arguments.ts';
import type { Instant } from '../../clock.ts';
import { secondsBetween, systemClock, toInstant } from '../../clock.ts';
import { invalidArgument } from '../../errors.ts';
import { checkedCopy, DocumentReader } from '../../document.ts';
import { isSameJson } from '../../json.ts';
import { addSeconds } from '../values/amounts.ts';
import { Continuation, requireContinuation } from './continuation.ts';
import type { StopSignal } from './continuation.ts';
import { draft, freeze } from '../values/copy.ts';
import type { ErrorRecord } from '../values/error-record.ts';
import type { ExecutionFallback } from '../inference/fallback.ts';
import { isUnresolved, resolvedErrors, toErrorRecord } from '../values/error-record.ts';
import { some } from '../values/frozen-array.ts';
import { ExecutionId } from '../values/ids.ts';
import { requireUsage, Usage } from '../inference/usage.ts';
import { List } from '../values/list.ts';
import type { LlmConfig } from '../llm-config.ts';
import { MessageStore } from '../messages/message-store.ts';
import { StepExecution } from './step-execution.ts';
import { StepIds } from '../documents/step-ids.ts';
import type { AgentStep } from './step.ts';
import { requireStep } from './step.ts';
import type { ExecutionFields, ExecutionInit } from '../documents/execution-document.ts';
import { readExecution, writeExecution } from '../documents/execution-document.ts';
import type { ExecutionStatus } from './status.ts';
import { isTerminal, readStatus } from './status.ts';
import type { Waiting } from './waiting.ts';
import { readWaitings } from './waiting.ts';

const WAITING_FOR_INPUT: readonly Waiting[] = Object.freeze([Object.freeze({ type: 'input' })]);
const NOTHING: readonly never[] = Object.freeze([]);

const checkCreateOptions = optionsCheck<NonNullable<Parameters<typeof ExecutionState.create>[0]>>(
  'ExecutionState.create',
  { id: mustBe.anything, at: mustBe.anything },
  { executionId: 'write "id"' },
);

/** One run of an agent. */
export class ExecutionState {
  readonly executionId: ExecutionId;
  readonly status: ExecutionStatus;
  readonly startedAt: Instant;
  /** Set in a terminal status, and only there. */
  readonly completedAt: Instant | undefined;
  /** Finished steps. */
  readonly stepExecutions: List<StepExecution>;
  /** The step in progress; an execution that is over has none. */
  readonly currentStep: AgentStep | undefined;
  readonly currentStepStartedAt: Instant | undefined;
  /**
   * The settings that its steps were sent with, unless their `request` has others: those that the state had, where they
   * were changed since. `undefined`: those of the state.
   */
  readonly llmConfig: LlmConfig | undefined;
  readonly continuation: Continuation;
  /** Errors outside any step. */
  readonly errors: readonly ErrorRecord[];
  /** Seconds really worked: neither waiting nor dead. */
  readonly workedSeconds: number;
  /** All that it waits for: something when it is suspended, and only then. */
  readonly waiting: readonly Waiting[];
  /** The sum over the finished steps. Follows from them; kept so that a budget check costs the same at every step. */
  readonly finishedUsage: Usage;
  /** What was used outside any step, such as for a summary. */
  readonly otherUsage: Usage;

  /** The model that is called instead of the agent's own for a while, after that one failed. */
  readonly fallback: ExecutionFallback | undefined;

  /** Not frozen yet. */
  private constructor(fields: ExecutionInit) {
    this.executionId = fields.executionId;
    this.status = fields.status;
    this.startedAt = fields.startedAt;
    this.completedAt = fields.completedAt;
    this.stepExecutions = fields.stepExecutions ?? List.empty();
    this.currentStep = fields.currentStep;
    this.currentStepStartedAt = fields.currentStepStartedAt;
    this.llmConfig = fields.llmConfig;
    this.continuation = fields.continuation ?? Continuation.empty;
    this.errors = fields.errors ?? NOTHING;
    this.workedSeconds = fields.workedSeconds ?? 0;
    this.waiting = fields.waiting ?? NOTHING;
    this.finishedUsage = fields.finishedUsage ?? Usage.none;
    this.otherUsage = fields.otherUsage ?? Usage.none;
    this.fallback = fields.fallback;
  }

  private with(changes: Partial<ExecutionFields>): ExecutionState {
    return freeze(Object.assign(new ExecutionState(this), changes));
  }

  /** A pending execution with nothing done. @throws HoldfastError `ID_INVALID` for an id that is not a UUID. */
  static create(
    options: { readonly id?: ExecutionId | undefined; readonly at?: Instant } = {},
  ): ExecutionState {
    checkCreateOptions(options);
    const fresh = new ExecutionState({
      executionId: options.id === undefined ? ExecutionId.create() : ExecutionId.parse(options.id),
      status: 'pending',
      startedAt: toInstant(options.at ?? systemClock.now()),
    });
    return freeze(fresh);
  }

  get isTerminal(): boolean {
    return isTerminal(this.status);
  }

  /** Finished steps and the current one: what a step limit counts. */
  get stepCount(): number {
    return this.stepExecutions.length + (this.currentStep ? 1 : 0);
  }

  /** What was used so far, the current step included. */
  get usage(): Usage {
    const finished = this.finishedUsage.plus(this.otherUsage);
    return this.currentStep ? finished.plus(this.currentStep.usage) : finished;
  }

  get lastStepExecution(): StepExecution | undefined {
    return this.stepExecutions.last;
  }

  /** The current step, else the last one. */
  get latestStep(): AgentStep | undefined {
    return this.currentStep ?? this.lastStepExecution?.step;
  }

  /** Did the latest step ask for tools? */
  get hasToolCalls(): boolean {
    return this.latestStep?.hasToolCalls ?? false;
  }

  /** Stop or go on? Before the first step only signals stop. */
  get shouldStop(): boolean {
    return this.continuation.shouldStop(this.latestStep === undefined || this.hasToolCalls);
  }

  /** The same decision in words. */
  get explanation(): string {
    const isUntouched = this.latestStep === undefined && this.continuation === Continuation.empty;
    return isUntouched ? 'go on: no step yet' : this.continuation.explain(this.hasToolCalls);
  }

  /** All errors, in order: of the finished steps, the current one, and outside any step. */
  get allErrors(): readonly ErrorRecord[] {
    const inSteps = this.stepExecutions.toArray().flatMap(({ step }) => step.allErrors);
    return [...inSteps, ...(this.currentStep?.allErrors ?? NOTHING), ...this.errors];
  }

  /** Seconds by the clock on the wall, until the end or until `now`. */
  duration(now: Instant = systemClock.now()): number {
    return Math.max(0, secondsBetween(this.startedAt, this.completedAt ?? now));
  }

  /** Is there an error, outside any step or in the latest one, that `retry()` has not answered? */
  get hasUnresolvedErrors(): boolean {
    return some(this.errors, isUnresolved) || some(this.latestStep?.errors ?? NOTHING, isUnresolved);
  }

  /** The status that the execution ends in, by the first rule that fits. */
  get terminalStatus(): ExecutionStatus {
    if (this.hasUnresolvedErrors || this.continuation.highest?.reason === 'errorForbade') return 'failed';
    return this.continuation.wasForceStopped ? 'stopped' : 'completed';
  }

  /**
   * The same with a status; times and waiting follow from it. Suspended without a word, it waits for input.
   * @throws RangeError `ARGUMENT_INVALID` for a terminal status while a step is open: the transitions of `AgentState`
   * close it, as its messages belong to the conversation.
   */
  withStatus(
    status: ExecutionStatus,
    at: Instant,
    waitingFor: readonly Waiting[] = WAITING_FOR_INPUT,
  ): ExecutionState {
    checkedCopy('status', status, readStatus);
    if (isTerminal(status) && this.currentStep) throw invalidArgument(OPEN_AT_THE_END);
    const waiting = status === 'suspended' ? checkedCopy('waiting', waitingFor, readWaitings) : NOTHING;
    if (status === this.status && isSameJson(waiting, this.waiting)) return this;
    const completedAt = isTerminal(status) ? Math.max(toInstant(at), this.startedAt) : undefined;
    const begins = status === 'inProgress' && this.status === 'pending' && this.stepCount === 0;
    const startedAt = begins ? toInstant(at) : this.startedAt;
    return this.with({ status, startedAt, completedAt, waiting });
  }

  /**
   * The same with the step in progress. Beginning a new step clears the continuation flag.
   * @throws RangeError `ARGUMENT_INVALID` for a step with an id that a finished one has, or whose tool executions have
   * one; for another step than the one that is open; and when the execution is over.
   */
  withCurrentStep(step: AgentStep, at: Instant): ExecutionState {
    requireStep(step);
    this.requireNewIds(step);
    return this.withNewStep(step, at);
  }

  /** The same for a step whose ids no other has, by the way they were made. @internal */
  withNewStep(step: AgentStep, at: Instant): ExecutionState {
    if (step === this.currentStep) return this;
    const isNew = step.id !== this.currentStep?.id;
    if (isNew) this.requireNoOpenStep();
    const next = new ExecutionState(this);
    draft(next).currentStep = step;
    if (!isNew) return freeze(next);
    draft(next).continuation = this.continuation.withStepBegun();
    draft(next).currentStepStartedAt = toInstant(at);
    return freeze(next);
  }

  /** The same with a step, the current one in its last form, among the finished ones. @throws as `withCurrentStep`. */
  withStepCompleted(step: AgentStep, at: Instant, workedSeconds = 0): ExecutionState {
    requireStep(step);
    this.requireNewIds(step);
    if (this.currentStep && this.currentStep.id !== step.id) throw invalidArgument(OTHER_STEP_OPEN);
    const { continuation, currentStepStartedAt: startedAt = at } = this;
    const finished = StepExecution.of({ step, continuation, startedAt, completedAt: at });
    const next = new ExecutionState(this);
    draft(next).stepExecutions = StepIds.append(this.stepExecutions, finished);
    draft(next).workedSeconds = addSeconds(this.workedSeconds, workedSeconds);
    draft(next).finishedUsage = this.finishedUsage.plus(step.usage);
    draft(next).currentStep = undefined;
    draft(next).currentStepStartedAt = undefined;
    return freeze(next);
  }

  /** The same with the last finished step in another form. @internal */
  withLastStep(step: AgentStep): ExecutionState {
    const { lastStepExecution } = this;
    if (lastStepExecution === undefined) return this;
    const { continuation, startedAt, completedAt } = lastStepExecution;
    const last = StepExecution.of({ step, continuation, startedAt, completedAt });
    const stepExecutions = List.from(this.stepExecutions.slice(0, -1)).append(last);
    return this.with({ stepExecutions, finishedUsage: Usage.sumOf(stepExecutions) });
  }

  private requireNoOpenStep(): void {
    if (this.currentStep) throw invalidArgument(OTHER_STEP_OPEN);
    if (this.isTerminal) throw invalidArgument(IS_OVER);
  }

  private requireNewIds(step: AgentStep): void {
    const { currentStep } = this;
    StepIds.requireNew(this.stepExecutions, step, currentStep?.id === step.id ? currentStep : undefined);
  }

  withContinuation(continuation: Continuation): ExecutionState {
    requireContinuation(continuation);
    return continuation === this.continuation ? this : this.with({ continuation });
  }

  withStopSignal(signal: StopSignal): ExecutionState {
    return this.withContinuation(this.continuation.withSignal(signal));
  }

  /** The same with an error: in the current step when there is one. */
  withError(error: ErrorRecord): ExecutionState {
    if (this.currentStep) return this.with({ currentStep: this.currentStep.withError(error) });
    return this.with({ errors: Object.freeze([...this.errors, toErrorRecord(error)]) });
  }

  /** The same, its steps sent with these settings; `undefined`: with those of the state. @internal */
  withLlmConfig(llmConfig: LlmConfig | undefined): ExecutionState {
    return llmConfig === this.llmConfig ? this : this.with({ llmConfig });
  }

  /**
   * The same execution in progress again, after it failed: its errors are marked as resolved, and another step is requested.
   * @internal
   */
  reopened(at: Instant): ExecutionState {
    const { lastStepExecution } = this;
    const resolved = lastStepExecution
      ? this.withLastStep(lastStepExecution.step.withErrorsResolved(at))
      : this;
    return resolved.with({
      status: 'inProgress',
      completedAt: undefined,
      errors: resolvedErrors(this.errors, at),
      continuation: this.continuation.withoutReason('errorForbade').withRequested(),
    });
  }

  /** The same with a fallback model in use; `undefined`: with the agent's own model. @internal */
  withFallback(fallback: ExecutionFallback | undefined): ExecutionState {
    return fallback === this.fallback ? this : this.with({ fallback });
  }

  /** The same with more used outside any step. */
  withOtherUsage(usage: Usage): ExecutionState {
    requireUsage(usage);
    return usage === Usage.none ? this : this.with({ otherUsage: this.otherUsage.plus(usage) });
  }

  /**
   * The same with more time worked, in seconds; less than none is none.
   * @throws RangeError `ARGUMENT_INVALID` for what is not a finite number.
   */
  withTimeWorked(seconds: number): ExecutionState {
    const workedSeconds = addSeconds(this.workedSeconds, seconds);
    return workedSeconds === this.workedSeconds ? this : this.with({ workedSeconds });
  }

  toJSON(): object {
    return writeExecution(this, MessageStore.empty);
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): ExecutionState {
    return DocumentReader.read(json, (reader, value) =>
      ExecutionState.decode(reader, value, MessageStore.empty),
    );
  }

  /** @internal */
  static decode(reader: DocumentReader, value: unknown, store: MessageStore): ExecutionState {
    return freeze(new ExecutionState(readExecution(reader, value, store)));
  }
}

const OPEN_AT_THE_END =
  'An execution does not end while a step is open. End it by a transition of AgentState, which closes the step.';
const OTHER_STEP_OPEN =
  'Another step is open. Close it first, by withCurrentStepCompleted(), or go on with it under its id.';
const IS_OVER = 'The execution is over. Begin another one, by withExecutionStarted(), before a step.';
