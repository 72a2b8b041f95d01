import { HoldfastError, invalidArgument } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { ToolOutput } from '../state/messages.ts';
import type { ToolDescription } from './driver.ts';
import type { StandardSchema, Validated } from './tool-schema.ts';
import { toolSchema } from './tool-schema.ts';

/** What a tool learns about the call it serves. */
export interface ToolContext {
  /** The model's id of the call. */
  readonly toolCallId: string;
  /**
   * The same for every attempt of this call: hand it to services that know idempotency keys. A step that was lost with
   * its process, before it was saved, is begun anew, with new calls and new keys.
   */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborts when the run is aborted or the tool's time is up. */
  readonly signal: AbortSignal;
  /** The agent as it was when the call began. */
  readonly state: AgentState;
}

/** Something a model can ask for. Make one with `tool()`. */
export interface Tool extends ToolDescription {
  /** Checked arguments, or what is wrong with them. */
  validate(input: JsonValue): Validated<unknown> | Promise<Validated<unknown>>;
  /** Does the work. What it returns is turned into JSON; what it throws becomes an error result for the model. */
  execute(args: unknown, context: ToolContext): unknown;
  /** What the model reads of a value, when not the value itself. */
  toModelOutput?(value: JsonValue): ToolOutput;
  /** Seconds one call may take; no limit when absent. */
  readonly timeoutSeconds: number | undefined;
}

interface ToolInit<Args, Result> {
  /** Letters, digits, `_` and `-`, at most 64: what every provider accepts. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  execute(args: Args, context: ToolContext): Result | Promise<Result>;
  /** What the model reads of a value, when not the value itself. */
  readonly toModelOutput?: (value: JsonValue) => ToolOutput;
  /** Seconds one call may take; no limit when absent. */
  readonly timeoutSeconds?: number;
}

type OutputOf<Schema extends StandardSchema> = Schema extends StandardSchema<infer Output> ? Output : never;

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A tool from a function and a schema of its arguments: a Standard Schema, from which the types of the arguments
 * follow, or a JSON Schema.
 *
 * @example
 * const add = tool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 * @throws RangeError `ARGUMENT_INVALID` for a name or a time-out that cannot be, `TOOL_SCHEMA_INVALID` for a schema
 * that cannot be shown to a model.
 */
export function tool<Schema extends StandardSchema, Result>(
  init: ToolInit<OutputOf<Schema>, Result> & {
    readonly inputSchema: Schema;
    /** The same as JSON Schema, for a schema that cannot describe itself. */
    readonly jsonSchema?: object;
  },
): Tool;
export function tool<Args = JsonObject, Result = unknown>(
  init: ToolInit<Args, Result> & { readonly inputSchema: JsonObject },
): Tool;
export function tool(
  init: ToolInit<never, unknown> & { readonly inputSchema: unknown; readonly jsonSchema?: object },
): Tool {
  const { name, description, timeoutSeconds } = init;
  if (!NAME.test(name)) {
    throw invalidArgument(
      `A tool's name is 1 to 64 letters, digits, "_" or "-", found ${JSON.stringify(name)}.`,
    );
  }
  if (timeoutSeconds !== undefined && !(timeoutSeconds > 0)) {
    throw invalidArgument(`timeoutSeconds of tool "${name}" must be more than 0, found ${timeoutSeconds}.`);
  }
  const { jsonSchema, validate } = toolSchema(name, init.inputSchema, init.jsonSchema);
  const { toModelOutput } = init;
  return Object.freeze({
    name,
    description,
    inputSchema: jsonSchema,
    validate,
    execute: (args: unknown, context: ToolContext) => init.execute(args as never, context),
    timeoutSeconds,
    ...(toModelOutput && { toModelOutput }),
  });
}

/** Tools by name. @throws RangeError `ARGUMENT_INVALID` when two have one name. */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const item of tools) {
    if (byName.has(item.name)) throw invalidArgument(`There are two tools named "${item.name}".`);
    byName.set(item.name, item);
  }
  return byName;
}

/** The model asked for a tool that there is not. */
export function toolNotFound(name: string, known: Iterable<string>): HoldfastError {
  const names = [...known].join(', ') || 'none';
  return new HoldfastError('TOOL_NOT_FOUND', `There is no tool named "${name}". Known tools: ${names}.`);
}

/** A hook forbade the call; the message is its reason. */
export class ToolExecutionBlockedError extends HoldfastError {
  constructor(toolName: string, reason: string) {
    super('TOOL_BLOCKED', reason || `Tool "${toolName}" is blocked.`, { data: { toolName } });
  }
}
