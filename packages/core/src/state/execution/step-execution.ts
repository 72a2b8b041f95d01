import { requireObject } from '../../arguments.ts';
import { secondsBetween, toInstant, type Instant } from '../../clock.ts';
import { DocumentReader, isInstant, readInstant } from '../../document.ts';
import type { Usage } from '../inference/usage.ts';
import {
  readStandalone,
  writeStandalone,
  type MessageRefReader,
  type MessageRefWriter,
} from '../messages/message-refs.ts';
import type { StepId } from '../values/ids.ts';
import { Continuation, readContinuation, requireContinuation } from './continuation.ts';
import { STEP, writeStep, type StepDocument } from './step-document.ts';
import { AgentStep, requireStep } from './step.ts';

/** The members of a closed step. */
export type StepExecutionFields = Pick<StepExecution, 'step' | 'continuation' | 'startedAt' | 'completedAt'>;

/** A closed step, with its times and its continuation. */
export class StepExecution {
  readonly step: AgentStep;
  /** The signals and requests when the step was closed. */
  readonly continuation: Continuation;
  readonly startedAt: Instant;
  readonly completedAt: Instant;

  private constructor(fields: StepExecutionFields) {
    this.step = fields.step;
    this.continuation = fields.continuation;
    this.startedAt = fields.startedAt;
    this.completedAt = fields.completedAt;
    Object.freeze(this);
  }

  /** Creates a closed step. A step that ended before it started, by its times, ends at its start. */
  static of(fields: StepExecutionFields): StepExecution {
    requireObject(fields, 'an object with a step and its times');
    const { step, continuation, startedAt, completedAt } = fields;
    requireStep(step);
    requireContinuation(continuation);
    const [start, end] = [toInstant(startedAt), toInstant(completedAt)];
    return new StepExecution({ step, continuation, startedAt: start, completedAt: Math.max(start, end) });
  }

  /** The step's id. */
  get id(): StepId {
    return this.step.id;
  }

  /** Seconds from the start of the step, before inference, to its end. */
  get duration(): number {
    return secondsBetween(this.startedAt, this.completedAt);
  }

  get usage(): Usage {
    return this.step.usage;
  }

  /** True when the loop had to stop after this step. */
  get shouldStop(): boolean {
    return this.continuation.shouldStop(this.step.hasOpenCalls);
  }

  toJSON(): object {
    return writeStandalone((refs) => writeStepExecution(this, refs));
  }

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): StepExecution {
    return DocumentReader.read(json, readStandaloneStepExecution);
  }

  /** @internal */
  static decode(
    reader: DocumentReader,
    value: unknown,
    refs: MessageRefReader,
    previous?: StepExecution,
  ): StepExecution {
    const members = reader.members(value, NAMES);
    const { startedAt: start, completedAt: end, continuation } = members;
    const startedAt = isInstant(start) ? start : reader.required(members, 'startedAt', readInstant);
    const completedAt = isInstant(end) ? end : reader.required(members, 'completedAt', readInstant);
    if (completedAt < startedAt) reader.fail('completedAt at or after startedAt', completedAt);
    return new StepExecution({
      step: AgentStep.decode(reader, members, refs, previous?.step),
      continuation:
        continuation === undefined
          ? Continuation.empty
          : reader.required(members, 'continuation', readContinuation(previous?.continuation)),
      startedAt,
      completedAt,
    });
  }
}

const NAMES = new Set([...STEP.members.keys(), 'continuation', 'startedAt', 'completedAt']);

const readStandaloneStepExecution = readStandalone((reader, members, refs) =>
  StepExecution.decode(reader, members, refs),
);

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
