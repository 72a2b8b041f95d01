import type { Clock } from '../clock.ts';
import type { JsonValue } from '../json.ts';
import type { AgentState } from '../state/agent-state.ts';
import { ExecutionBudget } from '../state/budget.ts';
import type { ToolExecution } from '../state/tool-execution.ts';
import type { Usage } from '../state/usage.ts';
import { announceTo } from './events.ts';
import type { AgentEvent } from './events.ts';
import type { RunState } from './run-state.ts';
import type { ToolContext } from './tool.ts';

/** A tool's view of the run while one of its calls is tried. What it says after its call has ended changes nothing. */
export class RunningTool implements ToolContext {
  readonly toolCallId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly state: AgentState;
  readonly progress: JsonValue | undefined;
  private readonly run: RunState;

  constructor(run: RunState, { id, call, attempt, progress }: ToolExecution, signal: AbortSignal) {
    this.run = run;
    this.toolCallId = call.toolCallId;
    this.idempotencyKey = id;
    this.attempt = attempt;
    this.progress = progress;
    this.signal = signal;
    this.state = run.state;
  }

  get clock(): Clock {
    return this.run.loop.clock;
  }

  saveProgress(progress: JsonValue): void {
    this.change((execution) => execution.withProgress(progress));
  }

  addUsage(usage: Usage): void {
    this.change((execution) => execution.withUsage(usage));
  }

  remaining(): ExecutionBudget {
    const { state, loop } = this.run;
    const { usage, execution, stepCount } = state;
    return ExecutionBudget.of(loop.budget).remaining({
      steps: stepCount,
      tokens: usage.totalTokens,
      seconds: execution?.workedSeconds,
      cost: usage.cost,
    });
  }

  emit(event: AgentEvent): void {
    announceTo(this.run.listeners, event);
  }

  private change(change: (execution: ToolExecution) => ToolExecution): void {
    const { run } = this;
    const execution = run.state.currentStep?.toolExecutions.find(({ id }) => id === this.idempotencyKey);
    if (!execution?.isRunning || run.hasLeft()) return;
    const toolExecution = change(execution);
    if (toolExecution !== execution) run.advance({ type: 'toolAdvanced', toolExecution, at: run.now() });
  }
}
