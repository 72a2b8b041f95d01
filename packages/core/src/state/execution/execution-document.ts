import type { Instant } from '../../clock.ts';
import {
  readAmount,
  readNonEmpty,
  readInstant,
  type DocumentReader,
  type Members,
  type Read,
} from '../../document.ts';
import { compact } from '../../json.ts';
import { readFallback, type ExecutionFallback } from '../inference/fallback.ts';
import { Continuation, readContinuation } from './continuation.ts';
import { isTerminal, readStatus, type ExecutionStatus } from './status.ts';
import { StepExecution } from './step-execution.ts';
import { AgentStep } from './step.ts';
import { readNonEmptyUsage, Usage } from '../inference/usage.ts';
import { readWaitings, type Waiting } from '../values/waiting.ts';
import { readLlmConfig, type LlmConfig } from '../inference/llm-config.ts';
import type { MessageStore } from '../messages/message-store.ts';
import type { Init } from '../values/copy.ts';
import { isUnresolved, readErrorRecords, type ErrorRecord } from '../values/error-record.ts';
import { some } from '../values/frozen-array.ts';
import { ExecutionId } from '../values/ids.ts';
import { List } from '../values/list.ts';
import { MessageRefWriter, readRefs, type MessageRefReader } from '../messages/message-refs.ts';
import { versionOfStep, writeStep, STEP_NAMES } from './step-document.ts';
import { writeStepExecution } from './step-execution-document.ts';
import { StepIds } from './step-ids.ts';

/** The members of an execution. */
export interface ExecutionFields {
  readonly executionId: ExecutionId;
  readonly status: ExecutionStatus;
  readonly startedAt: Instant;
  readonly completedAt: Instant | undefined;
  readonly stepExecutions: List<StepExecution>;
  readonly currentStep: AgentStep | undefined;
  readonly currentStepStartedAt: Instant | undefined;
  readonly llmConfig: LlmConfig | undefined;
  readonly continuation: Continuation;
  readonly errors: readonly ErrorRecord[];
  readonly workedSeconds: number;
  readonly waiting: readonly Waiting[];
  readonly finishedUsage: Usage;
  readonly otherUsage: Usage;
  readonly fallback: ExecutionFallback | undefined;
}

/** The fields that an execution is created with. */
export type ExecutionInit = Init<ExecutionFields, 'executionId' | 'status' | 'startedAt'>;

/** Returns the document of an execution. Messages that the message store has are references. */
export function writeExecution(execution: ExecutionFields, store: MessageStore): object {
  const refs = new MessageRefWriter(store);
  const document = writeExecutionWith(execution, refs, writeFinishedSteps(execution, refs));
  const { otherMessages } = refs;
  return otherMessages.isEmpty ? document : { ...document, otherMessages: otherMessages.toArray() };
}

/** Returns the documents of the closed steps, from the index `from` on. */
export function writeFinishedSteps(
  { stepExecutions }: ExecutionFields,
  refs: MessageRefWriter,
  from = 0,
): readonly object[] {
  let previous = from === 0 ? undefined : stepExecutions.at(from - 1);
  return stepExecutions.slice(from).map((finished) => {
    const document = writeStepExecution(finished, refs, previous);
    previous = finished;
    return document;
  });
}

/** Returns the document without `otherMessages`; `steps` is the value of the closed steps. */
export function writeExecutionWith(
  execution: ExecutionFields,
  refs: MessageRefWriter,
  steps: unknown,
): object {
  const { currentStep, otherUsage, continuation } = execution;
  const { last } = execution.stepExecutions;
  const step = currentStep && refs.writeDetached(() => writeStep(currentStep, refs, last?.step));
  return compact({
    executionId: execution.executionId,
    status: execution.status,
    startedAt: execution.startedAt,
    completedAt: execution.completedAt,
    workedSeconds: execution.workedSeconds || undefined,
    waiting: nonEmpty(execution.waiting),
    otherUsage: otherUsage === Usage.none ? undefined : otherUsage.toJSON(),
    continuation:
      continuation === Continuation.empty
        ? undefined
        : continuation.encode(last?.continuation ?? Continuation.empty),
    errors: nonEmpty(execution.errors),
    llmConfig: execution.llmConfig,
    fallback: execution.fallback,
    steps,
    currentStep: step,
    currentStepStartedAt: execution.currentStepStartedAt,
  });
}

/** Returns the lowest format version that can hold an execution with closed steps of a given version. */
export function versionOf(execution: ExecutionFields, versionOfSteps = versionOfFinished(execution)): number {
  const { llmConfig, currentStep, errors, waiting, fallback } = execution;
  const versionOfCurrent = currentStep === undefined ? 1 : versionOfStep(currentStep);
  const hasNewMembers =
    llmConfig !== undefined ||
    fallback !== undefined ||
    some(waiting, isNewWaiting) ||
    !errors.every(isUnresolved);
  return Math.max(versionOfSteps, hasNewMembers ? 2 : 1, versionOfCurrent);
}

