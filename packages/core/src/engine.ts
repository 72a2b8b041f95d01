// Exports for authors of engines and of other hosts of the loop, beside those of the root: the engine contract, the
// stepper, and the parts of a state and of a run
export type { AgentStateDebug, AgentStateView } from './state/agent-state-view.ts';
export type { AgentStateInit } from './state/agent-state-init.ts';
export { AgentContext } from './state/context.ts';
export type { AgentContextFields } from './state/context.ts';
export type { Section } from './state/messages/message-store.ts';
export { executionIdOf, isTrace } from './state/messages/message-tags.ts';
export type { MessageTags } from './state/messages/message-tags.ts';
export { Metadata } from './state/values/metadata.ts';
export { ExecutionState } from './state/execution/execution.ts';
export { isTerminal } from './state/execution/status.ts';
export { StepExecution } from './state/execution/step-execution.ts';
export type { StepExecutionFields } from './state/execution/step-execution.ts';
export { newStepMessageIds } from './state/execution/step-output.ts';
export type { StepMessageIds } from './state/execution/step-output.ts';
export type { StepType } from './state/execution/step.ts';
export type { Answer } from './state/tools/answer.ts';
export type { Approval, ApprovalDecision } from './state/tools/approval.ts';
export { OUTCOME_RULES } from './state/tools/tool-outcome.ts';
export type { OutcomeRule, ToolBlock, ToolOutcomeType } from './state/tools/tool-outcome.ts';
export type { ContextLimit } from './state/inference/context-limit.ts';
export type { CallUsage } from './state/inference/usage.ts';
export { Continuation, isForceStop, STOP_REASON_RANK, stopSignal } from './state/execution/continuation.ts';
export type { BudgetSpent } from './state/execution/budget.ts';
export { AgentId, ExecutionId, MessageId, SessionId, StepId, ToolExecutionId } from './state/values/ids.ts';
export type { Id, IdKind } from './state/values/ids.ts';
export { snapshotVersion } from './state/snapshot.ts';
export type { SnapshotEnvelope, SnapshotFormat } from './state/snapshot.ts';
export type { Checkpoint, CheckpointPoint } from './loop/steps/checkpoint.ts';
export { applyOutcome, nextAction } from './loop/steps/stepper.ts';
export type { NextAction, StepperOutcome } from './loop/steps/stepper.ts';
export { ToolExecutionBlockedError } from './loop/run/tool-admission.ts';
export type { Reduction } from './loop/inference/context-limit.ts';
export type { RunArguments } from './loop/agent-loop.ts';
export type { IfContextNeeded, ToolFactory } from './loop/tools/run-context.ts';
export type { AnyTool, QuestionInit, ReconcileResult, ToolInit } from './loop/tools/tool-types.ts';
export type { ApprovalContext } from './loop/tools/tool-context.ts';
export type { CallerContext, SubagentInit, SubagentTask, ToRunContext, ToTask } from './agents/subagent.ts';
export type {
  HookPoint,
  HookResult,
  InferenceChange,
  ResponseChange,
  StepDeadline,
  TooLongContext,
  ToolCallChange,
  ToolExecutionChange,
  ToolUseContext,
} from './loop/hooks/hook.ts';
export { guardsFor } from './loop/stopping/guards.ts';
export type { CostLimitOptions } from './loop/stopping/guards.ts';
export type { ModelIdOf, ModelPrice } from './loop/inference/model-prices.ts';
export { summaryCompiler } from './agents/summarize.ts';
export type { StructuredOutputOptions } from './agents/structured-output.ts';
export type { Summarization, SummariesOptions, SummarizeOptions } from './agents/summarize.ts';
export type { MessageSelector } from './loop/compile/compile-messages.ts';
export type { AgentSettings, CapabilityFactory } from './agents/agent-builder.ts';
export type { AbortKind } from './loop/stopping/abort.ts';
export type { EventStream } from './loop/run/event-stream.ts';
export type { AgentEventType, EventBody, EventFrame, EventSession } from './loop/steps/events.ts';
export type { AgentEventOf } from './observe/observe.ts';
export type { RequireRunContext } from './session/runtime/runtime-options.ts';
export type { RunContextFactory } from './session/work/agents.ts';
export type { SessionOrder } from './session/session-store.ts';
export { withAnswer } from './session/actions/answer.ts';
export type { GivenAnswer } from './session/actions/answer.ts';
export type { AnswerOptions } from './session/actions/actions.ts';
export { withDecision } from './session/actions/approval.ts';
export type { Decision } from './session/actions/approval.ts';
export { IsolatedProcess, serveIsolated } from './session/engine/isolated-process.ts';
export type { IsolatedProcessOptions } from './session/engine/isolated-process.ts';
export { sweep } from './session/engine/sweep.ts';
export type { SweepOptions, SweepResult } from './session/engine/sweep.ts';
export type {
  Advance,
  AdvanceOptions,
  AdvanceOutcome,
  AdvanceResult,
  EngineWorker,
  ExecutionEngine,
  Schedule,
  ServeOptions,
  WakeOptions,
} from './session/engine/engine.ts';
export type { LaneLimits } from './session/engine/queue/lane-turns.ts';
export { GROUP_CONCURRENCY, groupLimits } from './session/engine/queue/group-limits.ts';
export type { GroupConcurrency, GroupLimits } from './session/engine/queue/group-limits.ts';
export { metricsText } from './session/engine/metrics/metrics-text.ts';
export type { MetricLabels, MetricsTextOptions } from './session/engine/metrics/metrics-text.ts';
export type { EngineMetrics, LaneMetrics, WaitMetrics } from './session/engine/metrics/engine-metrics.ts';
export { QueueEngine } from './session/engine/queue/queue-engine.ts';
export type { QueueEngineOptions } from './session/engine/queue/queue-engine.ts';
export type {
  FollowUp,
  LaneBacklog,
  LockedSession,
  WakeUp,
  WakeUpQueue,
} from './session/engine/wake-up-queue.ts';
export { PollingEngine } from './session/engine/polling/polling-engine.ts';
export type { PollingEngineOptions } from './session/engine/polling/polling-engine.ts';
export type { InProcessEngineOptions } from './session/engine/queue/in-process-engine.ts';
export { ERROR_CODES } from './errors.ts';
export type { HoldfastErrorOptions } from './errors.ts';
export type { AsJson, ToolExecutionOf } from './loop/tools/typed-execution.ts';
export { callAfter } from './clock.ts';
export { checkArgument, mustBe, optionsCheck } from './arguments.ts';
export type { ArgumentCheck, OptionChecks, OptionsCheck } from './arguments.ts';
export type { ConsoleObserverOptions } from './observe/console-observer.ts';
export type { CancelOptions, DecisionOptions } from './session/actions/actions.ts';
export type { EditMessageOptions, RegenerateOptions } from './session/actions/regenerate.ts';
export type { ForkOptions } from './session/actions/fork.ts';
export type { AnnounceOptions } from './session/runtime/announce.ts';
export type { InspectedSession, ToolFacts } from './session/runtime/tool-facts.ts';
