import { jsonSchema, type Tool as SdkTool, type ToolExecutionOptions } from '@ai-sdk/provider-utils';
import {
  AgentState,
  ExecutionBudget,
  systemClock,
  type JsonValue,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { toJsonValue, ToolResult, type ToolOutput } from '@holdfast/core/driver';
import { copyOf } from '../values/copy.ts';
import { sentFileData } from './call-options.ts';

/** A tool, whichever run context it needs. */
type AnyTool = Tool<unknown, unknown, never>;

type Schema = Parameters<typeof jsonSchema>[0];
type ModelOutput = NonNullable<SdkTool['toModelOutput']>;
type SentOutput = Awaited<ReturnType<ModelOutput>>;

/**
 * Converts tools to a tool set of the AI SDK, for `generateText`, `streamText` and UIs. The arguments are checked, and
 * `context` becomes the run context of the tool.
 *
 * Only the loop has the rest: effects, retries, timeouts, saved progress, and metadata of a `toolResult()`. A tool without
 * `execute` becomes a tool whose calls the caller answers.
 * @example
 * const { text } = await generateText({ model, prompt, tools: toAiSdkTools([search, add]) });
 */
export function toAiSdkTools(tools: readonly AnyTool[]): Record<string, SdkTool> {
  return Object.fromEntries(tools.map((each) => [each.name, convertTool(each)]));
}

function convertTool(given: AnyTool): SdkTool {
  const { providerTool: provided } = given;
  if (provided === undefined) return { ...modelOptions(given), ...functionsOf(given) };
  const { id, supportsDeferredResults = false } = provided;
  const described = {
    type: 'provider' as const,
    id,
    args: copyOf(provided.args),
    inputSchema: schemaOf(given),
  };
  if (!provided.isProviderExecuted) return { ...described, isProviderExecuted: false, ...functionsOf(given) };
  return { ...described, outputSchema: ANY, isProviderExecuted: true, supportsDeferredResults };
}

const ANY = jsonSchema({});

/** The arguments of the model, which the tool checks. The schema is JSON Schema by the contract of `Tool`. */
function schemaOf(given: AnyTool) {
  return jsonSchema(copyOf(given.inputSchema) as Schema, {
    validate: async (value) => {
      const checked = await given.validate(toJsonValue(value));
      return 'problem' in checked
        ? { success: false, error: new TypeError(checked.problem) }
        : { success: true, value: checked.value };
    },
  });
}

function modelOptions({ description, strict, providerOptions, inputExamples }: AnyTool) {
  return {
    ...(description !== '' && { description }),
    ...(strict !== undefined && { strict }),
    ...(providerOptions && {
      providerOptions: copyOf(providerOptions) as NonNullable<SdkTool['providerOptions']>,
    }),
    ...(inputExamples && { inputExamples: inputExamples.map(({ input }) => ({ input: copyOf(input) })) }),
  };
}

/** The functions of a tool, and the model output of each call until the AI SDK reads it. */
function functionsOf(given: AnyTool) {
  const outputs = new Map<string, ToolOutput>();
  const shared = {
    inputSchema: schemaOf(given),
    toModelOutput: async ({ toolCallId, input, output }: Parameters<ModelOutput>[0]) => {
      const shown = outputs.get(toolCallId) ?? (await modelOutputOf(given, toolCallId, input, output));
      outputs.delete(toolCallId);
      return sentOutput(shown);
    },
    ...(given.needsApproval && {
      needsApproval: async (args: unknown, { toolCallId, context }: Omit<Call, 'abortSignal'>) =>
        (await given.needsApproval?.(copyOf(args), contextOf({ toolCallId, context }))) !== false,
    }),
  };
  if (given.validateAnswer) return { ...shared, outputSchema: ANY };
  return {
    ...shared,
    execute: async (args: unknown, call: Call): Promise<JsonValue> => {
      const returned: unknown = await given.execute(copyOf(args), contextOf(call));
      if (!(returned instanceof ToolResult)) return toJsonValue(returned);
      if (returned.modelOutput) outputs.set(call.toolCallId, returned.modelOutput);
      return toJsonValue(returned.value);
    },
  };
}

type Call = Pick<ToolExecutionOptions<unknown>, 'toolCallId' | 'abortSignal' | 'context'>;

/** The context of a call outside a loop: it has no limits, and stores nothing. */
function contextOf({ toolCallId, abortSignal, context }: Call): ToolContext<never> {
  return {
    toolCallId,
    runContext: context as never, // The caller passes the context that its tools need.
    signal: abortSignal ?? new AbortController().signal,
    idempotencyKey: systemClock.newId(),
    attempt: 1,
    state: AgentState.empty(),
    clock: systemClock,
    progress: undefined,
    saveProgress: () => undefined,
    addUsage: () => undefined,
    remaining: () => ExecutionBudget.unlimited(),
    emit: () => undefined,
  };
}

async function modelOutputOf(
  given: AnyTool,
  toolCallId: string,
  input: unknown,
  output: unknown,
): Promise<ToolOutput> {
  const value = toJsonValue(output);
  const shown = await given.toModelOutput?.({ toolCallId, input: toJsonValue(input), output: value });
  return shown ?? (typeof value === 'string' ? { type: 'text', value } : { type: 'json', value });
}

function sentOutput(output: ToolOutput): SentOutput {
  if (output.type !== 'content') return copyOf(output) as SentOutput;
  const parts = output.value.map((part) =>
    part.type === 'file' ? { ...part, data: sentFileData(part.data) } : part,
  );
  return { ...copyOf(output), value: copyOf(parts) } as SentOutput;
}
