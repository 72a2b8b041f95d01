import type { Instant } from '../clock.ts';
import { secondsBetween, systemClock, toInstant } from '../clock.ts';
import type { Read } from '../json.ts';
import {
  checked,
  compact,
  DocumentReader,
  isSameJson,
  readAmount,
  readFilled,
  readInstant,
  readOneOf,
  readString,
} from '../json.ts';
import { Continuation } from './continuation.ts';
import type { StopSignal } from './continuation.ts';
import type { ErrorRecord } from './error-record.ts';
import { readErrorRecords, toErrorRecord } from './error-record.ts';
import { ExecutionId, ToolExecutionId } from './ids.ts';
import { Usage } from './inference.ts';
import { List } from './list.ts';
import type { MessageRefReader } from './message-refs.ts';
import { MessageRefWriter, readRefs } from './message-refs.ts';
import { MessageStore } from './message-store.ts';
import type { Messages } from './messages.ts';
import { StepExecution } from './step-execution.ts';
import { AgentStep, STEP_NAMES } from './step.ts';

/**
 * How far an execution has got. `pending`: accepted, no worker yet. `suspended`: it waits, `waiting` says for what.
 * The last three are terminal.
 */
export type ExecutionStatus = 'pending' | 'inProgress' | 'suspended' | 'completed' | 'stopped' | 'failed';

const STATUSES: readonly ExecutionStatus[] = [
  'pending',
  'inProgress',
  'suspended',
  'completed',
  'stopped',
  'failed',
];

/** True for the statuses that end an execution. */
export function isTerminal(status: ExecutionStatus | undefined): boolean {
  return status === 'completed' || status === 'stopped' || status === 'failed';
}

/** What a suspended execution waits for. */
export type Waiting =
  | { readonly type: 'approval'; readonly toolExecutionIds: readonly ToolExecutionId[] }
  | { readonly type: 'until'; readonly until: Instant }
  | { readonly type: 'children'; readonly sessionIds: readonly string[] }
  | { readonly type: 'input' };

const WAITING_FOR_INPUT: Waiting = Object.freeze({ type: 'input' });
const NOTHING: readonly never[] = Object.freeze([]);

type ExecutionStateFields = Pick<
  ExecutionState,
  | 'executionId'
  | 'status'
  | 'startedAt'
  | 'completedAt'
  | 'stepExecutions'
  | 'currentStep'
  | 'currentStepStartedAt'
  | 'continuation'
  | 'errors'
  | 'workedSeconds'
  | 'waiting'
  | 'finishedUsage'
>;

/** One run of an agent. */
export class ExecutionState {
  readonly executionId: ExecutionId;
  readonly status: ExecutionStatus;
  readonly startedAt: Instant;
  /** Set in a terminal status, and only there. */
  readonly completedAt: Instant | undefined;
  /** Finished steps. */
  readonly stepExecutions: List<StepExecution>;
  readonly currentStep: AgentStep | undefined;
  readonly currentStepStartedAt: Instant | undefined;
  readonly continuation: Continuation;
  /** Errors outside any step. */
  readonly errors: readonly ErrorRecord[];
  /** Seconds really worked: neither waiting nor dead. */
  readonly workedSeconds: number;
  /** Set when it is suspended, and only then. */
  readonly waiting: Waiting | undefined;
  /** The sum over the finished steps. Follows from them; kept so that a budget check costs the same at every step. */
  readonly finishedUsage: Usage;

  private constructor(fields: ExecutionStateFields) {
    this.executionId = fields.executionId;
    this.status = fields.status;
    this.startedAt = fields.startedAt;
    this.completedAt = fields.completedAt;
    this.stepExecutions = fields.stepExecutions;
    this.currentStep = fields.currentStep;
    this.currentStepStartedAt = fields.currentStepStartedAt;
    this.continuation = fields.continuation;
    this.errors = fields.errors;
    this.workedSeconds = fields.workedSeconds;
    this.waiting = fields.waiting;
    this.finishedUsage = fields.finishedUsage;
    Object.freeze(this);
  }

  private with(changes: Partial<ExecutionStateFields>): ExecutionState {
    const { executionId, status, startedAt, completedAt, stepExecutions, currentStep } = this;
    const { currentStepStartedAt, continuation, errors, workedSeconds, waiting, finishedUsage } = this;
    return new ExecutionState({
      executionId,
      status,
      startedAt,
      completedAt,
      stepExecutions,
      currentStep,
      currentStepStartedAt,
      continuation,
      errors,
      workedSeconds,
      waiting,
      finishedUsage,
      ...changes,
    });
  }

