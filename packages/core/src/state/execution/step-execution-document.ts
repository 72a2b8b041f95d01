import type { Instant } from '../../clock.ts';
import { isInstant, readInstant, type DocumentReader } from '../../document.ts';
import { Continuation, readContinuation } from './continuation.ts';
import { AgentStep } from './step.ts';
import type { MessageRefReader, MessageRefWriter } from '../messages/message-refs.ts';
import { STEP_NAMES, writeStep, type StepDocument } from './step-document.ts';

/** The members of a closed step. */
export interface StepExecutionFields {
  readonly step: AgentStep;
  readonly continuation: Continuation;
  readonly startedAt: Instant;
  readonly completedAt: Instant;
}

/** The stored form of a closed step: a step, its times and its continuation. */
interface StepExecutionDocument extends StepDocument {
  continuation?: object;
  startedAt?: Instant;
  completedAt?: Instant;
}

/** Returns the document of a closed step that follows `previous`. */
export function writeStepExecution(
  { step, continuation, startedAt, completedAt }: StepExecutionFields,
  refs: MessageRefWriter,
  previous?: StepExecutionFields,
): object {
  const document: StepExecutionDocument = writeStep(step, refs, previous?.step);
  if (continuation !== Continuation.empty)
    document.continuation = continuation.encode(previous?.continuation ?? Continuation.empty);
  document.startedAt = startedAt;
  document.completedAt = completedAt;
  return document;
}

const NAMES = new Set([...STEP_NAMES, 'continuation', 'startedAt', 'completedAt']);

/** Reads the members of a closed step that follows `previous`. */
export function readStepExecution(
  reader: DocumentReader,
  value: unknown,
  refs: MessageRefReader,
  previous?: StepExecutionFields,
): StepExecutionFields {
  const members = reader.members(value, NAMES);
  const { startedAt: start, completedAt: end, continuation } = members;
  const startedAt = isInstant(start) ? start : reader.required(members, 'startedAt', readInstant);
  const completedAt = isInstant(end) ? end : reader.required(members, 'completedAt', readInstant);
  if (completedAt < startedAt) reader.fail('completedAt at or after startedAt', completedAt);
  return {
    step: AgentStep.decode(reader, members, refs, previous?.step),
    continuation:
      continuation === undefined
        ? Continuation.empty
        : reader.required(members, 'continuation', readContinuation(previous?.continuation)),
    startedAt,
    completedAt,
  };
}
