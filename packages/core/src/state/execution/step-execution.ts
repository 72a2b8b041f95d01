import type { Instant } from '../../clock.ts';
import { secondsBetween, toInstant } from '../../clock.ts';
import { DocumentReader } from '../../document.ts';
import type { Continuation } from './continuation.ts';
import { requireContinuation } from './continuation.ts';
import type { StepId } from '../values/ids.ts';
import type { Usage } from '../inference/usage.ts';
import type { MessageRefReader } from '../documents/message-refs.ts';
import { readStandalone, writeStandalone } from '../documents/message-refs.ts';
import { requireObject } from '../../arguments.ts';
import type { StepExecutionFields } from '../documents/step-execution-document.ts';
import { readStepExecution, writeStepExecution } from '../documents/step-execution-document.ts';
import type { AgentStep } from './step.ts';
import { requireStep } from './step.ts';

/** A finished step, when it ran and what spoke for stopping after it. */
export class StepExecution {
  readonly step: AgentStep;
  /** What was decided on when the step had finished. */
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

  /** A step with its times; one that ended before it began is taken to have ended at once. */
  static of(fields: StepExecutionFields): StepExecution {
    requireObject(fields, 'a step with its times: an object');
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

  /** Seconds from before inference to the end. */
  get duration(): number {
    return secondsBetween(this.startedAt, this.completedAt);
  }

  get usage(): Usage {
    return this.step.usage;
  }

  /** Was there a reason to stop after this step? */
  get shouldStop(): boolean {
    return this.continuation.shouldStop(this.step.hasToolCalls);
  }

  toJSON(): object {
    return writeStandalone((refs) => writeStepExecution(this, refs));
  }

  /** @throws StateFormatError when the document does not fit. */
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