  /** A pending execution with nothing done. */
  static fresh(
    options: { readonly id?: ExecutionId | undefined; readonly at?: Instant } = {},
  ): ExecutionState {
    return new ExecutionState({
      executionId: options.id ?? ExecutionId.create(),
      status: 'pending',
      startedAt: toInstant(options.at ?? systemClock.now()),
      completedAt: undefined,
      stepExecutions: List.empty(),
      currentStep: undefined,
      currentStepStartedAt: undefined,
      continuation: Continuation.empty,
      errors: NOTHING,
      workedSeconds: 0,
      waiting: undefined,
      finishedUsage: Usage.none,
    });
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
    return this.currentStep ? this.finishedUsage.plus(this.currentStep.usage) : this.finishedUsage;
  }

  get lastStepExecution(): StepExecution | undefined {
    return this.stepExecutions.last;
  }

  /** The current step, else the last one. */
  get latestStep(): AgentStep | undefined {
    return this.currentStep ?? this.lastStepExecution?.step;
  }

  /** Did the latest step ask for tools? */
  get askedForTools(): boolean {
    return this.latestStep?.askedForTools ?? false;
  }

  /** Stop or go on? Before the first step only signals stop. */
  get shouldStop(): boolean {
    return this.continuation.shouldStop(this.latestStep === undefined || this.askedForTools);
  }

