import { asSchema, type FlexibleSchema, type Schema } from '@ai-sdk/provider-utils';
import {
  HoldfastError,
  invalidArgument,
  tool,
  toolResult,
  type JsonObject,
  type Tool,
  type ToolContext,
  type ToolEffect,
} from '@holdfast/core';
import {
  checkArgument,
  mustBe,
  optionsCheck,
  providerTool,
  toJsonObject,
  toJsonValue,
  type ArgumentCheck,
  type ModelOutputOptions,
  type ProviderTool,
} from '@holdfast/core/driver';
import type { AiSdkTool, AiSdkToolSet } from './ai-sdk-tool.ts';
import { member } from '../values/member.ts';
import { callOptions } from './call-options.ts';
import { convertModelOutput, hasFile } from './model-output.ts';

/** The options of `fromAiSdkTools`. */
export interface FromAiSdkToolsOptions<Name extends string = string> {
  /**
   * The effects of a second attempt, by the name of the tool. `annotations` trusts the annotations of MCP servers: a tool
   * with `readOnlyHint` is `readOnly`, and a tool with `idempotentHint` is `idempotent`. Use it only for servers that you
   * trust. Default: `defaultEffect` for every tool.
   */
  readonly effects?: 'annotations' | { readonly [N in Name]?: ToolEffect };
  /** The effect of tools that `effects` does not name. Default: `once`. */
  readonly defaultEffect?: ToolEffect;
  /**
   * True for tools whose calls a person must approve, for all that the loop runs, or by name. The `needsApproval` of each
   * tool holds too: `false` here does not lift it. Default: `needsApproval` of each tool alone.
   */
  readonly needsApproval?: boolean | { readonly [N in Name]?: boolean };
  /**
   * Whether a person must approve calls of the tools that `needsApproval` does not name, such as those that a server adds
   * later. Only beside names. Default: true.
   */
  readonly defaultNeedsApproval?: boolean;
  /** Seconds that one attempt may take; no limit when absent. */
  readonly timeoutSeconds?: number;
  /** Seconds after which a call without a decision is denied; no limit when absent. */
  readonly approvalTimeoutSeconds?: number;
}

const EFFECTS: readonly ToolEffect[] = ['readOnly', 'idempotent', 'ask', 'once'];
const EFFECT = mustBe.oneOf(EFFECTS);

const checkOptions = optionsCheck<FromAiSdkToolsOptions>('fromAiSdkTools', {
  effects: {
    expected: 'effects by the name of the tool, as in effects: { search: "readOnly" }, or "annotations"',
    accepts: (value) => value === 'annotations' || mustBe.object.accepts(value),
  },
  defaultEffect: EFFECT,
  needsApproval: {
    expected: 'true, false, or one of them by the name of the tool',
    accepts: (value) => typeof value === 'boolean' || mustBe.object.accepts(value),
  },
  defaultNeedsApproval: mustBe.boolean,
  timeoutSeconds: mustBe.number(0),
  approvalTimeoutSeconds: mustBe.number(0),
});

/**
 * Converts a tool set of the AI SDK: tools of `tool()` and `dynamicTool()`, the tools of an MCP client, and tools that a
 * provider defines. The tools have the names of the set.
 *
 * A call in doubt does not run again unless `effects` permits it. The run context of a call is its `context`. Values that
 * an `execute` yields before its last value become progress of the call. An MCP result with `isError` is a failed call.
 * The callbacks `onInputStart`, `onInputDelta` and `onInputAvailable` are not called.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option, an invalid value, an effect or approval for
 * an unknown tool or for a tool that the provider runs, a `needsApproval` of a tool that is neither a boolean nor a
 * function, and a name that is not 1 to 64 letters, digits, `_` or `-`;
 * HoldfastError `TOOL_SCHEMA_INVALID` for a schema without a JSON Schema form, and for one whose values are not objects.
 * @example
 * const client = await createMCPClient({ transport: { type: 'http', url } });
 * const tools = await fromAiSdkTools(await client.tools(), { effects: { search: 'readOnly' } });
 * const loop = createAgentLoop({ driver, tools });
 */
