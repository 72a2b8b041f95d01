import { systemClock } from '../../clock.ts';
import { AgentState } from '../../state/agent-state.ts';
import { ExecutionBudget } from '../../state/execution/budget.ts';
import { ToolExecutionId } from '../../state/values/ids.ts';
import { neverSignal } from '../stopping/abort.ts';
import type { ToolContext } from './tool.ts';

/** A context to call a tool with in a test: nothing listens, nothing is limited, and what is said is not kept. */
export function toolContext(init: Partial<ToolContext> = {}): ToolContext {
  const clock = init.clock ?? systemClock;
  return {
    toolCallId: 'call_1',
    idempotencyKey: ToolExecutionId.create(clock),
    attempt: 1,
    signal: neverSignal(),
    state: AgentState.empty({ at: clock.now() }),
    clock,
    progress: undefined,
    saveProgress: () => undefined,
    addUsage: () => undefined,
    remaining: () => ExecutionBudget.unlimited(),
    emit: () => undefined,
    ...init,
  };
}
