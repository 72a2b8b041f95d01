import { invalidArgument } from '../../errors.ts';
import type { DocumentReader } from '../../document.ts';
import type { StepId, ToolExecutionId } from '../values/ids.ts';
import { ListCache, type List } from '../values/list.ts';
import type { AgentStep } from './step.ts';
import type { ToolExecution } from '../tools/tool-execution.ts';
import { executionWithId } from '../tools/tool-executions.ts';

interface ClosedStep {
  readonly step: AgentStep;
}

/** An id that an earlier step or tool execution has, and its path in its step. */
interface Clash {
  readonly id: StepId | ToolExecutionId;
  readonly path: readonly (string | number)[];
}

/**
 * The ids of closed steps and of their tool executions, by the index of the step. Created at the first search for an
 * id; a loop creates random ids and does not search. The ids are then cached with the list of steps, so that a further
 * step costs the same for every length. A longer list shares the ids of the list that it grew from. An id counts for a
 * list only at an index that the list has.
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

  /** Returns the ids of closed steps, to which those of further steps are added. */
  static toExtend(steps: List<ClosedStep>): StepIds {
    const noted = StepIds.notes.get(steps);
    // If another list has grown from this one, the noted ids are those of the other list too.
    return noted?.length === steps.length ? noted : StepIds.from(steps);
  }

  private static from(steps: Iterable<ClosedStep>): StepIds {
    const ids = new StepIds();
    for (const { step } of steps) ids.add(step);
    return ids;
  }

  /**
   * Refuses a step with an id of a closed step. The ids of `known`, the earlier form of the step, were checked before.
   * @throws RangeError `ARGUMENT_INVALID` for a repeated id.
   */
  static requireNew(steps: List<ClosedStep>, step: AgentStep, known?: AgentStep): void {
    if (steps.isEmpty || hasSameIds(step, known)) return;
    const clash = StepIds.of(steps).clash(step, steps.length, known);
    if (clash === undefined) return;
    const what = clash.id === step.id ? 'step' : 'tool execution';
    throw invalidArgument(`An earlier ${what} has the id ${clash.id}. Give this ${what} another id.`);
  }

  /** Returns the list of closed steps with one more step, whose ids are new. */
  static append<T extends ClosedStep>(steps: List<T>, execution: T): List<T> {
    const grown = steps.append(execution);
    const known = StepIds.notes.get(steps);
    // If another list has grown from this one, this list collects ids of its own at the next search.
    if (known?.length !== steps.length) return grown;
    known.add(execution.step);
    known.attachTo(grown);
    return grown;
  }

  /** Fails at an id of a step that an earlier step has. */
  requireUnique(reader: DocumentReader, step: AgentStep): void {
    const clash = this.clash(step, this.length);
    if (clash === undefined) return;
    for (const key of clash.path) reader.enter(key);
    reader.fail('a unique id', clash.id);
  }

  /** Caches the ids with the list of the added steps. */
  attachTo(steps: List<ClosedStep>): void {
    StepIds.notes.set(steps, this);
  }

  add(step: AgentStep): void {
    const position = this.length++;
    this.steps.set(step.id, position);
    for (const { id } of step.toolExecutions) this.toolExecutions.set(id, position);
  }

  /** Returns the first id of a step that one of the first `among` steps has. */
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
