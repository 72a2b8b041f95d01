import type { ArgumentCheck } from '../../arguments.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { InferenceResponse, InferenceResponseInit } from '../../state/inference/inference-response.ts';
import type { LlmConfig, ResponseFormat } from '../../state/llm-config.ts';
import type { Messages } from '../../state/messages/messages.ts';
import type { ToolChoice } from '../../state/inference/request.ts';

/** What a model is told about a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
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

/** One call of a model, in full. A driver keeps nothing between calls. */
export interface InferenceRequest {
  /** Valid for a provider: every call has its result, every result its call. */
  readonly messages: Messages;
  readonly systemPrompt: string | undefined;
  readonly tools: readonly ToolDescription[];
  readonly toolChoice: ToolChoice;
  readonly responseFormat: ResponseFormat | undefined;
  /** Which model, and how. Absent: the driver's own choice. */
  readonly llmConfig: LlmConfig | undefined;
}

/** A piece of an answer as it arrives. Pieces with one `id` belong to one part. */
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

export interface InferenceOptions {
  /** Aborts the call in flight. */
  readonly signal: AbortSignal;
  /** Wanted when somebody listens: called with each piece, before the answer is returned. */
  readonly onDelta: ((delta: InferenceDelta) => void) | undefined;
}

/**
 * Calls models. A driver does inference and nothing else: the loop compiles messages before and runs tools after.
 *
 * It answers with a response, or throws: the execution then ends `failed`, with the error in its state. When the
 * signal aborts it stops at once, and either throws or answers with what had arrived and the finish reason
 * `aborted`. A failure in the middle of an answer may be thrown as an error with a member `partialResponse`. An answer with the
 * finish reason `other` and no `rawFinishReason` is such a failure: the loop does not act upon it.
 * Retries of a call that failed before it answered are the driver's own affair.
 */
export interface Driver {
  /**
   * The id of the model that a call with these settings goes to: by it the call is priced, kept in its step and told of.
   * `undefined` when nobody knows.
   */
  modelId?(llmConfig: LlmConfig | undefined): string | undefined;
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

/** @throws TypeError `ARGUMENT_INVALID` for what is not a driver. */
export function requireDriver(driver: Driver | undefined): void {
  if (typeof driver?.infer === 'function') return;
  throw invalidArgument(
    `A loop needs a driver with a method infer(), as in driver: aiSdkDriver({ model }), found ${describeValue(driver)}.`,
    TypeError,
  );
}
