import type { Instant } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { StopSignal } from '../../state/execution/continuation.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { EventBody } from '../steps/events.ts';
import type { AbortKind } from '../stopping/abort.ts';
import type { RunSignals } from '../stopping/run-signals.ts';
import type { Checkpointer } from './checkpointer.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';
import type { RunHooks } from './run-hooks.ts';

/** The part of a run that tool executions use. */
export interface ToolRun {
  readonly loop: Pick<
    LoopParts,
    'tools' | 'hooks' | 'clock' | 'budget' | 'retry' | 'toolErrors' | 'maxParallelTools' | 'maxResultLength'
  >;
  readonly given: Pick<RunParts, 'listeners' | 'parent' | 'runContext' | 'session' | 'awaitReader'>;
  readonly state: AgentState;
  readonly signals: RunSignals;
  readonly hooks: RunHooks;
  readonly checkpointer: Checkpointer;
  /** The seconds worked in this execution until now. */
  readonly workedSeconds: number;
  now(): Instant;
  /** Records changed executions in the state. */
  record(toolExecutions: readonly ToolExecution[], at: Instant): void;
  raise(signal: StopSignal): void;
  emit(happening: EventBody): void;
  /** Records an abort, once, and returns its kind. */
  checkAbort(): AbortKind | undefined;
  /** True when work that costs time or money may start. */
  mayBegin(): boolean;
}
