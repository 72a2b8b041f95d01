import type { Clock } from '../clock.ts';
import type { JsonValue } from '../json.ts';
import type { AgentState } from '../state/agent-state.ts';
import { ExecutionBudget } from '../state/budget.ts';
import type { ToolExecution } from '../state/tool-execution.ts';
import { Usage } from '../state/usage.ts';
import type { CallUsage } from '../state/usage.ts';
import { announceTo } from './events.ts';
import type { AgentEvent } from './events.ts';
import type { RunState } from './run-state.ts';
import type { ToolContext } from './tool.ts';

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
    const { state, loop, workedSeconds } = this.#run;
    const { usage, stepCount } = state;
    return ExecutionBudget.of(loop.budget).remaining({
      steps: stepCount,
      tokens: usage.totalTokens,
      seconds: workedSeconds,
      cost: usage.cost,
    });
  };

  readonly emit = (event: AgentEvent): void => {
    if (!this.#hasEnded && !this.#run.isLost()) announceTo(this.#run.listeners, event);
  };

  #change(change: (execution: ToolExecution) => ToolExecution): void {
    const run = this.#run;
    if (this.#hasEnded || run.isLost()) return;
    const execution = run.state.currentStep?.toolExecutions.find(({ id }) => id === this.idempotencyKey);
    if (!execution?.isRunning) return;
    const toolExecution = change(execution);
    if (toolExecution !== execution) run.advance({ type: 'toolAdvanced', toolExecution, at: run.now() });
  }
}