export async function fromAiSdkTools<const Tools extends AiSdkToolSet>(
  tools: Tools,
  options: FromAiSdkToolsOptions<keyof Tools & string> = {},
): Promise<readonly Tool[]> {
  const policy: FromAiSdkToolsOptions = checkOptions(options);
  requireSet(tools);
  for (const [name, each] of Object.entries(tools)) requireForeign(name, each);
  requireMembers('effects', policy.effects, EFFECT, tools);
  requireMembers('needsApproval', policy.needsApproval, mustBe.boolean, tools);
  requireNames(policy);
  const converted = Object.entries(tools).map(([name, each]) => convertTool(name, each, policy));
  return Object.freeze(await Promise.all(converted));
}

/** A promise has no members of its own: without this check it is a set without tools. */
function requireSet(tools: unknown): void {
  if (mustBe.object.accepts(tools) && !(tools instanceof Promise)) return;
  const examples = 'fromAiSdkTools({ search }) or fromAiSdkTools(await client.tools())';
  throw invalidArgument(`fromAiSdkTools takes an object with tools by name, as in ${examples}.`, TypeError);
}

/** @throws TypeError `ARGUMENT_INVALID` for a tool of this library. */
function requireForeign(name: string, given: unknown): void {
  if (typeof member(given, 'validate') !== 'function') return;
  throw invalidArgument(
    `"${name}" in fromAiSdkTools is a tool of Holdfast: pass it to the loop as it is, as in tools: [${name}].`,
    TypeError,
  );
}

/** @throws RangeError `ARGUMENT_INVALID` for a default that would do nothing. */
function requireNames({ needsApproval, defaultNeedsApproval }: FromAiSdkToolsOptions): void {
  if (defaultNeedsApproval === undefined || typeof needsApproval === 'object') return;
  const advice = 'Pass names too, as in needsApproval: { pay: true }, or only needsApproval: true.';
  throw invalidArgument(`defaultNeedsApproval of fromAiSdkTools applies beside names only. ${advice}`);
}

/** Checks an option that has a value for each tool by name. */
function requireMembers(option: string, byName: unknown, check: ArgumentCheck, tools: AiSdkToolSet): void {
  if (typeof byName !== 'object' || byName === null) return;
  for (const [name, value] of Object.entries(byName)) {
    requireUsable(option, name, tools);
    checkArgument(`"${name}" in ${option} of fromAiSdkTools`, value, check);
  }
}

/** The loop does not run a tool of the provider: an effect or an approval of it would never apply. */
function requireUsable(option: string, name: string, tools: AiSdkToolSet): void {
  const given = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (given === undefined) {
    const known = Object.keys(tools).join(', ') || 'none';
    throw invalidArgument(`"${option}" names the unknown tool "${name}". Known tools: ${known}.`);
  }
  if (isProviderExecuted(given)) throw notApplied(option, name);
}

function notApplied(option: string, name: string): Error {
  return invalidArgument(
    `"${option}" names the tool "${name}", which the provider runs: the loop cannot apply it.`,
  );
}

function isProviderExecuted({ type, isProviderExecuted: isExecuted }: AiSdkTool): boolean {
  return type === 'provider' && isExecuted !== false;
}

async function convertTool(name: string, given: AiSdkTool, policy: FromAiSdkToolsOptions): Promise<Tool> {
  checkArgument(`needsApproval of tool "${name}"`, given.needsApproval ?? false, OWN_APPROVAL);
  if (given.type !== 'provider') return functionTool(name, given, policy);
  const { supportsDeferredResults } = given;
  const provided = { id: idOf(name, given), args: toJsonObject({ ...given.args }) };
  if (given.isProviderExecuted === false) {
    const own: ProviderTool = Object.freeze({ ...provided, isProviderExecuted: false });
    return Object.freeze({ ...(await functionTool(name, given, policy)), providerTool: own });
  }
  if (given.needsApproval) throw notApplied('needsApproval', name);
  return providerTool({
    name,
    ...provided,
    ...(supportsDeferredResults !== undefined && { supportsDeferredResults }),
    ...limitsOf(policy, 'approvalTimeoutSeconds'),
  });
}

function idOf(name: string, { id = '' }: AiSdkTool): ProviderTool['id'] {
  const [provider, ...rest] = id.split('.');
  if (provider && rest.length > 0) return `${provider}.${rest.join('.')}`;
  throw invalidArgument(`The id of tool "${name}" must name its provider, as in "openai.web_search".`);
}

