import { checkedCopy, mustBe, optionsCheck } from '../../arguments.ts';
import { secondsBetween, systemClock, toInstant, type Instant } from '../../clock.ts';
import { invalidArgument } from '../../errors.ts';
import { DocumentReader } from '../../document.ts';
import { isSameJson } from '../../json.ts';
import { addSeconds } from '../values/amounts.ts';
import { Continuation, requireContinuation, type StopSignal } from './continuation.ts';
import { draft, freeze } from '../values/copy.ts';
import { isUnresolved, resolvedErrors, toErrorRecord, type ErrorRecord } from '../values/error-record.ts';
import type { ExecutionFallback, LlmConfig } from '../inference/llm-config.ts';
import { NOTHING, some } from '../values/frozen-array.ts';
import { ExecutionId } from '../values/ids.ts';
import { requireUsage, Usage } from '../inference/usage.ts';
import { List } from '../values/list.ts';
import { MessageStore } from '../messages/message-store.ts';
import { StepExecution } from './step-execution.ts';
import { StepIds } from './step-ids.ts';
import { requireStep, type AgentStep } from './step.ts';
import {
  readExecution,
  writeExecution,
  type ExecutionFields,
  type ExecutionInit,
} from './execution-document.ts';
import { isTerminal, readStatus, type ExecutionStatus } from './status.ts';
import { readWaitings, type Waiting } from '../values/waiting.ts';

const WAITING_FOR_INPUT: readonly Waiting[] = Object.freeze([Object.freeze({ type: 'input' })]);

const checkCreateOptions = optionsCheck<NonNullable<Parameters<typeof ExecutionState.create>[0]>>(
  'ExecutionState.create',
  { id: mustBe.anything, at: mustBe.anything },
  { executionId: 'use "id"' },
);

/** One execution of an agent: the work on one request. */
export class ExecutionState {
  readonly executionId: ExecutionId;
  readonly status: ExecutionStatus;
  readonly startedAt: Instant;
  /** When the execution ended; set exactly when the status is terminal. */
  readonly completedAt: Instant | undefined;
  /** The closed steps. */
  readonly stepExecutions: List<StepExecution>;
  /** The open step. A terminal execution has none. */
  readonly currentStep: AgentStep | undefined;
  readonly currentStepStartedAt: Instant | undefined;
  /**
   * The model settings of its steps, unless the `request` of a step has others: the former settings of the state, when
   * they were changed since. `undefined`: the settings of the state.
   */
  readonly llmConfig: LlmConfig | undefined;
  readonly continuation: Continuation;
  /** Errors outside any step. */
  readonly errors: readonly ErrorRecord[];
  /** Seconds of work. Time without a worker or in suspension does not count. */
  readonly workedSeconds: number;
  /** Everything that a suspended execution waits for. Not empty exactly when the status is `suspended`. */
  readonly waiting: readonly Waiting[];
  /**
   * The sum over the closed steps, from which it derives. It is stored so that a budget check costs the same at every
   * step.
   */
  readonly finishedUsage: Usage;
  /** The usage outside any step, such as for a summary. */
  readonly otherUsage: Usage;

  /** The model that the loop calls instead of the agent's own, for some time after that model failed. */
  readonly fallback: ExecutionFallback | undefined;

  /** The caller freezes the new object. */
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

  /** Creates a pending execution. @throws HoldfastError `ID_INVALID` for an id that is not a UUID. */
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

  /** The number of closed steps and the open one, which a step limit counts. */
  get stepCount(): number {
    return this.stepExecutions.length + (this.currentStep ? 1 : 0);
  }

  /** The usage so far, the open step included. */
  get usage(): Usage {
    const finished = this.finishedUsage.plus(this.otherUsage);
    return this.currentStep ? finished.plus(this.currentStep.usage) : finished;
  }

  get lastStepExecution(): StepExecution | undefined {
    return this.stepExecutions.last;
  }

  /** The open step, or else the last closed one. */
  get latestStep(): AgentStep | undefined {
    return this.currentStep ?? this.lastStepExecution?.step;
  }

  /** True when the latest step has tool calls. */
  get hasToolCalls(): boolean {
    return this.latestStep?.hasToolCalls ?? false;
  }

  /** True when another step follows the calls of the latest step. @internal */
  get hasOpenCalls(): boolean {
    return this.latestStep?.hasOpenCalls ?? false;
  }

  /** True when the loop must stop. Before the first step, only signals stop it. */
  get shouldStop(): boolean {
    return this.continuation.shouldStop(this.latestStep === undefined || this.hasOpenCalls);
  }

  /** Explains `shouldStop` in words. */
  get explanation(): string {
    const isUntouched = this.latestStep === undefined && this.continuation === Continuation.empty;
    return isUntouched ? 'continue: no step yet' : this.continuation.explain(this.hasOpenCalls);
  }

  /** All errors in order: of the closed steps, of the open step, and outside any step. */
  get allErrors(): readonly ErrorRecord[] {
    const inSteps = this.stepExecutions.toArray().flatMap(({ step }) => step.allErrors);
    return [...inSteps, ...(this.currentStep?.allErrors ?? NOTHING), ...this.errors];
  }

