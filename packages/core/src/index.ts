// What an agent is: immutable values
export { AgentState } from './state/agent-state.ts';
export type { AgentStateDebug, AgentStateInit } from './state/agent-state.ts';
export { AgentContext } from './state/context.ts';
export { MessageStore } from './state/messages/message-store.ts';
export type { Section } from './state/messages/message-store.ts';
export { LineageNotes, List } from './state/values/list.ts';
export {
  assistantMessage,
  reasoningOf,
  systemMessage,
  textOf,
  toolCallsOf,
  toolMessage,
  userMessage,
} from './state/messages/messages.ts';
export type {
  AssistantMessage,
  AssistantPart,
  CustomPart,
  FileData,
  FilePart,
  Message,
  MessageOptions,
  MessagePart,
  MessageRole,
  Messages,
  ProviderOptions,
  ReasoningFilePart,
  ReasoningPart,
  SourcePart,
  SystemMessage,
  TextPart,
  ToolCallPart,
  ToolContentPart,
  ToolMessage,
  ToolOutput,
  ToolResultPart,
  UserMessage,
  UserPart,
} from './state/messages/messages.ts';
export { executionIdOf, isTrace } from './state/messages/message-tags.ts';
export type { MessageTags } from './state/messages/message-tags.ts';
export { Metadata, metadataKey } from './state/metadata.ts';
export type { MetadataKey } from './state/metadata.ts';
export { ExecutionState, isTerminal } from './state/execution/execution.ts';
export type { ExecutionStatus, Waiting } from './state/execution/execution.ts';
export { StepExecution } from './state/execution/step-execution.ts';
export { AgentStep, newStepMessageIds } from './state/execution/step.ts';
export type { StepMessageIds, StepType } from './state/execution/step.ts';
export { ToolExecution } from './state/execution/tool-execution.ts';
export type { Approval, ApprovalDecision } from './state/execution/tool-execution.ts';
export { OUTCOME_RULES } from './state/execution/tool-outcome.ts';
export type { OutcomeRule, ToolOutcome, ToolOutcomeType } from './state/execution/tool-outcome.ts';
export { InferenceResponse } from './state/execution/inference.ts';
export { Usage } from './state/execution/usage.ts';
export type { FinishReason, InferenceResponseInit } from './state/execution/inference.ts';
export type { LlmConfig, ResponseFormat } from './state/llm-config.ts';
export type { CallUsage, UsageFields } from './state/execution/usage.ts';
export { AgentStop, Continuation, isForceStop, STOP_REASON_RANK, stopSignal } from './state/execution/continuation.ts';
export type { StopReason, StopSignal } from './state/execution/continuation.ts';
export { ExecutionBudget } from './state/execution/budget.ts';
export type { BudgetLimits, BudgetSpent } from './state/execution/budget.ts';
export { agentDefinition } from './state/agent-definition.ts';
export type { AgentDefinition } from './state/agent-definition.ts';
export type { ErrorRecord } from './state/values/error-record.ts';
export { AgentId, ExecutionId, MessageId, SessionId, StepId, ToolExecutionId } from './state/values/ids.ts';
export type { Id, IdKind } from './state/values/ids.ts';
export { snapshotVersion } from './state/snapshot.ts';
export type { SnapshotEnvelope, SnapshotFormat } from './state/snapshot.ts';

// What an agent does: one step at a time
export { createAgentLoop } from './loop/agent-loop.ts';
export type { Checkpoint, CheckpointPoint } from './loop/checkpoint.ts';
export type { AgentLoop, AgentLoopOptions, RunOptions } from './loop/agent-loop.ts';
export { apply, next } from './loop/stepper.ts';
export type { NextAction, Outcome } from './loop/stepper.ts';
export type {
  Driver,
  InferenceDelta,
  InferenceOptions,
  InferenceRequest,
  ToolChoice,
  ToolDescription,
} from './loop/driver.ts';
export { tool, ToolExecutionBlockedError } from './loop/tools/tool.ts';
export type { ApprovalContext, Reconciled, Tool, ToolContext, ToolEffect, ToolRetry } from './loop/tools/tool.ts';
export { ToolResult, toolResult } from './loop/tools/tool-result.ts';
export type { ToolResultInit } from './loop/tools/tool-result.ts';
export type {
  OutputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
  Validated,
} from './loop/tools/tool-schema.ts';
export { subagent } from './agents/subagent.ts';
export type { SubagentTask } from './agents/subagent.ts';
export { structuredOutput } from './agents/structured-output.ts';
export type { StructuredOutput, StructuredOutputOptions } from './agents/structured-output.ts';
export type {
  CutOff,
  Hook,
  HookContext,
  HookPoint,
  InferenceChange,
  ResponseChange,
  ToolCallChange,
  ToolExecutionChange,
} from './loop/hooks/hook.ts';
export {
  cancellation,
  costLimit,
  deadline,
  finishReason,
  guardsFor,
  retryLimit,
  stepsLimit,
  timeLimit,
  tokenLimit,
} from './loop/stopping/guards.ts';
export type { CostLimitOptions } from './loop/stopping/guards.ts';
export { costOf } from './loop/stopping/model-prices.ts';
export type { ModelIdOf, ModelPrice, ModelPrices } from './loop/stopping/model-prices.ts';
export { summarize, summarized } from './agents/summarize.ts';
export type { Summarization, SummarizeOptions } from './agents/summarize.ts';
export {
  allSections,
  conversationWithCurrentToolTrace,
  messageCompiler,
  selectedSections,
} from './loop/compile/compile-messages.ts';
export type { MessageCompiler, MessageSelector, MessageTransform } from './loop/compile/compile-messages.ts';
export { AgentBuilder } from './agents/agent-builder.ts';
export type { AgentSettings, Capability, CapabilityFactory } from './agents/agent-builder.ts';
export type { Agent } from './agents/agent.ts';
export { summaries } from './agents/summaries.ts';
export type { SummariesOptions } from './agents/summaries.ts';
export { RunAbort } from './loop/stopping/abort.ts';
export type { AbortKind } from './loop/stopping/abort.ts';
export type { EventStream } from './loop/event-stream.ts';
export type { AgentEvent, AgentEventListener, AgentEventType } from './loop/events.ts';
export { on, wiretap } from './observe/observe.ts';
export type { AgentEventOf } from './observe/observe.ts';
export { consoleObserver } from './observe/console-observer.ts';
export type { ConsoleObserverOptions } from './observe/console-observer.ts';
export { redacted } from './loop/redact.ts';
export type { Redact } from './loop/redact.ts';

