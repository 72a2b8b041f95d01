import { invalidArgument } from '../../errors.ts';
import type { DocumentReader } from '../../document.ts';
import type { StepId, ToolExecutionId } from '../values/ids.ts';
import type { List } from '../values/list.ts';
import { ListCache } from '../values/list.ts';
import type { AgentStep } from '../execution/step.ts';
import type { ToolExecution } from '../execution/tool-execution.ts';
import { executionWithId } from '../execution/tool-executions.ts';

/** A finished step. */
interface ClosedStep {
  readonly step: AgentStep;
}

/** An id that something before it has, and where it stands in its step. */
interface Clash {
  readonly id: StepId | ToolExecutionId;
  readonly path: readonly (string | number)[];
}

/**
 * The ids of finished steps and of their tool executions, by the position of the step. Made when an id is to be looked
 * for, which a loop does not do with random ids that it has just made. Kept with the list of steps from then on, so
 * that what a step costs does not grow with them; a list that grew from another shares them with it, and an id counts
 * for a list only at a position that the list has.
 */
export class StepIds {
  private static readonly notes = new ListCache<StepIds>();

  private readonly steps = new Map<StepId, number>();
  private readonly toolExecutions = new Map<ToolExecutionId, number>();
  private length = 0;

  private static of(steps: List<ClosedStep>): StepIds {
    const noted = StepIds.notes.get(steps);
    if (noted !== undefined) return noted;
    const ids = StepIds.from(steps);
    ids.attachTo(steps);
    return ids;
  }

  static from(steps: Iterable<ClosedStep>): StepIds {
    const ids = new StepIds();
    for (const { step } of steps) ids.add(step);
    return ids;
  }

  /** Refuses a step whose ids finished steps have. Those of `known`, the same step before, were looked at. */
  static requireNew(steps: List<ClosedStep>, step: AgentStep, known?: AgentStep): void {
    if (steps.isEmpty || hasSameIds(step, known)) return;
    const clash = StepIds.of(steps).clash(step, steps.length, known);
    if (clash === undefined) return;
    const what = clash.id === step.id ? 'step' : 'tool execution';
    throw invalidArgument(`A ${what} before has the id ${clash.id}. Give this ${what} one of its own.`);
  }

  /** A list of finished steps with one more, whose ids are new. */
  static append<T extends ClosedStep>(steps: List<T>, execution: T): List<T> {
    const grown = steps.append(execution);
    const known = StepIds.notes.get(steps);
    // If another list has grown from this one already, this one gets its own ids once somebody asks for them.
    if (known?.length !== steps.length) return grown;
    known.add(execution.step);
    known.attachTo(grown);
    return grown;
  }

  /** Fails where a step that was read has an id that one before it has. */
  requireUnique(reader: DocumentReader, step: AgentStep): void {
    const clash = this.clash(step, this.length);
    if (clash === undefined) return;
    for (const key of clash.path) reader.enter(key);
    reader.fail('an id that no other has', clash.id);
  }

  /** Takes the ids of one step more. False when one of them was there: what is kept is then of no use. */
  addIfUnique(step: AgentStep): boolean {
    const count = this.steps.size + this.toolExecutions.size;
    this.add(step);
    return this.steps.size + this.toolExecutions.size === count + 1 + step.toolExecutions.length;
  }

  /** Keeps the ids with the list of the steps that were added. */
  attachTo(steps: List<ClosedStep>): void {
    StepIds.notes.set(steps, this);
  }

  /** Takes the ids of one step more. */
  add(step: AgentStep): void {
    const position = this.length++;
    this.steps.set(step.id, position);
    for (const { id } of step.toolExecutions) this.toolExecutions.set(id, position);
  }

  /** The first id of a step that one of the first so many steps has. */
  private clash(step: AgentStep, among: number, known?: AgentStep): Clash | undefined {
    const { id, toolExecutions } = step;
    if (id !== known?.id && isBefore(among, this.steps.get(id))) return { id, path: ['id'] };
    for (let index = 0; index < toolExecutions.length; index++) {
      const { id } = toolExecutions[index] as ToolExecution;
      if (known?.toolExecutions[index]?.id === id) continue;
      if (isBefore(among, this.toolExecutions.get(id))) return { id, path: ['toolExecutions', index, 'id'] };
    }
    return undefined;
  }
}

function hasSameIds(step: AgentStep, known: AgentStep | undefined): boolean {
  if (step.id !== known?.id) return false;
  if (step.toolExecutions === known.toolExecutions) return true;
  for (const [place, { id }] of step.toolExecutions.entries())
    if (executionWithId(known.toolExecutions, id, place) === undefined) return false;
  return true;
}

function isBefore(end: number, position: number | undefined): boolean {
  return position !== undefined && position < end;
}
