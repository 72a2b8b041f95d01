// What an agent is: immutable values
export { AgentState } from './state/agent-state.ts';
export type { AgentStateDebug, AgentStateInit } from './state/agent-state.ts';
export { AgentContext } from './state/context.ts';
export { MessageStore } from './state/message-store.ts';
export type { Section } from './state/message-store.ts';
export { LineageNotes, List } from './state/list.ts';
export {
  assistantMessage,
  reasoningOf,
  systemMessage,
  textOf,
  toolCallsOf,
  toolMessage,
  userMessage,
} from './state/messages.ts';
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
} from './state/messages.ts';
export { executionIdOf, isTrace } from './state/message-tags.ts';
export type { MessageTags } from './state/message-tags.ts';
export { Metadata, metadataKey } from './state/metadata.ts';
export type { MetadataKey } from './state/metadata.ts';
export { ExecutionState, isTerminal } from './state/execution.ts';
export type { ExecutionStatus, Waiting } from './state/execution.ts';
export { StepExecution } from './state/step-execution.ts';
export { AgentStep, newStepMessageIds } from './state/step.ts';
export type { StepMessageIds, StepType } from './state/step.ts';
export { ToolExecution } from './state/tool-execution.ts';
export type { Approval, ApprovalDecision } from './state/tool-execution.ts';
export { OUTCOME_RULES } from './state/tool-outcome.ts';
export type { OutcomeRule, ToolOutcome, ToolOutcomeType } from './state/tool-outcome.ts';
export { InferenceResponse } from './state/inference.ts';
export { Usage } from './state/usage.ts';
export type { FinishReason, InferenceResponseInit } from './state/inference.ts';
export type { LlmConfig, ResponseFormat } from './state/llm-config.ts';
export type { CallUsage, UsageFields } from './state/usage.ts';
export { AgentStop, Continuation, isForceStop, STOP_REASON_RANK, stopSignal } from './state/continuation.ts';
export type { StopReason, StopSignal } from './state/continuation.ts';
export { ExecutionBudget } from './state/budget.ts';
export type { BudgetLimits, BudgetSpent } from './state/budget.ts';
export { agentDefinition } from './state/agent-definition.ts';
export type { AgentDefinition } from './state/agent-definition.ts';
export type { ErrorRecord } from './state/error-record.ts';
export { AgentId, ExecutionId, MessageId, SessionId, StepId, ToolExecutionId } from './state/ids.ts';
export type { Id, IdKind } from './state/ids.ts';
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
export { tool, ToolExecutionBlockedError } from './loop/tool.ts';
export type { ApprovalContext, Reconciled, Tool, ToolContext, ToolEffect, ToolRetry } from './loop/tool.ts';
export { ToolResult, toolResult } from './loop/tool-result.ts';
export type { ToolResultInit } from './loop/tool-result.ts';
export type {
  OutputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
  Validated,
} from './loop/tool-schema.ts';
export { subagent } from './loop/subagent.ts';
export type { SubagentTask } from './loop/subagent.ts';
export { structuredOutput } from './loop/structured-output.ts';
export type { StructuredOutput, StructuredOutputOptions } from './loop/structured-output.ts';
export type {
  CutOff,
  Hook,
  HookContext,
  HookPoint,
  InferenceChange,
  ResponseChange,
  ToolCallChange,
  ToolExecutionChange,
} from './loop/hook.ts';
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
} from './loop/guards.ts';
export type { CostLimitOptions } from './loop/guards.ts';
export { costOf } from './loop/model-prices.ts';
export type { ModelIdOf, ModelPrice, ModelPrices } from './loop/model-prices.ts';
export { summarize, summarized } from './loop/summarize.ts';
export type { Summarization, SummarizeOptions } from './loop/summarize.ts';
export {
  allSections,
  conversationWithCurrentToolTrace,
  messageCompiler,
  selectedSections,
} from './loop/compile-messages.ts';
export type { MessageCompiler, MessageSelector, MessageTransform } from './loop/compile-messages.ts';
export { AgentBuilder } from './loop/agent-builder.ts';
export type { AgentSettings, Capability, CapabilityFactory } from './loop/agent-builder.ts';
export type { Agent } from './loop/agent.ts';
export { summaries } from './loop/summaries.ts';
export type { SummariesOptions } from './loop/summaries.ts';
export { RunAbort } from './loop/abort.ts';
export type { AbortKind } from './loop/abort.ts';
export type { EventStream } from './loop/event-stream.ts';
export type { AgentEvent, AgentEventListener, AgentEventType } from './loop/events.ts';
export { on, wiretap } from './loop/observe.ts';
export type { AgentEventOf } from './loop/observe.ts';
export { consoleObserver } from './loop/console-observer.ts';
export type { ConsoleObserverOptions } from './loop/console-observer.ts';
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
export { MemorySessionStore } from './session/memory-session-store.ts';

// How a database becomes a session store
export { BackedSessionStore } from './session/backed-session-store.ts';
export type { StoreOptions } from './session/backed-session-store.ts';
export type {
  ItemRange,
  RecordChange,
  SessionBackend,
  StoredItem,
  StoredSession,
  SwapResult,
} from './session/session-backend.ts';
export { isItemWaiting, waitingItems } from './session/inbox-cursor.ts';
export type { InboxCursor } from './session/inbox-cursor.ts';
export { dueAt, isExpired, listedSession, recordName } from './session/session-record.ts';
export { readSessionRecord } from './session/read-session-record.ts';
export type { SessionRecord } from './session/session-record.ts';
export { compareDue, compareListedSessions, fitsDue, fitsQuery, isAfter } from './session/session-cursor.ts';
export type { ResolvedDueQuery, ResolvedSessionQuery, SessionPosition } from './session/session-cursor.ts';
export { planSave, restoreSession, savedParts } from './session/save-plan.ts';
export { carriedOut } from './session/saved-session.ts';
export type { ListChange, SavedParts, SavedSession, SavePlan } from './session/saved-session.ts';

export { SessionRuntime } from './session/session-runtime.ts';
export type { ForkOptions } from './session/fork.ts';
export type { AgentCatalog } from './session/agent-catalog.ts';
export type {
  CreateSessionOptions,
  ExecuteOptions,
  SessionRuntimeOptions,
} from './session/runtime-options.ts';
export type { SessionEvent, SessionHooks } from './session/session-events.ts';
export type { SavePolicy } from './session/save-policy.ts';
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
} from './session/actions.ts';
export type { ActionContext, DecisionOptions, SessionAction } from './session/actions.ts';
export { pendingApprovals, withDecision } from './session/approval.ts';
export type { Decision } from './session/approval.ts';
export type { InboxContent } from './session/inbox.ts';

// How many machines work on agents
export { sweep } from './session/engine.ts';
export type {
  Advance,
  Advanced,
  AdvanceOptions,
  AdvanceOutcome,
  ExecutionEngine,
  ServedEngine,
} from './session/engine.ts';
export { InProcessEngine } from './session/in-process-engine.ts';
export type { InProcessEngineOptions } from './session/in-process-engine.ts';

// Leaves
export { ERROR_CODES, hasErrorCode, HoldfastError, invalidArgument, StateFormatError } from './errors.ts';
export type { ErrorCode, HoldfastErrorOptions, StateFormatErrorOptions } from './errors.ts';
export { systemClock } from './clock.ts';
export type { Clock, Instant } from './clock.ts';
export { toJsonObject, toJsonValue } from './json.ts';
export type { JsonObject, JsonValue } from './json.ts';