// How an agent is kept: between runs and processes
export { AgentSession } from './session/session.ts';
export type { AgentSessionInit, SessionRevision } from './session/session.ts';
export type { ListedSession, SessionInfo, SessionStatus } from './session/session-info.ts';
export {
  InboxFullError,
  SessionBusyError,
  SessionConflictError,
  SessionNotFoundError,
  SessionTooLargeError,
  StoreThrottledError,
  StoreUnavailableError,
} from './session/session-errors.ts';
export type { SessionConflictKind } from './session/session-errors.ts';
export type {
  ClaimedSession,
  ClaimOptions,
  CreateOptions,
  DeleteOptions,
  DuePage,
  DueQuery,
  DueSession,
  InboxItem,
  InboxItemName,
  InboxPage,
  LoadOptions,
  RenewedClaim,
  RenewOptions,
  SaveOptions,
  SessionClaim,
  SessionExpiry,
  SessionOrder,
  SessionPage,
  SessionQuery,
  SessionStore,
  StoreCapabilities,
  UnreadableItem,
} from './session/session-store.ts';
export { MemorySessionStore } from './session/store/memory-session-store.ts';

// How a database becomes a session store
export { BackedSessionStore } from './session/store/backed-session-store.ts';
export type { StoreOptions } from './session/store/backed-session-store.ts';
export type {
  ItemRange,
  RecordChange,
  SessionBackend,
  StoredItem,
  StoredSession,
  SwapResult,
} from './session/store/session-backend.ts';
export { isItemWaiting, waitingItems } from './session/store/inbox-cursor.ts';
export type { InboxCursor } from './session/store/inbox-cursor.ts';
export { dueAt, isExpired, listedSession, recordName } from './session/store/session-record.ts';
export { readSessionRecord } from './session/store/read-session-record.ts';
export type { SessionRecord } from './session/store/session-record.ts';
export { compareDue, compareListedSessions, fitsDue, fitsQuery, isAfter } from './session/store/session-cursor.ts';
export type { ResolvedDueQuery, ResolvedSessionQuery, SessionPosition } from './session/store/session-cursor.ts';
export { planSave, restoreSession, savedParts } from './session/store/save-plan.ts';
export { carriedOut } from './session/store/saved-session.ts';
export type { ListChange, SavedParts, SavedSession, SavePlan } from './session/store/saved-session.ts';

export { SessionRuntime } from './session/work/session-runtime.ts';
export type { ForkOptions } from './session/actions/fork.ts';
export type { AgentCatalog } from './session/work/agent-catalog.ts';
export type {
  CreateSessionOptions,
  ExecuteOptions,
  SessionRuntimeOptions,
} from './session/work/runtime-options.ts';
export type { SessionEvent, SessionHooks } from './session/work/session-events.ts';
export type { SavePolicy } from './session/work/save-policy.ts';
export {
  approve,
  changeModel,
  changeStatus,
  changeSystemPrompt,
  clear,
  deny,
  resume,
  sendMessage,
  writeMetadata,
} from './session/actions/actions.ts';
export type { ActionContext, DecisionOptions, SessionAction } from './session/actions/actions.ts';
export { pendingApprovals, withDecision } from './session/actions/approval.ts';
export type { Decision } from './session/actions/approval.ts';
export type { InboxContent } from './session/actions/inbox.ts';

// How many machines work on agents
export { sweep } from './session/engine/engine.ts';
export type {
  Advance,
  Advanced,
  AdvanceOptions,
  AdvanceOutcome,
  ExecutionEngine,
  ServedEngine,
} from './session/engine/engine.ts';
export { InProcessEngine } from './session/engine/in-process-engine.ts';
export type { InProcessEngineOptions } from './session/engine/in-process-engine.ts';

// Leaves
export { ERROR_CODES, hasErrorCode, HoldfastError, invalidArgument, StateFormatError } from './errors.ts';
export type { ErrorCode, HoldfastErrorOptions, StateFormatErrorOptions } from './errors.ts';
export { systemClock } from './clock.ts';
export type { Clock, Instant } from './clock.ts';
export { toJsonObject, toJsonValue } from './json.ts';
export type { JsonObject, JsonValue } from './json.ts';
