import type { Instant } from '../../clock.ts';
import type { DocumentReader } from '../../document.ts';
import { isInstant, readInstant } from '../../document.ts';
import { Continuation, readContinuation } from '../execution/continuation.ts';
import { AgentStep } from '../execution/step.ts';
import type { MessageRefReader, MessageRefWriter } from './message-refs.ts';
import type { StepDocument } from './step-document.ts';
import { STEP_NAMES, writeStep } from './step-document.ts';

/** The members of a finished step. */
export interface StepExecutionFields {
  readonly step: AgentStep;
  readonly continuation: Continuation;
  readonly startedAt: Instant;
  readonly completedAt: Instant;
}

/** A finished step as it is stored: a step, and what is known of it since. */
interface StepExecutionDocument extends StepDocument {
  continuation?: object;
  startedAt?: Instant;
  completedAt?: Instant;
}

/** The document of a finished step after the one before it. */
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

/** Reads the members of a finished step after the one before it. */
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
  if (completedAt < startedAt) reader.fail('completedAt not before startedAt', completedAt);
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
