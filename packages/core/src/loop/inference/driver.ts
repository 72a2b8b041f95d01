import type { ArgumentCheck } from '../../arguments.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { InferenceResponse, InferenceResponseInit } from '../../state/inference/inference-response.ts';
import type { LlmConfig, ResponseFormat } from '../../state/inference/llm-config.ts';
import type { Messages, ProviderOptions } from '../../state/messages/messages.ts';
import type { ToolChoice } from '../../state/inference/request.ts';
import type { RequestForm } from './request-form.ts';

/**
 * A tool that a provider defines, such as `openai.web_search`: the provider knows its description and its arguments. A
 * driver sends its id and `args` instead of a description and a schema.
 */
export interface ProviderTool {
  /** The name of the provider, and the provider's name of the tool, as in `anthropic.code_execution_20250825`. */
  readonly id: `${string}.${string}`;
  /** The settings of the tool, in the provider's terms. */
  readonly args: JsonObject;
  /** True when the provider runs the tool itself. The loop then never runs a call. */
  readonly isProviderExecuted: boolean;
  /** True when the provider may return a result in a later response than the call. */
  readonly supportsDeferredResults?: boolean;
}

/** The description of a tool that a model receives. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** True when the provider must make the arguments fit the schema. Absent: the default of the provider. */
  readonly strict?: boolean;
  /** Options for the provider, by the name of the provider. */
  readonly providerOptions?: ProviderOptions;
  /** Examples of arguments, for providers that send them to the model. */
  readonly inputExamples?: readonly { readonly input: JsonObject }[];
  /** Present for a tool that a provider defines. */
  readonly providerTool?: ProviderTool;
}

export const TOOL_CHOICE: ArgumentCheck = {
  expected: '"auto", "none", "required" or the tool to choose, as in { toolName: "add" }',
  accepts(value) {
    if (typeof value === 'string') return ['auto', 'none', 'required'].includes(value);
    if (typeof value !== 'object' || value === null || !('toolName' in value)) return false;
    const { toolName } = value;
    if (typeof toolName === 'string' && 'type' in value) throw foreignToolChoice(toolName);
    return typeof toolName === 'string' && Object.keys(value).length === 1;
  },
};

/** One call of a model, in full. A driver stores nothing between calls. */
export interface InferenceRequest {
  /** The messages, valid for a provider: every call has its result, and every result its call. */
  readonly messages: Messages;
  readonly systemPrompt: string | undefined;
  readonly tools: readonly ToolDescription[];
  readonly toolChoice: ToolChoice;
  readonly responseFormat: ResponseFormat | undefined;
  /** The model and its parameters. Absent: the driver chooses. */
  readonly llmConfig: LlmConfig | undefined;
}

/** A piece of a response as it arrives. Pieces with the same `id` belong to one part. */
export type InferenceDelta =
  | { readonly type: 'text'; readonly id: string; readonly text: string }
  | { readonly type: 'reasoning'; readonly id: string; readonly text: string }
  | {
      readonly type: 'tool-input';
      /** The tool call's id. */
      readonly id: string;
      readonly toolName: string;
      /** A piece of the arguments' JSON text. */
      readonly text: string;
    };

/** The facts about a run that its calls of models carry, for drivers that wrap others. */
export interface InferenceRun {
  readonly state: AgentState;
  /** The value that the caller passed to the run; `undefined` when the caller passed none. Do not store or log it. */
  readonly runContext: unknown;
}

export interface InferenceOptions {
  /** Aborts the call. */
  readonly signal: AbortSignal;
  /** Receives each piece of the response as it arrives; `undefined` when the run has no listeners. */
  readonly onDelta: ((delta: InferenceDelta) => void) | undefined;
  /**
   * Returns a promise while the reader of the run's stream is behind. A driver that streams waits for it, or for the
   * signal, before it reads more of the response. Absent when the run has no such reader.
   */
  readonly awaitReader?: (() => Promise<void> | undefined) | undefined;
  /** The run that calls the model. Absent when no run does, as in a test of a driver. */
  readonly run?: InferenceRun | undefined;
}

/**
 * Calls models. A driver does inference only: the loop compiles messages before it and runs tools after it.
 *
 * `infer` returns a response or throws a `DriverError`. When the signal aborts, `infer` stops at once: it throws, or
 * returns what had arrived with the finish reason `aborted`. A failure in the middle of a response may be thrown as an
 * error with a member `partialResponse`. A response with the finish reason `other` and no `rawFinishReason` counts as
 * such a failure: the loop does not use it. A driver may retry a call that failed before the first piece of its
 * response; the loop repeats a call according to the kind of the error.
 */
export interface Driver {
  /**
   * Returns the id of the model that a call with these settings goes to, or `undefined` when the driver does not know
   * it. The loop uses the id for prices, steps and events.
   */
  modelId?(llmConfig: LlmConfig | undefined): string | undefined;
  /**
   * Returns what the provider of a call with these settings demands of a request. The loop brings each request into this
   * form before it calls `infer`. Absent: the form that nearly every provider takes.
   */
  formOf?(llmConfig: LlmConfig | undefined): RequestForm | undefined;
  infer(
    request: InferenceRequest,
    options: InferenceOptions,
  ): Promise<InferenceResponse | InferenceResponseInit>;
}

function foreignToolChoice(toolName: string): Error {
  const advice = `write { toolName: ${JSON.stringify(toolName)} }`;
  return invalidArgument(`A toolChoice has no member "type": ${advice}.`, TypeError);
}

/** @throws RangeError `ARGUMENT_INVALID` for the choice of an unknown tool. */
export function requireChosenTool(choice: ToolChoice | undefined, tools: ReadonlyMap<string, unknown>): void {
  if (typeof choice !== 'object' || tools.has(choice.toolName)) return;
  const known = [...tools.keys()].join(', ') || 'none';
  throw invalidArgument(
    `toolChoice names the unknown tool ${JSON.stringify(choice.toolName)}. Known tools: ${known}.`,
  );
}

/** @throws TypeError `ARGUMENT_INVALID` for a value that is not a driver. */
export function requireDriver(driver: Driver | undefined): void {
  if (typeof driver?.infer === 'function') return;
  throw invalidArgument(
    `A loop needs a driver with a method infer(), as in driver: aiSdkDriver({ model }), found ${describeValue(driver)}.`,
    TypeError,
  );
}
