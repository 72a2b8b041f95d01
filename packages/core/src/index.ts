// The state: immutable values
export { AgentState } from './state/agent-state.ts';
export { MessageStore } from './state/messages/message-store.ts';
export { assistantMessage, systemMessage, userMessage } from './state/messages/messages.ts';
export { textOf } from './state/messages/message-parts.ts';
export type {
  FilePart,
  Message,
  MessageOptions,
  Messages,
  ToolCallPart,
  UserPart,
} from './state/messages/messages.ts';
export { metadataKey } from './state/values/metadata.ts';
export type { MetadataKey } from './state/values/metadata.ts';
export type { ExecutionStatus } from './state/execution/status.ts';
export type { Waiting } from './state/values/waiting.ts';
export { AgentStep } from './state/execution/step.ts';
export { ToolExecution } from './state/tools/tool-execution.ts';
export type { ToolOutcome } from './state/tools/tool-outcome.ts';
export { Usage } from './state/inference/usage.ts';
export type { FinishReason } from './state/inference/inference-response.ts';
export type { LlmConfig, ResponseFormat } from './state/inference/llm-config.ts';
export { AgentStop } from './state/execution/continuation.ts';
export type { StopReason, StopSignal } from './state/execution/continuation.ts';
export { ExecutionBudget } from './state/execution/budget.ts';
export type { BudgetLimits } from './state/execution/budget.ts';
export { agentDefinition } from './state/agent-definition.ts';
export type { AgentDefinition } from './state/agent-definition.ts';
export type { ErrorRecord } from './state/values/error-record.ts';

// The loop, tools, hooks and listeners
export { createAgentLoop } from './loop/agent-loop.ts';
export type { AgentLoop, AgentLoopOptions } from './loop/agent-loop.ts';
export type { RunOptions } from './loop/run/loop-parts.ts';
export { tool } from './loop/tools/tool.ts';
export { toolFor } from './loop/tools/run-context.ts';
export { isExecutionOf } from './loop/tools/typed-execution.ts';
export type { Tool, ToolEffect, ToolRetry } from './loop/tools/tool-types.ts';
export type { ToolContext } from './loop/tools/tool-context.ts';
export { toolResult } from './loop/tools/tool-result.ts';
export { subagent } from './agents/subagent.ts';
export { structuredOutput } from './agents/structured-output.ts';
export type { StructuredOutput } from './agents/structured-output.ts';
export type { Hook, HookContext } from './loop/hooks/hook.ts';
export {
  cancellation,
  costLimit,
  deadline,
  finishReason,
  retryLimit,
  stepsLimit,
  timeLimit,
  tokenLimit,
} from './loop/stopping/guards.ts';
export { costOf } from './loop/inference/model-prices.ts';
export type { ModelPrices } from './loop/inference/model-prices.ts';
export { summaries, summarize } from './agents/summarize.ts';
export {
  allSections,
  conversationWithCurrentToolTrace,
  messageCompiler,
  selectedSections,
} from './loop/compile/compile-messages.ts';
export type { MessageCompiler, MessageTransform } from './loop/compile/compile-messages.ts';
export { AgentBuilder } from './agents/agent-builder.ts';
export type { Capability } from './agents/agent-builder.ts';
export type { Agent } from './agents/agent.ts';
export { RunAbort } from './loop/stopping/abort.ts';
export type { AgentEvent, AgentEventListener } from './loop/steps/events.ts';
export { eventListener } from './observe/observe.ts';
export { consoleObserver } from './observe/console-observer.ts';
export { redactedListener } from './loop/redact.ts';
export type { Redact } from './loop/redact.ts';

// Sessions and stores
export { AgentSession } from './session/session.ts';
export type { ListedSession, SessionInfo, SessionStatus } from './session/session-info.ts';
export {
  InboxFullError,
  SessionBusyError,
  SessionConflictError,
  SessionNotFoundError,
  SessionTooLargeError,
  StoreUnavailableError,
} from './session/session-errors.ts';
export type { SessionDirectory } from './session/session-directory.ts';
export type { SessionExpiry, SessionQuery, SessionStore } from './session/session-store.ts';
export { MemorySessionStore } from './session/store/memory-session-store.ts';

// The session runtime and its actions
export { SessionRuntime } from './session/runtime/session-runtime.ts';
export type { AgentCatalog } from './session/work/agents.ts';
export type {
  CreateSessionOptions,
  ExecuteOptions,
  SessionRuntimeOptions,
} from './session/runtime/runtime-options.ts';
export type { SessionEvent, SessionHooks } from './session/session-events.ts';
export type { SavePolicy } from './session/work/session-work.ts';
export {
  answer,
  answerError,
  approve,
  cancel,
  changeModel,
  changeStatus,
  changeSystemPrompt,
  clearHistory,
  deny,
  describe,
  resume,
  retry,
  sendMessage,
  writeMetadata,
} from './session/actions/actions.ts';
export type { ActionContext, SessionAction } from './session/actions/actions.ts';
export { editMessage, regenerate } from './session/actions/regenerate.ts';
export { pendingQuestions } from './session/actions/answer.ts';
export { pendingApprovals } from './session/actions/approval.ts';
export type { InboxContent } from './session/actions/inbox-content.ts';

// Engines
export { InProcessEngine } from './session/engine/queue/in-process-engine.ts';

// Errors, time and JSON
export { hasErrorCode, HoldfastError, invalidArgument, StateFormatError } from './errors.ts';
export type { ErrorCode } from './errors.ts';
export { systemClock } from './clock.ts';
export type { Clock, Instant } from './clock.ts';
export type { JsonObject, JsonValue } from './json.ts';
