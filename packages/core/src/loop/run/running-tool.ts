import type { Clock, Instant } from '../../clock.ts';
import type { JsonValue } from '../../json.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { ExecutionBudget } from '../../state/execution/budget.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import { NOTHING } from '../../state/values/frozen-array.ts';
import { Usage, type CallUsage } from '../../state/inference/usage.ts';
import type { Waiting } from '../../state/values/waiting.ts';
import { RunAbort } from '../stopping/abort.ts';
import type { Checkpoint } from '../steps/checkpoint.ts';
import { announceTo, type AgentEvent, type EventBody } from '../steps/events.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';
import { stepAtWork, type Workable } from '../steps/stepper.ts';
import { excessOfProgress, shareOfCall, tooLargeError } from '../tools/result-size.ts';
import type { ToolContext } from '../tools/tool-context.ts';
import type { InferenceRun } from './infer.ts';
import type { HookedRun } from './run-hooks.ts';

/** The part of a run that tool executions use. */
export interface ToolRun
  extends
    Pick<
      HookedRun,
      'state' | keyof Workable | 'signals' | 'clock' | 'now' | 'raise' | 'checkAbort' | 'mayBegin'
    >,
    Pick<InferenceRun, 'hooks' | 'checkpointer' | 'emit'> {
  readonly loop: Pick<
    LoopParts,
    | 'tools'
    | 'hooks'
    | 'clock'
    | 'modelIdOf'
    | 'budget'
    | 'retry'
    | 'toolErrors'
    | 'maxParallelTools'
    | 'maxResultLength'
    | 'resultLimits'
  >;
  readonly given: Pick<RunParts, 'listeners' | 'parent' | 'runContext' | 'session' | 'awaitReader'>;
  /** The seconds worked in this execution until now. */
  readonly workedSeconds: number;
  /** Records changed executions in the state. */
  record(toolExecutions: readonly ToolExecution[], at: Instant): void;
}

/** A symbol and not a name, so that a tool does not see the member and cannot imitate it. */
const SELF = Symbol('RunningTool');

/** The call that a context, or a copy of it, belongs to; `undefined` for a context that a caller created. */
export function runningToolOf(context: ToolContext): RunningTool | undefined {
  return (context as Partial<RunningTool>)[SELF];
}

/**
 * A tool's view of the run during one attempt at a call. Calls of its methods after the attempt have no effect. Its
 * functions are own members, so a tool may destructure it.
 */
export class RunningTool implements ToolContext {
  readonly toolCallId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly state: AgentState;
  readonly clock: Clock;
  readonly runContext: unknown;
  readonly progress: JsonValue | undefined;
  /** Copies of the context have this member too. */
  declare readonly [SELF]: RunningTool;
  readonly #run: ToolRun;
  #hasEnded = false;

  constructor(run: ToolRun, { id, call, attempt, progress }: ToolExecution, signal: AbortSignal) {
    this.#run = run;
    this[SELF] = this; // a field with a computed name would keep the class in every bundle
    this.toolCallId = call.toolCallId;
    this.idempotencyKey = id;
    this.attempt = attempt;
    this.progress = progress;
    this.signal = signal;
    this.state = run.state;
    this.clock = run.loop.clock;
    this.runContext = run.given.runContext;
  }

  /** Marks the attempt as completed. */
  end(): void {
    this.#hasEnded = true;
  }

