// Exports for authors of drivers, beside those of the root
export { LineageCache, List } from './state/values/list.ts';
export { toolMessage } from './state/messages/messages.ts';
export { callMarksOf, withCallMarks, withoutCallMarks } from './state/messages/call-marks.ts';
export type { CallMarks } from './state/messages/call-marks.ts';
export { reasoningOf, toolCallsOf } from './state/messages/message-parts.ts';
export type {
  AssistantMessage,
  AssistantPart,
  CustomPart,
  FileData,
  MessageBase,
  MessagePart,
  MessageRole,
  PartBase,
  ProviderOptions,
  ReasoningFilePart,
  ReasoningPart,
  SourcePart,
  SystemMessage,
  TextPart,
  ToolContentPart,
  ToolMessage,
  ToolOutput,
  ToolResultPart,
  UserMessage,
} from './state/messages/messages.ts';
export { InferenceResponse } from './state/inference/inference-response.ts';
export type { InferenceResponseInit, ResponseHeaders } from './state/inference/inference-response.ts';
export type { UsageFields } from './state/inference/usage.ts';
export type {
  Driver,
  InferenceDelta,
  InferenceOptions,
  InferenceRequest,
  InferenceRun,
  ProviderTool,
  ToolDescription,
} from './loop/inference/driver.ts';
export { STRICTEST_FORM, USUAL_FORM } from './loop/inference/request-form.ts';
export type { FileForm, NameForm, RequestForm } from './loop/inference/request-form.ts';
export type { CompiledStep } from './loop/run/compiled-step.ts';
export type { SentMessage } from './loop/sending/sent-list.ts';
export { DRIVER_ERROR_KINDS, DriverError } from './loop/inference/driver-error.ts';
export type { DriverErrorKind, DriverErrorOptions, RefusedPlace } from './loop/inference/driver-error.ts';
export type { FallbackOptions } from './loop/inference/fallback.ts';
export type { InferenceRetryOptions } from './loop/inference/retry-policy.ts';
export type { InferenceFailure } from './state/inference/inference-failure.ts';
export type { ExecutionFallback } from './state/inference/llm-config.ts';
export type { PartialOutput } from './agents/partial-json.ts';
export type { EffectiveRequest, StepRequest, ToolChoice } from './state/inference/request.ts';
export type {
  AiSdkResult,
  AiSdkSchema,
  AnySchema,
  InputOf,
  OutputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
  TypedSchema,
  ValidationResult,
} from './loop/tools/tool-schema.ts';
export { ToolResult } from './loop/tools/tool-result.ts';
export type { ToolResultInit } from './loop/tools/tool-result.ts';
export type { ModelOutputOptions } from './loop/tools/tool-types.ts';
export { providerTool } from './loop/tools/provider-tool.ts';
export type { ProviderToolInit } from './loop/tools/provider-tool.ts';
export { roundedInteger, toJsonObject, toJsonValue } from './json.ts';
export { checkArgument, mustBe, optionsCheck } from './arguments.ts';
export type { ArgumentCheck, OptionChecks, OptionsCheck } from './arguments.ts';