  /** Returns the seconds of wall-clock time until the end or until `now`. */
  duration(now: Instant = systemClock.now()): number {
    return Math.max(0, secondsBetween(this.startedAt, this.completedAt ?? now));
  }

  /** True when an error outside any step, or in the latest step, is not resolved by `retry()`. */
  get hasUnresolvedErrors(): boolean {
    return some(this.errors, isUnresolved) || some(this.latestStep?.errors ?? NOTHING, isUnresolved);
  }

  /** The status in which the execution ends. The first matching rule applies. */
  get terminalStatus(): ExecutionStatus {
    if (this.hasUnresolvedErrors || this.continuation.highest?.reason === 'errorForbade') return 'failed';
    return this.continuation.wasForceStopped ? 'stopped' : 'completed';
  }

  /**
   * Returns the execution with a status; times and `waiting` follow from it. By default a suspended execution waits for
   * input. @throws RangeError `ARGUMENT_INVALID` for a terminal status while a step is open: the transitions of
   * `AgentState` close the step first, because its messages belong to the conversation.
   */
  withStatus(
    status: ExecutionStatus,
    at: Instant,
    waitingFor: readonly Waiting[] = WAITING_FOR_INPUT,
  ): ExecutionState {
    checkedCopy('status', status, readStatus);
    if (isTerminal(status) && this.currentStep) throw invalidArgument(OPEN_AT_THE_END);
    const waiting = status === 'suspended' ? checkedCopy('waiting list', waitingFor, readWaitings) : NOTHING;
    if (status === this.status && isSameJson(waiting, this.waiting)) return this;
    const completedAt = isTerminal(status) ? Math.max(toInstant(at), this.startedAt) : undefined;
    const begins = status === 'inProgress' && this.status === 'pending' && this.stepCount === 0;
    const startedAt = begins ? toInstant(at) : this.startedAt;
    return this.with({ status, startedAt, completedAt, waiting });
  }

  /**
   * Returns the execution with this open step. A new step consumes the request for another step.
   * @throws RangeError `ARGUMENT_INVALID` for an id that a closed step or one of its tool executions has, while another
   * step is open, and when the execution is terminal.
   */
  withCurrentStep(step: AgentStep, at: Instant): ExecutionState {
    requireStep(step);
    this.requireNewIds(step);
    return this.withNewStep(step, at);
  }

  /** As `withCurrentStep`, for a step whose ids are new by construction. @internal */
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

  /**
   * Returns the execution with a step closed: the open step in its last form, or a new step. @throws as
   * `withCurrentStep`.
   */
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

  /** Returns the execution with another form of the last closed step. @internal */
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

  /** Returns the execution with an error, in the open step if there is one. */
  withError(error: ErrorRecord): ExecutionState {
    if (this.currentStep) return this.with({ currentStep: this.currentStep.withError(error) });
    return this.with({ errors: Object.freeze([...this.errors, toErrorRecord(error)]) });
  }

  /** Returns the execution with model settings for its steps; `undefined`: the settings of the state. @internal */
  withLlmConfig(llmConfig: LlmConfig | undefined): ExecutionState {
    return llmConfig === this.llmConfig ? this : this.with({ llmConfig });
  }

  /** Returns a failed execution in progress again: its errors are resolved, and another step is requested. @internal */
  reopened(at: Instant): ExecutionState {
    const { lastStepExecution } = this;
    const resolved = lastStepExecution
      ? this.withLastStep(lastStepExecution.step.withErrorsResolved(at))
      : this;
    return resolved.with({
      status: 'inProgress',
      completedAt: undefined,
      errors: resolvedErrors(this.errors, at),
      continuation: this.continuation
        .withoutReason('errorForbade')
        .withoutReason('retryLimitReached')
        .withRequested(),
    });
  }

  /** Returns the execution with a fallback model; `undefined`: with the agent's own model. @internal */
  withFallback(fallback: ExecutionFallback | undefined): ExecutionState {
    return fallback === this.fallback ? this : this.with({ fallback });
  }

  /** Returns the execution with added usage from outside any step. */
  withOtherUsage(usage: Usage): ExecutionState {
    requireUsage(usage);
    return usage === Usage.none ? this : this.with({ otherUsage: this.otherUsage.plus(usage) });
  }

  /**
   * Returns the execution with added seconds of work; a negative number counts as 0.
   * @throws RangeError `ARGUMENT_INVALID` for a value that is not a finite number.
   */
  withTimeWorked(seconds: number): ExecutionState {
    const workedSeconds = addSeconds(this.workedSeconds, seconds);
    return workedSeconds === this.workedSeconds ? this : this.with({ workedSeconds });
  }

  toJSON(): object {
    return writeExecution(this, MessageStore.empty);
  }

  /** @throws StateFormatError for an invalid document. */
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
  'An execution cannot end while a step is open. Use a transition of AgentState, which closes the step.';
const OTHER_STEP_OPEN =
  'Another step is open. Close it with withCurrentStepCompleted(), or pass a step with its id.';
const IS_OVER =
  'The execution is terminal. Start another execution with withExecutionStarted() before a step.';