/** True for an entry of a type that version 1 does not have. */
function isNewWaiting({ type }: Waiting): boolean {
  return type === 'retry' || type === 'answer';
}

/** Returns the lowest format version that can hold the closed steps, from the index `from` on. */
export function versionOfFinished({ stepExecutions }: ExecutionFields, from = 0): number {
  const steps = stepExecutions.slice(from);
  return steps.reduce((version, { step }) => Math.max(version, versionOfStep(step)), 1);
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
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
  'otherMessages',
  'otherUsage',
  'llmConfig',
  'fallback',
]);
const CURRENT_STEP_NAMES = new Set(STEP_NAMES);
const readNonZeroAmount = readNonEmpty(readAmount);

/**
 * Reads the members of an execution whose messages are in the message store or in the document itself. The steps of the
 * document follow the `known` steps.
 */
export function readExecution(
  reader: DocumentReader,
  value: unknown,
  store: MessageStore,
  known: List<StepExecution> = List.empty(),
): ExecutionInit {
  const members = reader.members(value, NAMES);
  const refs = readRefs(reader, members, store);
  const course = readCourse(reader, members);
  const ids = new StepIds();
  const stepExecutions = reader.required(members, 'steps', finishedStepsReader(refs, ids, known));
  const { last } = stepExecutions;
  const currentStep = reader.optional(members, 'currentStep', currentStepReader(refs, ids, last?.step));
  const currentStepStartedAt = reader.optional(members, 'currentStepStartedAt', readInstant);
  if ((currentStep === undefined) !== (currentStepStartedAt === undefined))
    reader.fail('currentStep and currentStepStartedAt together, or neither', value);
  if (currentStep && isTerminal(course.status) && reader.version > 1)
    reader.fail('no currentStep in a terminal execution', course.status);
  reader.requireVersion(2, members, 'llmConfig');
  reader.requireVersion(2, members, 'fallback');
  return {
    ...course,
    executionId: reader.required(members, 'executionId', ExecutionId.read),
    stepExecutions,
    currentStep,
    currentStepStartedAt,
    llmConfig: reader.optional(members, 'llmConfig', readLlmConfig),
    continuation: reader.optional(members, 'continuation', readContinuation(last?.continuation)),
    errors: reader.optional(members, 'errors', readErrorRecords),
    workedSeconds: reader.optional(members, 'workedSeconds', readNonZeroAmount),
    finishedUsage: Usage.sumOf(stepExecutions),
    otherUsage: reader.optional(members, 'otherUsage', readNonEmptyUsage),
    fallback: reader.optional(members, 'fallback', readFallback),
  };
}

/** Reads the status and the members that depend on it. */
function readCourse(
  reader: DocumentReader,
  members: Members,
): Pick<ExecutionInit, 'status' | 'startedAt' | 'completedAt' | 'waiting'> {
  const status = reader.required(members, 'status', readStatus);
  const completedAt = reader.optional(members, 'completedAt', readInstant);
  if (isTerminal(status) !== (completedAt !== undefined))
    reader.fail('completedAt with a terminal status, and only then', status);
  const startedAt = reader.required(members, 'startedAt', readInstant);
  if (completedAt !== undefined && completedAt < startedAt)
    reader.fail('completedAt at or after startedAt', completedAt);
  const waiting = reader.optional(members, 'waiting', readWaitings);
  if (reader.version < 2 && waiting?.some(isNewWaiting))
    reader.fail('no waiting for a retry or an answer before version 2', status);
  if ((waiting !== undefined) !== (status === 'suspended'))
    reader.fail('waiting with the status suspended, and only then', status);
  return { status, startedAt, completedAt, waiting };
}

/** Returns a reader of the closed steps after the known ones. It collects the ids of all. */
function finishedStepsReader(
  refs: MessageRefReader,
  ids: StepIds,
  known: List<StepExecution>,
): Read<List<StepExecution>> {
  return (reader, value) => {
    if (!Array.isArray(value)) return reader.fail('an array', value);
    for (const { step } of known) ids.add(step);
    const read: StepExecution[] = [];
    for (let index = 0; index < value.length; index++) {
      reader.enter(index);
      const finished = StepExecution.decode(reader, value[index], refs, read[index - 1] ?? known.last);
      if (!ids.addIfUnique(finished.step))
        StepIds.from([...known, ...read]).requireUnique(reader, finished.step);
      read.push(finished);
      reader.leave();
    }
    const steps = known.concat(read);
    ids.attachTo(steps);
    return steps;
  };
}

function currentStepReader(refs: MessageRefReader, ids: StepIds, previous?: AgentStep): Read<AgentStep> {
  return (reader, value) => {
    const step = AgentStep.decode(reader, reader.members(value, CURRENT_STEP_NAMES), refs, previous);
    ids.requireUnique(reader, step);
    return step;
  };
}