/** Converts a tool that the loop runs, or, without `execute`, a tool whose calls wait for an answer. */
async function functionTool(name: string, given: AiSdkTool, policy: FromAiSdkToolsOptions): Promise<Tool> {
  const schema = schemaOf(given.inputSchema);
  const jsonSchema = await jsonSchemaOf(name, schema);
  const described = {
    name,
    description: descriptionOf(name, given),
    inputSchema: schema,
    jsonSchema,
    ...modelOptions(given),
    ...approvalOf(name, given, policy),
    ...limitsOf(policy, 'approvalTimeoutSeconds'),
  };
  if (given.execute === undefined)
    return tool({ ...described, ...answerOptions(given), ...outputOf(given, schema) });
  const converted = tool({
    ...described,
    ...outputOf(given, schema),
    execute: (input: unknown, context) => runTool(given, input, context),
    effect: effectOf(name, given, policy),
    ...limitsOf(policy, 'timeoutSeconds'),
  });
  return given.contextSchema === undefined
    ? converted
    : Object.freeze({ ...converted, needsRunContext: true });
}

/** A schema of the AI SDK. Only the provider packages know the type of its values. */
function schemaOf(schema: unknown): Schema {
  return asSchema(schema as FlexibleSchema);
}

/** @throws HoldfastError `TOOL_SCHEMA_INVALID` for a schema that fails, or whose values are not objects. */
async function jsonSchemaOf(name: string, schema: Schema): Promise<Schema['jsonSchema']> {
  const jsonSchema = await readJsonSchema(name, schema);
  const type = member(jsonSchema, 'type');
  if (typeof type !== 'string' || type === 'object') return jsonSchema;
  const message = `The schema of tool "${name}" must be of type "object", found "${type}": the arguments of a call are an object.`;
  throw new HoldfastError('TOOL_SCHEMA_INVALID', message);
}

