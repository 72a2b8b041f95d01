import { secondsBetween, toInstant, type Instant } from '../../clock.ts';
import { DocumentReader } from '../../document.ts';
import { requireContinuation, type Continuation } from './continuation.ts';
import type { StepId } from '../values/ids.ts';
import type { Usage } from '../inference/usage.ts';
import { readStandalone, writeStandalone, type MessageRefReader } from '../messages/message-refs.ts';
import { requireObject } from '../../arguments.ts';
import {
  readStepExecution,
  writeStepExecution,
  type StepExecutionFields,
} from './step-execution-document.ts';
import { requireStep, type AgentStep } from './step.ts';

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
    return new StepExecution(readStepExecution(reader, value, refs, previous));
  }
}

const readStandaloneStepExecution = readStandalone((reader, members, refs) =>
  StepExecution.decode(reader, members, refs),
);