  /** The same decision in words. */
  get explanation(): string {
    const isUntouched = this.latestStep === undefined && this.continuation === Continuation.empty;
    return isUntouched ? 'go on: no step yet' : this.continuation.explain(this.askedForTools);
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

  /** The status that the execution ends in, by the first rule that fits. */
  get terminalStatus(): ExecutionStatus {
    const hasUncaughtError = this.errors.length > 0 || (this.latestStep?.errors.length ?? 0) > 0;
    if (hasUncaughtError || this.continuation.highest?.reason === 'errorForbade') return 'failed';
    return this.continuation.wasForceStopped ? 'stopped' : 'completed';
  }

  /** The same with a status; times and waiting follow from it. Suspended without a word, it waits for input. */
  withStatus(status: ExecutionStatus, at: Instant, waitingFor: Waiting = WAITING_FOR_INPUT): ExecutionState {
    const waiting = status === 'suspended' ? checked('waiting', waitingFor, readWaiting) : undefined;
    if (status === this.status && isSameJson(waiting, this.waiting)) return this;
    const completedAt = isTerminal(status) ? Math.max(toInstant(at), this.startedAt) : undefined;
    return this.with({ status, completedAt, waiting });
  }

  /** The same with the step in progress. Beginning a new step clears the continuation flag. */
  withCurrentStep(step: AgentStep, at: Instant): ExecutionState {
    if (step === this.currentStep) return this;
    if (step.id === this.currentStep?.id) return this.with({ currentStep: step });
    const continuation = this.continuation.withStepBegun();
    return this.with({ currentStep: step, currentStepStartedAt: toInstant(at), continuation });
  }

  /** The same with a step, the current one in its last form, among the finished ones. */
  withStepCompleted(step: AgentStep, at: Instant): ExecutionState {
    const { continuation, currentStepStartedAt: startedAt = at } = this;
    const finished = StepExecution.of({ step, continuation, startedAt, completedAt: at });
    return this.with({
      stepExecutions: this.stepExecutions.append(finished),
      finishedUsage: this.finishedUsage.plus(step.usage),
      currentStep: undefined,
      currentStepStartedAt: undefined,
    });
  }

  withContinuation(continuation: Continuation): ExecutionState {
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

  /** The same with more time worked, in seconds. */
  withTimeWorked(seconds: number): ExecutionState {
    const isTime = seconds > 0 && Number.isFinite(seconds);
    return !isTime ? this : this.with({ workedSeconds: this.workedSeconds + seconds });
  }

  toJSON(): object {
    return this.encode(MessageStore.empty);
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): ExecutionState {
    return DocumentReader.read(json, (reader, value) =>
      ExecutionState.decode(reader, value, MessageStore.empty),
    );
  }

  /** The document, with messages by reference where the store has them. @internal */
  encode(store: MessageStore): object {
    const refs = new MessageRefWriter(store);
    const steps: object[] = [];
    let previous: Messages | undefined;
    for (const execution of this.stepExecutions) {
      steps.push(execution.encode(refs, previous));
      previous = execution.step.input;
    }
    const currentStep = this.currentStep?.encode(refs, previous);
    return compact({
      executionId: this.executionId,
      status: this.status,
      startedAt: this.startedAt,
      completedAt: this.completedAt,
      workedSeconds: this.workedSeconds || undefined,
      waiting: this.waiting,
      continuation: this.continuation === Continuation.empty ? undefined : this.continuation.toJSON(),
      errors: this.errors.length === 0 ? undefined : this.errors,
      steps,
      currentStep,
      currentStepStartedAt: this.currentStepStartedAt,
      messages: refs.others.length === 0 ? undefined : refs.others,
    });
  }

  /** @internal */
  static decode(reader: DocumentReader, value: unknown, store: MessageStore): ExecutionState {
    const members = reader.members(value, NAMES);
    const refs = readRefs(reader, members, store);
    const status = reader.required(members, 'status', readStatus);
    const completedAt = reader.optional(members, 'completedAt', readInstant);
    if (isTerminal(status) !== (completedAt !== undefined)) {
      reader.fail('completedAt exactly in a terminal status', status);
    }
    const startedAt = reader.required(members, 'startedAt', readInstant);
    if (completedAt !== undefined && completedAt < startedAt)
      reader.fail('completedAt not before startedAt', completedAt);
    const waiting = reader.optional(members, 'waiting', readWaiting);
    if ((waiting !== undefined) !== (status === 'suspended'))
      reader.fail('waiting exactly in a suspended execution', status);
    const stepExecutions = reader.required(members, 'steps', readSteps(refs));
    const previous = stepExecutions.last?.step.input;
    const readCurrentStep: Read<AgentStep> = (r, step) =>
      AgentStep.decode(r, r.members(step, CURRENT_STEP_NAMES), refs, previous);
    const currentStep = reader.optional(members, 'currentStep', readCurrentStep);
    const currentStepStartedAt = reader.optional(members, 'currentStepStartedAt', readInstant);
    if ((currentStep === undefined) !== (currentStepStartedAt === undefined)) {
      reader.fail('currentStep and currentStepStartedAt together, or neither', value);
    }
    refs.checkAllReferred(reader);
    return new ExecutionState({
      executionId: reader.required(members, 'executionId', ExecutionId.read),
      status,
      startedAt,
      completedAt,
      stepExecutions,
      currentStep,
      currentStepStartedAt,
      continuation: reader.optional(members, 'continuation', Continuation.read) ?? Continuation.empty,
      errors: reader.optional(members, 'errors', readErrorRecords) ?? NOTHING,
      workedSeconds: reader.optional(members, 'workedSeconds', readFilledAmount) ?? 0,
      waiting,
      finishedUsage: sumOfUsage(stepExecutions),
    });
  }
}

const NAMES = new Set([
  'executionId',
  'status',
  'startedAt',
  'completedAt',
  'workedSeconds',
  'waiting',
  'continuation',
  'errors',
  'steps',
  'currentStep',
  'currentStepStartedAt',
  'messages',
]);
const CURRENT_STEP_NAMES = new Set(STEP_NAMES);

const readStatus = readOneOf(STATUSES);
const readFilledAmount = readFilled(readAmount);

function sumOfUsage(steps: Iterable<StepExecution>): Usage {
  let sum = Usage.none;
  for (const { usage } of steps) sum = sum.plus(usage);
  return sum;
}

function readSteps(refs: MessageRefReader): Read<List<StepExecution>> {
  return (reader, value) => {
    let previous: StepExecution | undefined;
    const steps = reader.list(value, (r, step) => {
      previous = StepExecution.decode(r, step, refs, previous?.step.input);
      return previous;
    });
    return List.from(steps);
  };
}

const WAITING_TYPES = ['approval', 'until', 'children', 'input'] as const;
const WAITING_NAMES: { readonly [T in Waiting['type']]: ReadonlySet<string> } = {
  approval: new Set(['type', 'toolExecutionIds']),
  until: new Set(['type', 'until']),
  children: new Set(['type', 'sessionIds']),
  input: new Set(['type']),
};
const readWaitingType = readOneOf(WAITING_TYPES);

const readWaiting: Read<Waiting> = (reader, value) => {
  const type = reader.required(reader.object(value), 'type', readWaitingType);
  const members = reader.members(value, WAITING_NAMES[type]);
  switch (type) {
    case 'approval': {
      const readIds: Read<readonly ToolExecutionId[]> = (r, ids) =>
        Object.freeze(r.list(ids, ToolExecutionId.read));
      return Object.freeze({ type, toolExecutionIds: reader.required(members, 'toolExecutionIds', readIds) });
    }
    case 'until':
      return Object.freeze({ type, until: reader.required(members, 'until', readInstant) });
    case 'children': {
      const readIds: Read<readonly string[]> = (r, ids) => Object.freeze(r.list(ids, readString));
      return Object.freeze({ type, sessionIds: reader.required(members, 'sessionIds', readIds) });
    }
    case 'input':
      return Object.freeze({ type });
  }
};
