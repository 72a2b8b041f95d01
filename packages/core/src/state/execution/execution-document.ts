import {
  byClass,
  readAmount,
  readInstant,
  readNonEmpty,
  readOrdered,
  shapeOf,
  since,
  type DocumentReader,
  type Fields,
  type Read,
} from '../../document.ts';
import { compact } from '../../json.ts';
import { readFallback, readLlmConfig } from '../inference/llm-config.ts';
import { Continuation, readContinuation } from './continuation.ts';
import { isTerminal, readStatus } from './status.ts';
import { StepExecution, writeStepExecution } from './step-execution.ts';
import { AgentStep } from './step.ts';
import { readNonEmptyUsage, Usage } from '../inference/usage.ts';
import { readWaitings, type Waiting } from '../values/waiting.ts';
import type { MessageStore } from '../messages/message-store.ts';
import type { Init } from '../values/copy.ts';
import { isUnresolved, readErrorRecords } from '../values/error-record.ts';
import { some } from '../values/frozen-array.ts';
import { ExecutionId } from '../values/ids.ts';
import { GrownList } from '../values/known-part.ts';
import { ListCache, type List } from '../values/list.ts';
import {
  readRefs,
  writeStandalone,
  type MessageRefReader,
  type MessageRefWriter,
} from '../messages/message-refs.ts';
import { STEP, versionOfStep, writeStep } from './step-document.ts';
import { StepIds } from './step-ids.ts';

const EXECUTION = shapeOf({
  executionId: ExecutionId.read,
  status: readStatus,
  startedAt: readInstant,
  'completedAt?': readInstant,
  'workedSeconds?': readNonEmpty(readAmount),
  'waiting?': readWaitings,
  'continuation?': byClass,
  'errors?': readErrorRecords,
  steps: byClass,
  'currentStep?': byClass,
  'currentStepStartedAt?': readInstant,
  'otherMessages?': byClass,
  'otherUsage?': readNonEmptyUsage,
  'llmConfig?': since(2, readLlmConfig),
  'fallback?': since(2, readFallback),
});

export type ExecutionFields = Fields<
  typeof EXECUTION,
  'workedSeconds' | 'waiting' | 'errors' | 'otherUsage'
> & {
  readonly stepExecutions: List<StepExecution>;
  readonly currentStep: AgentStep | undefined;
  readonly continuation: Continuation;
  readonly finishedUsage: Usage;
};

export type ExecutionInit = Init<ExecutionFields, 'executionId' | 'status' | 'startedAt'>;

/** Returns the document of an execution. Messages that the message store has are references. */
export function writeExecution(execution: ExecutionFields, store: MessageStore): object {
  return writeStandalone(
    (refs) => writeExecutionWith(execution, refs, writeFinishedSteps(execution, refs)),
    store,
  );
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

/** Reads the members of an execution whose messages are in the message store or in the document itself. */
export function readExecution(reader: DocumentReader, value: unknown, store: MessageStore): ExecutionInit {
  const own = readOrdered(reader, value, EXECUTION);
  requireConsistent(reader, own);
  const members = reader.object(value);
  const refs = readRefs(reader, members, store);
  const { steps: stepExecutions, ids, usage } = reader.required(members, 'steps', finishedStepsReader(refs));
  const { last } = stepExecutions;
  const currentStep = reader.optional(members, 'currentStep', currentStepReader(refs, ids, last?.step));
  if ((currentStep === undefined) !== (own.currentStepStartedAt === undefined))
    reader.fail('currentStep and currentStepStartedAt together, or neither', value);
  if (currentStep && isTerminal(own.status) && reader.version > 1)
    reader.fail('no currentStep in a terminal execution', own.status);
  const continuation = reader.optional(members, 'continuation', readContinuation(last?.continuation));
  return { ...own, stepExecutions, currentStep, continuation, finishedUsage: usage };
}

/** Fails for members that do not fit the status. */
function requireConsistent(
  reader: DocumentReader,
  own: Pick<ExecutionInit, 'status' | 'startedAt' | 'completedAt' | 'waiting'>,
): void {
  const { status, startedAt, completedAt, waiting } = own;
  if (isTerminal(status) !== (completedAt !== undefined))
    reader.fail('completedAt with a terminal status, and only then', status);
  if (completedAt !== undefined && completedAt < startedAt)
    reader.fail('completedAt at or after startedAt', completedAt);
  if (reader.version < 2 && waiting?.some(isNewWaiting))
    reader.fail('no waiting for a retry or an answer before version 2', status);
  if ((waiting !== undefined) !== (status === 'suspended'))
    reader.fail('waiting with the status suspended, and only then', status);
}

/** The closed steps of an execution, with what derives from all of them. */
interface FinishedSteps {
  readonly steps: List<StepExecution>;
  readonly ids: StepIds;
  readonly usage: Usage;
}

/** The sum over the steps of each list that was read. */
const sums = new ListCache<Usage>();

/** Returns a reader of the closed steps, at the cost of those that were not read before. */
function finishedStepsReader(refs: MessageRefReader): Read<FinishedSteps> {
  return (reader, value) => {
    const { known, added } = GrownList.of<StepExecution>(value);
    const ids = StepIds.toExtend(known);
    let previous = known.last;
    const readStep: Read<StepExecution> = (_, document) => {
      const finished = StepExecution.decode(reader, document, refs, previous);
      ids.requireUnique(reader, finished.step);
      ids.add(finished.step);
      return (previous = finished);
    };
    const read = reader.list(added, readStep, known.length);
    const steps = known.concat(read);
    const usage = Usage.sumOf(read, sums.get(known) ?? Usage.sumOf(known));
    ids.attachTo(steps);
    sums.set(steps, usage);
    return { steps, ids, usage };
  };
}

function currentStepReader(refs: MessageRefReader, ids: StepIds, previous?: AgentStep): Read<AgentStep> {
  return (reader, value) => {
    const step = AgentStep.decode(reader, reader.members(value, STEP.members), refs, previous);
    ids.requireUnique(reader, step);
    return step;
  };
}