  readonly saveProgress = (progress: JsonValue): void => {
    const toolExecution = this.#change((execution) => {
      const saved = execution.withProgress(progress);
      const excess = this.#excessOf(saved);
      if (excess === undefined) return saved;
      throw tooLargeError(`The progress of tool "${saved.name}" was not saved: it has ${excess}.`);
    });
    const stepId = stepAtWork(this.#run.state)?.id;
    if (toolExecution && stepId) this.#run.emit({ type: 'tool-progress', stepId, toolExecution });
  };

  readonly addUsage = (usage: Usage | CallUsage): void => {
    const used = usage instanceof Usage ? usage : Usage.of(usage);
    this.#change((execution) => execution.withUsage(used));
  };

  readonly remaining = (): ExecutionBudget => {
    const { state, loop, workedSeconds, given } = this.#run;
    const { usage, stepCount: steps } = state;
    const spent = { steps, tokens: usage.totalTokens, seconds: workedSeconds, cost: usage.cost };
    const budgetLeft = loop.budget.remaining(spent);
    const inParent = given.parent?.remaining().remaining({ steps });
    return inParent ? budgetLeft.cappedBy(inParent) : budgetLeft;
  };

  readonly emit = (event: AgentEvent): void => {
    if (this.#isOpen) announceTo(this.#run.given.listeners, event);
  };

  /** Aborts when the run is aborted, also by a yield, and at the step deadline. */
  get runSignal(): AbortSignal {
    return this.#run.signals.current;
  }

  /** Lets the call wait for its answer. The wait survives the end of the process. */
  waitForAnswer(timeoutSeconds: number | undefined): void {
    const until = this.clock.now() + Math.ceil((timeoutSeconds ?? Infinity) * 1000);
    this.#change((execution) =>
      execution.withWaitingInside([
        {
          type: 'answer',
          toolExecutionId: execution.id,
          ...(Number.isSafeInteger(until) && { until }),
        },
      ]),
    );
  }

  // For subagents

  /** The parent, session and reader of the run, which a subagent's run adopts. */
  get given(): Pick<RunParts, 'listeners' | 'parent' | 'session' | 'awaitReader'> {
    return this.#run.given;
  }

  /** The run's `onExhausted`, which a subagent's run adopts. */
  get onExhausted(): 'suspend' | 'fail' | undefined {
    return this.#run.loop.retry.onExhausted;
  }

  /** The bytes of progress that the call may have, when each open call of the step has as many; `undefined`: no limit. */
  get shareBytes(): (() => number) | undefined {
    const { stepBytes } = this.#run.loop.resultLimits;
    return stepBytes && (() => shareOfCall(stepAtWork(this.#run.state) as AgentStep, stepBytes()));
  }

  /**
   * Records progress, usage and waiting entries as one change: a stored state has all of them or none. Progress that the
   * store does not take is not recorded; then it returns by how much it is too large.
   */
  addUsageAndProgress(
    usage: Usage,
    progress: JsonValue | undefined,
    waiting: readonly Waiting[],
  ): string | undefined {
    let excess: string | undefined;
    this.#change((execution) => {
      const used = execution.withUsage(usage);
      const saved = progress === undefined ? used : used.withNewProgress(progress).withWaitingInside(waiting);
      excess = progress === undefined ? undefined : this.#excessOf(saved);
      return excess === undefined ? saved : used;
    });
    return excess;
  }

  /**
   * The checkpoint of a subagent's run. `save` stores the subagent's state in this call, and the outer run is saved
   * with it.
   */
  checkpoint(save: (state: AgentState) => void): Checkpoint | undefined {
    const { checkpointer } = this.#run;
    if (!checkpointer.isEnabled) return undefined;
    return {
      save: async (state, point) => {
        save(state);
        await checkpointer.save(point);
        if (!this.#isOpen) throw (checkpointer.failure?.error ?? new RunAbort('lost')) as Error;
        return state;
      },
      mayAct: () => checkpointer.mayAct(),
    };
  }

  /** Announces an event with the current state of the run. */
  announce(happening: EventBody): void {
    if (this.#isOpen) this.#run.emit(happening);
  }

  /** True while the attempt runs, and no other worker has the execution. */
  get #isOpen(): boolean {
    return !this.#hasEnded && !this.#run.signals.isAbandoned();
  }

  #excessOf(execution: ToolExecution): string | undefined {
    const { state, loop } = this.#run;
    return excessOfProgress(execution, stepAtWork(state)?.toolExecutions ?? NOTHING, loop.resultLimits);
  }

  /** Changes the execution of the call, and returns it; `undefined` when nothing changes. */
  #change(change: (execution: ToolExecution) => ToolExecution): ToolExecution | undefined {
    const run = this.#run;
    if (!this.#isOpen) return undefined;
    const execution = stepAtWork(run.state)?.toolExecutions.find(({ id }) => id === this.idempotencyKey);
    // After a hook ended the execution, a running call counts as interrupted until it completes.
    const isLate = run.state.currentStep === undefined && execution?.outcome?.type === 'interrupted';
    if (execution === undefined || !(execution.isRunning || isLate)) return undefined;
    const toolExecution = change(execution);
    if (toolExecution === execution) return undefined;
    run.record([toolExecution], run.now());
    return toolExecution;
  }
}