async function readJsonSchema(name: string, schema: Schema): Promise<Schema['jsonSchema']> {
  try {
    return await schema.jsonSchema;
  } catch (cause) {
    const message = `The schema of tool "${name}" has no JSON Schema form: ${describeError(cause)}`;
    throw new HoldfastError('TOOL_SCHEMA_INVALID', message, { cause });
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function descriptionOf(name: string, { description = '' }: AiSdkTool): string {
  if (typeof description === 'string') return description;
  const advice = 'Pass a copy of the tool with a text, because the loop describes its tools once.';
  throw invalidArgument(`The description of tool "${name}" is a function. ${advice}`, TypeError);
}

function modelOptions({ strict, providerOptions, inputExamples }: AiSdkTool): {
  strict?: boolean;
  providerOptions?: JsonObject;
  inputExamples?: { readonly input: JsonObject }[];
} {
  return {
    ...(strict !== undefined && { strict }),
    ...(providerOptions && { providerOptions: toJsonObject(providerOptions) }),
    ...(inputExamples && {
      inputExamples: inputExamples.map((example) => ({
        input: toJsonObject({ ...example })['input'] as JsonObject,
      })),
    }),
  };
}

function answerOptions({ outputSchema }: AiSdkTool): { outputSchema?: Schema } {
  return outputSchema === undefined ? {} : { outputSchema: schemaOf(outputSchema) };
}

function limitsOf<Name extends 'timeoutSeconds' | 'approvalTimeoutSeconds'>(
  policy: FromAiSdkToolsOptions,
  name: Name,
): { readonly [N in Name]?: number } {
  const seconds = policy[name];
  return seconds === undefined ? {} : ({ [name]: seconds } as { readonly [N in Name]: number });
}

function effectOf(
  name: string,
  { metadata }: AiSdkTool,
  { effects, defaultEffect = 'once' }: FromAiSdkToolsOptions,
): ToolEffect {
  if (effects !== 'annotations') return ownMember(effects, name) ?? defaultEffect;
  if (hasHint(metadata, 'readOnlyHint')) return 'readOnly';
  return hasHint(metadata, 'idempotentHint') ? 'idempotent' : defaultEffect;
}

/** Returns the member for a tool, also for a tool with the name of a member of every object, such as `constructor`. */
function ownMember<T>(byName: { readonly [name: string]: T } | undefined, name: string): T | undefined {
  return byName && Object.hasOwn(byName, name) ? byName[name] : undefined;
}

/** True when an MCP server has set this hint in the annotations of a tool. */
function hasHint(metadata: object | undefined, hint: string): boolean {
  return member(member(metadata, 'annotations'), hint) === true;
}

type ApprovalContext = Parameters<NonNullable<Tool['needsApproval']>>[1];
type NeedsApproval = boolean | ((input: unknown, context: ApprovalContext) => Promise<boolean>);

const OWN_APPROVAL: ArgumentCheck = {
  expected: 'true, false or a function',
  accepts: (value) => typeof value === 'boolean' || typeof value === 'function',
};

/** The stricter of the option and the rule of the tool. Of a function, only the answer `false` lets a call run. */
function approvalOf(
  name: string,
  given: AiSdkTool,
  policy: FromAiSdkToolsOptions,
): { needsApproval?: NeedsApproval } {
  const own = given.needsApproval ?? false;
  if (own === true || isApprovalChosen(name, policy)) return { needsApproval: true };
  if (own === false) return {};
  return {
    needsApproval: async (input, context) => {
      const options = callOptions(context, await contextOf(given, context.runContext));
      return (await own.call(given, input as never, options as never)) !== false;
    },
  };
}

function isApprovalChosen(
  name: string,
  { needsApproval = false, defaultNeedsApproval = true }: FromAiSdkToolsOptions,
): boolean {
  if (typeof needsApproval === 'boolean') return needsApproval;
  return ownMember(needsApproval, name) ?? defaultNeedsApproval;
}

/** The `context` of a call: the run context, checked by the schema of the tool. */
async function contextOf({ contextSchema }: AiSdkTool, runContext: unknown): Promise<unknown> {
  if (contextSchema === undefined) return runContext;
  const checked = await schemaOf(contextSchema).validate?.(runContext);
  if (checked === undefined) return runContext;
  if (checked.success) return checked.value;
  throw invalidArgument(`The run context does not fit the tool: ${checked.error.message}`, TypeError);
}

async function runTool(given: AiSdkTool, input: unknown, context: ToolContext): Promise<unknown> {
  const options = callOptions(context, await contextOf(given, context.runContext));
  const output = await lastValue(given.execute?.(input as never, options as never), context);
  if (isMcpFailure(given, output)) throw new HoldfastError('TOOL_FAILED', textOfMcp(output));
  if (given.toModelOutput === undefined) return output;
  const { toolCallId } = context;
  const modelOutput = convertModelOutput(await given.toModelOutput({ toolCallId, input, output } as never));
  // A file must reach the model even if the value is longer than the loop stores.
  return hasFile(modelOutput) ? toolResult({ value: output, modelOutput }) : output;
}

/** Returns the last value of an iterable. Each earlier value becomes the progress of the call. */
async function lastValue(returned: unknown, { saveProgress }: ToolContext): Promise<unknown> {
  if (!isAsyncIterable(returned)) return returned;
  const values: unknown[] = [];
  for await (const value of returned) {
    values.push(value);
    if (values.length > 1) saveProgress(toJsonValue(values.shift()));
  }
  return values[0];
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** Returns `toModelOutput` of the AI SDK, whose `input` is the checked input of the call. */
function outputOf(given: AiSdkTool, schema: Schema): Pick<Tool, 'toModelOutput'> {
  if (given.toModelOutput === undefined) return {};
  return {
    toModelOutput: async ({ toolCallId, input, output }: ModelOutputOptions) => {
      const checked = await schema.validate?.(input);
      const parsed = checked?.success ? checked.value : input;
      return convertModelOutput(await given.toModelOutput?.({ toolCallId, input: parsed, output } as never));
    },
  };
}

interface McpResult {
  readonly content: readonly { readonly type?: unknown; readonly text?: unknown }[];
}

/** True when an MCP server reported that its tool failed. */
function isMcpFailure({ metadata }: AiSdkTool, output: unknown): output is McpResult {
  if (metadata === undefined || !('clientName' in metadata)) return false;
  if (typeof output !== 'object' || output === null || !('isError' in output)) return false;
  return output.isError === true && 'content' in output && Array.isArray(output.content);
}

function textOfMcp({ content }: McpResult): string {
  const texts = content.map((part) => (typeof part.text === 'string' ? part.text : JSON.stringify(part)));
  return texts.join('\n') || 'The MCP server reported an error.';
}
