import { describeValue, invalidArgument } from '../../errors.ts';
import { toJsonObject, type JsonObject } from '../../json.ts';
import type { ToolDescription } from '../inference/driver.ts';
import { checkTool, checkToolMembers } from './tool-checks.ts';
import type { AnyTool, AnyToolInit, QuestionInit, Tool, ToolInit } from './tool-types.ts';
import type { ToolContext } from './tool-context.ts';
import {
  answerSchema,
  toolSchema,
  type AnySchema,
  type InputOf,
  type OutputOf,
  type TypedSchema,
} from './tool-schema.ts';

/**
 * Creates a tool without `execute`: a question to a person, a page or another system. Its call waits until `answer()` or
 * `answerError()` completes it. The value of the answer fits `outputSchema`, and is the result of the call.
 *
 * @example
 * const askDate = tool({
 *   name: 'askDate',
 *   description: 'Asks the user for a date.',
 *   inputSchema: z.object({ reason: z.string() }),
 *   outputSchema: z.iso.date(),
 * });
 * @throws as `tool()` with `execute` does.
 */
export function tool<Schema extends AnySchema, Answer extends AnySchema = JsonObject>(
  init: QuestionInit<OutputOf<Schema>> & {
    readonly inputSchema: Schema;
    /** The JSON Schema of the arguments, for a schema that cannot describe itself. */
    readonly jsonSchema?: object;
    /** The schema of the answer. Default: any JSON. */
    readonly outputSchema?: Answer;
  },
): Tool<InputOf<Schema>, OutputOf<Answer>>;
/**
 * Creates a tool from a function and a schema of its arguments: a Standard Schema or a schema of the AI SDK, from which
 * the types of the arguments are inferred, or a JSON Schema.
 *
 * @example
 * const add = tool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option, an invalid value or a generator function;
 * HoldfastError `TOOL_SCHEMA_INVALID` for a schema without a JSON Schema form.
 */
export function tool<Schema extends TypedSchema, Result>(
  init: ToolInit<OutputOf<Schema>, Result> & {
    readonly inputSchema: Schema;
    /** The JSON Schema of the arguments, for a schema that cannot describe itself. */
    readonly jsonSchema?: object;
  },
): Tool<InputOf<Schema>, Result>;
export function tool<Args = JsonObject, Result = unknown>(
  init: ToolInit<Args, Result> & { readonly inputSchema: JsonObject },
): Tool<Args, Result>;
export function tool(init: AnyToolInit): Tool {
  checkTool(init);
  const { name, execute, approvalTimeoutSeconds, toModelOutput, needsApproval } = init;
  const { jsonSchema, validate } = toolSchema(name, init.inputSchema, init.jsonSchema);
  const asksPerson = typeof needsApproval === 'function' ? needsApproval : needsApproval && (() => true);
  return Object.freeze({
    name,
    description: init.description,
    inputSchema: jsonSchema,
    validate,
    timeoutSeconds: init.timeoutSeconds,
    retry: init.retry,
    ...(execute
      ? {
          execute: (args: unknown, context: ToolContext) => execute.call(init, args as never, context),
          effect: init.effect ?? 'once',
        }
      : questionMembers(init)),
    ...(toModelOutput && { toModelOutput }),
    ...modelOptions(init),
    ...(init.reconcile && { reconcile: init.reconcile.bind(init) }),
    ...(asksPerson && { needsApproval: asksPerson }),
    ...(approvalTimeoutSeconds !== undefined && { approvalTimeoutSeconds }),
  });
}

/** The members of a tool that only providers read, as frozen JSON. */
function modelOptions({ strict, providerOptions, inputExamples }: AnyToolInit): Partial<ToolDescription> {
  return {
    ...(strict !== undefined && { strict }),
    ...(providerOptions && { providerOptions: toJsonObject(providerOptions) }),
    ...(inputExamples && {
      inputExamples: Object.freeze(
        inputExamples.map(({ input }) => Object.freeze({ input: toJsonObject(input) })),
      ),
    }),
  };
}

/** The members of a tool whose calls wait for an answer. To request an answer again has no further effect. */
function questionMembers({
  name,
  outputSchema,
  answerTimeoutSeconds,
}: AnyToolInit): Pick<Tool, 'execute' | 'effect' | 'validateAnswer' | 'answerTimeoutSeconds'> {
  return {
    execute: () => {
      throw invalidArgument(`Tool "${name}" has no execute: an answer completes its calls.`, TypeError);
    },
    effect: 'readOnly',
    validateAnswer: answerSchema(name, outputSchema),
    ...(answerTimeoutSeconds !== undefined && { answerTimeoutSeconds }),
  };
}

/**
 * The tools by name.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for two tools with the same name, an unknown member or an invalid value.
 */
export function toolsByName<T extends AnyTool>(tools: readonly T[]): ReadonlyMap<string, T> {
  const byName = new Map<string, T>();
  for (const item of tools) {
    if (typeof item?.execute !== 'function' || typeof item.name !== 'string') {
      throw invalidArgument(`A tool must be created by tool(), found ${describeValue(item)}.`, TypeError);
    }
    checkToolMembers(item);
    if (byName.has(item.name)) throw invalidArgument(`There are two tools named "${item.name}".`);
    byName.set(item.name, item);
  }
  return byName;
}
