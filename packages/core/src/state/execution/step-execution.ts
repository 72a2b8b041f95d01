import type { Instant } from '../../clock.ts';
import { secondsBetween, toInstant } from '../../clock.ts';
import type { Members, Read } from '../../document.ts';
import { DocumentReader, isInstant, readInstant } from '../../document.ts';
import { Continuation, readContinuation, requireContinuation } from './continuation.ts';
import type { StepId } from '../values/ids.ts';
import { List } from '../values/list.ts';
import type { Usage } from './usage.ts';
import type { MessageRefReader, MessageRefWriter } from '../messages/message-refs.ts';
import { readAlone, writeAlone } from '../messages/message-refs.ts';
import { requireObject } from '../values/require-argument.ts';
import type { StepDocument } from './step-document.ts';
import { STEP_NAMES } from './step-document.ts';
import { StepIds } from './step-ids.ts';
import { AgentStep, requireStep } from './step.ts';

/** The members of a finished step. */
export type StepExecutionFields = Pick<StepExecution, 'step' | 'continuation' | 'startedAt' | 'completedAt'>;

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
    return this.continuation.shouldStop(this.step.askedForTools);
  }

  toJSON(): object {
    return writeAlone((refs) => this.encode(refs));
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): StepExecution {
    return DocumentReader.read(json, readAloneStepExecution);
  }

  /** @internal */
  encode(refs: MessageRefWriter, previous?: StepExecution): object {
    const document: StepExecutionDocument = this.step.encode(refs, previous?.step);
    if (this.continuation !== Continuation.empty)
      document.continuation = this.continuation.encode(previous?.continuation ?? Continuation.empty);
    document.startedAt = this.startedAt;
    document.completedAt = this.completedAt;
    return document;
  }

  /** @internal */
  static decode(
    reader: DocumentReader,
    value: unknown,
    refs: MessageRefReader,
    previous?: StepExecution,
  ): StepExecution {
    const members: Members = reader.members(value, NAMES);
    const { startedAt: start, completedAt: end, continuation } = members;
    const startedAt = isInstant(start) ? start : reader.required(members, 'startedAt', readInstant);
    const completedAt = isInstant(end) ? end : reader.required(members, 'completedAt', readInstant);
    if (completedAt < startedAt) reader.fail('completedAt not before startedAt', completedAt);
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

interface StepExecutionDocument extends StepDocument {
  continuation?: object;
  startedAt?: Instant;
  completedAt?: Instant;
}

const NAMES = new Set([...STEP_NAMES, 'continuation', 'startedAt', 'completedAt']);

const readAloneStepExecution = readAlone((reader, members, refs) =>
  StepExecution.decode(reader, members, refs),
);

/** Reads finished steps in their order, and keeps their ids. @internal */
export function readStepExecutions(refs: MessageRefReader, ids: StepIds): Read<List<StepExecution>> {
  return (reader, value) => {
    if (!Array.isArray(value)) return reader.fail('an array', value);
    const read: StepExecution[] = [];
    for (let index = 0; index < value.length; index++) {
      reader.enter(index);
      const finished = StepExecution.decode(reader, value[index], refs, read[index - 1]);
      if (!ids.adds(finished.step)) StepIds.from(read).check(reader, finished.step);
      read.push(finished);
      reader.leave();
    }
    const steps = List.from(read);
    ids.keepWith(steps);
    return steps;
  };
}
