import { mustBe, optionsCheck } from '../../arguments.ts';
import { systemClock } from '../../clock.ts';
import { AgentState } from '../../state/agent-state.ts';
import { ExecutionBudget } from '../../state/execution/budget.ts';
import { ToolExecutionId } from '../../state/values/ids.ts';
import { neverSignal } from '../stopping/abort.ts';
import type { ToolContext } from './tool.ts';

const checkInit = optionsCheck<Partial<ToolContext>>('toolContext', {
  toolCallId: mustBe.string,
  idempotencyKey: mustBe.string,
  attempt: mustBe.wholeNumber(1),
  signal: mustBe.signal,
  state: { expected: 'an AgentState', accepts: (value) => value instanceof AgentState },
  clock: mustBe.clock,
  progress: mustBe.anything,
  saveProgress: mustBe.function,
  addUsage: mustBe.function,
  remaining: mustBe.function,
  emit: mustBe.function,
});

/**
 * Creates a context for calling a tool in a test: it has no listeners and no limits, and stores nothing.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown member or an invalid value.
 */
export function toolContext(init: Partial<ToolContext> = {}): ToolContext {
  checkInit(init);
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
