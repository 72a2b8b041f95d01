import type { Clock } from '../clock.ts';
import type { BudgetLimits } from '../state/budget.ts';
import type { MessageCompiler } from './compile-messages.ts';
import type { Driver, ToolChoice } from './driver.ts';
import type { AgentEventListener } from './events.ts';
import type { CostLimitOptions } from './guards.ts';
import type { HookChain } from './hook-chain.ts';
import type { ParentRun } from './parent-run.ts';
import type { Tool } from './tool.ts';

/** What a loop is made of; see `AgentLoopOptions`. */
export interface LoopParts {
  readonly driver: Driver;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolList: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly hooks: HookChain;
  readonly compile: MessageCompiler;
  readonly toolErrors: 'continue' | 'fail';
  readonly maxParallelTools: number;
  readonly maxResultLength: number;
  readonly budget: BudgetLimits;
  /** What a limit of cost needs, when the loop knows prices. */
  readonly cost: CostLimitOptions | undefined;
  readonly clock: Clock;
}

/** What is given to one run. */
export interface RunParts {
  readonly signal: AbortSignal;
  readonly listeners: readonly AgentEventListener[];
  /** The run in which this one is a tool. */
  readonly parent?: ParentRun | undefined;
}
