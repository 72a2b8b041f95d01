import type { Clock } from '../../clock.ts';
import type { JsonValue } from '../../json.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { ExecutionBudget } from '../../state/execution/budget.ts';
import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import { Usage } from '../../state/inference/usage.ts';
import type { Waiting } from '../../state/execution/waiting.ts';
import type { CallUsage } from '../../state/inference/usage.ts';
import { RunAbort } from '../stopping/abort.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { announceTo } from '../events.ts';
import type { AgentEvent, EventBody } from '../events.ts';
import type { ParentRun } from '../parent-run.ts';
import type { RunState } from '../run-state.ts';
import { stepAtWork } from '../stepper.ts';
import type { ToolContext } from './tool.ts';

/** Not a name: what a tool is given to see has no such member, and what it makes of it cannot claim one. */
const SELF = Symbol('RunningTool');

/** The call that a context, or a copy of it, belongs to; none for a context that was made by hand. */
export function runningToolOf(context: ToolContext): RunningTool | undefined {
  return (context as Partial<RunningTool>)[SELF];
}

/**
 * A tool's view of the run while one of its calls is tried. What it says after that try has ended changes nothing.
 * Its functions are members of their own, so that a tool may take it apart.
 */
export class RunningTool implements ToolContext {
  readonly toolCallId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly state: AgentState;
  readonly clock: Clock;
  readonly progress: JsonValue | undefined;
  /** Kept by a copy of the context. */
  readonly [SELF]: RunningTool = this;
  readonly #run: RunState;
  #hasEnded = false;

  constructor(run: RunState, { id, call, attempt, progress }: ToolExecution, signal: AbortSignal) {
    this.#run = run;
    this.toolCallId = call.toolCallId;
    this.idempotencyKey = id;
    this.attempt = attempt;
    this.progress = progress;
    this.signal = signal;
    this.state = run.state;
    this.clock = run.loop.clock;
  }

  /** What the run does when the retries of a call of the model are exhausted: a subagent's run does the same. */
  get onExhausted(): 'suspend' | 'fail' | undefined {
    return this.#run.loop.retry.onExhausted;
  }

  /** Says that the try has ended. */
  end(): void {
    this.#hasEnded = true;
  }

  readonly saveProgress = (progress: JsonValue): void => {
    this.#change((execution) => execution.withProgress(progress));
  };

  readonly addUsage = (usage: Usage | CallUsage): void => {
    const used = usage instanceof Usage ? usage : Usage.of(usage);
    this.#change((execution) => execution.withUsage(used));
  };

  readonly remaining = (): ExecutionBudget => {
    const { state, loop, workedSeconds, parent } = this.#run;
    const { usage, stepCount: steps } = state;
    const spent = { steps, tokens: usage.totalTokens, seconds: workedSeconds, cost: usage.cost };
    const budgetLeft = loop.budget.remaining(spent);
    return parent ? budgetLeft.cappedBy(parent.remaining().remaining({ steps })) : budgetLeft;
  };

  readonly emit = (event: AgentEvent): void => {
    if (!this.#hasEnded && !this.#run.isAbandoned()) announceTo(this.#run.listeners, event);
  };

  /** Aborts when the run does, also when it yields, and when the step is cut off. */
  get runSignal(): AbortSignal {
    return this.#run.signal;
  }

  // For subagents

  get parent(): ParentRun | undefined {
    return this.#run.parent;
  }

  /** Does anybody listen to the run? */
  get hasListeners(): boolean {
    return this.#run.listeners.length > 0;
  }

  /** Progress, usage and what is waited for as one change: a state that is stored has all of them or none. */
  addUsageAndProgress(usage: Usage, progress: JsonValue | undefined, waiting: readonly Waiting[]): void {
    this.#change((execution) => {
      const used = execution.withUsage(usage);
      return progress === undefined ? used : used.withNewProgress(progress).withWaitingInside(waiting);
    });
  }

  /** Keeps the states of a subagent's run, which `save` puts into this call, with the run that makes the call. */
  checkpoint(save: (state: AgentState) => void): Checkpoint | undefined {
    const run = this.#run;
    if (!run.checkpointer.isEnabled) return undefined;
    return {
      save: async (state, point) => {
        save(state);
        await run.checkpointer.save(run, point);
        if (this.#hasEnded || run.isAbandoned())
          throw (run.checkpointer.failure?.error ?? new RunAbort('lost')) as Error;
        return state;
      },
      mayAct: () => run.checkpointer.mayAct(run),
    };
  }

  /** The same as `emit`, of what happens to the run as it is now. */
  announce(happening: EventBody): void {
    if (!this.#hasEnded && !this.#run.isAbandoned()) this.#run.emit(happening);
  }

  #change(change: (execution: ToolExecution) => ToolExecution): void {
    const run = this.#run;
    if (this.#hasEnded || run.isAbandoned()) return;
    const execution = stepAtWork(run.state)?.toolExecutions.find(({ id }) => id === this.idempotencyKey);
    // When a hook has ended the execution, a call counts as interrupted until it has really ended.
    const isLate = run.state.currentStep === undefined && execution?.outcome?.type === 'interrupted';
    if (execution === undefined || !(execution.isRunning || isLate)) return;
    const toolExecution = change(execution);
    if (toolExecution !== execution) run.advance({ type: 'toolAdvanced', toolExecution, at: run.now() });
  }
}
