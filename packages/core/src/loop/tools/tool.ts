import { mustBe, optionsCheck } from '../../arguments.ts';
import type { ArgumentCheck } from '../../arguments.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { isPlainObject } from '../../json.ts';
import type { ToolOutput } from '../../state/messages/messages.ts';
import type { ToolDescription } from '../inference/driver.ts';
import { EXECUTE_ADVICE, QUESTION_ADVICE, TOOL_ADVICE } from '../option-advice.ts';
import type { ApprovalContext, ToolContext } from './tool-context.ts';
import type {
  AiSdkSchema,
  AnySchema,
  InputOf,
  InputOfAny,
  OutputOf,
  OutputOfAny,
  StandardSchema,
  ValidationResult,
} from './tool-schema.ts';
import { answerSchema, toolSchema } from './tool-schema.ts';

/**
 * How often a call is attempted when the tool throws or times out, and the pauses between attempts. There are no
 * retries after an abort of the run, except a yield: a run that yields completes its attempts first.
 */
export interface ToolRetry {
  /** The number of attempts, including the first: 2 or more. */
  readonly maxAttempts: number;
  /**
   * Seconds before the next attempt; default 1, doubled for each attempt, at most 60. When a function throws or returns
   * an invalid number, the call is not repeated, and the model reads both errors (`ARGUMENT_INVALID`).
   */
  readonly delaySeconds?: number | ((attempt: number) => number);
  /**
   * True when the error allows another attempt. Default: every error does. An error that this function throws ends the
   * attempts as described above.
   */
  readonly isRetryable?: (error: unknown) => boolean;
}

/**
 * The effect of a second attempt. The loop resolves calls in doubt by it. `readOnly`: no effect; the call runs again,
 * and the state need not be saved before it. `idempotent`: no further effect under the same idempotency key; the call
 * runs again with that key. `ask`: a person decides whether the call runs again. `once`: harm; the call does not run
 * again, and the model reads that its outcome is unknown.
 */
export type ToolEffect = 'readOnly' | 'idempotent' | 'ask' | 'once';

/** The answer of the outside service about a call. With `unknown`, the loop resolves the call by the tool's effect. */
export type ReconcileResult =
  | { readonly status: 'done'; readonly value: unknown }
  | { readonly status: 'notDone' | 'unknown' };

/**
 * A function that a model can request. Create a tool with `tool()`, which infers the types of its arguments and
 * results, or with `toolFor()` when it needs a run context of the type `Context`.
 */
export interface Tool<Input = unknown, Output = unknown, Context = unknown> extends ToolDescription {
  /** For the type checker only, which compares it. It is never set. */
  readonly types?:
    | { readonly input: Input; readonly output: Output; readonly runContext: (value: Context) => void }
    | undefined;
  /** True when the tool needs a run context: a run without one is refused. */
  readonly needsRunContext?: boolean;
  /**
   * Returns the checked arguments, or the problem with them. The time of an asynchronous check counts in
   * `timeoutSeconds`.
   */
  validate(input: JsonValue): ValidationResult<unknown> | Promise<ValidationResult<unknown>>;
  /**
   * Does the work. The returned value is converted to JSON, or it is a `toolResult()`. A thrown error becomes an error
   * result that the model reads.
   */
  execute(args: unknown, context: ToolContext<Context>): unknown;
  /** Returns what the model reads, when it is not the value itself. */
  toModelOutput?(value: JsonValue): ToolOutput;
  /** Seconds that one attempt may take; no limit when absent. */
  readonly timeoutSeconds: number | undefined;
  readonly retry: ToolRetry | undefined;
  /**
   * True when another attempt can continue from the saved progress. The signal of such a tool also aborts when the run
   * yields; the tool then has 30 seconds of grace to settle. A call that stays open, or whose process died, then gets
   * another attempt with its progress, instead of the outcome `interrupted`. The progress is removed when the call
   * completes.
   */
  readonly isResumable?: boolean;
  /** Default `once`. */
  readonly effect?: ToolEffect;
  /** Queries the outside service for the result of a call in doubt. */
  reconcile?(
    idempotencyKey: string,
    context: ToolContext<Context>,
  ): ReconcileResult | Promise<ReconcileResult>;
  /** True when a person must approve the call. An error fails the call; an `AgentStop` ends the execution. */
  needsApproval?(args: unknown, context: ApprovalContext<Context>): boolean | Promise<boolean>;
  /** Seconds after which a call without a decision is denied; no limit when absent. */
  readonly approvalTimeoutSeconds?: number | undefined;
  /**
   * Present for a tool without `execute`, whose calls wait for an answer: returns the checked answer, or the problem
   * with it. The loop does not call `execute` of such a tool.
   */
  validateAnswer?(value: JsonValue): ValidationResult<unknown> | Promise<ValidationResult<unknown>>;
  /** Seconds after which a call without an answer fails; no limit when absent. */
  readonly answerTimeoutSeconds?: number | undefined;
  /** The tools of the agent that a call runs, by name. @internal */
  readonly toolsInside?: (() => ReadonlyMap<string, Tool> | undefined) | undefined;
}

/** A tool, whichever run context it needs. */
export type AnyTool = Tool<unknown, unknown, never>;

/** The options of `tool()`. */
export interface ToolInit<Args, Result, Context = unknown> {
  /** 1 to 64 letters, digits, `_` or `-`, which every provider accepts. */
  readonly name: string;
  /** For the model: what the tool does and when to use it. */
  readonly description: string;
  readonly execute: (args: Args, context: ToolContext<Context>) => Result | Promise<Result>;
  /** Returns what the model reads, when it is not the value itself. */
  readonly toModelOutput?: (value: JsonValue) => ToolOutput;
  /** Seconds that one attempt may take; no limit when absent. */
  readonly timeoutSeconds?: number;
  /** Further attempts after an error or a timeout. Only for tools that can safely run twice. */
  readonly retry?: ToolRetry;
  /** The effect of a second attempt; default `once`. */
  readonly effect?: ToolEffect;
  /**
   * Queries the outside service, by the idempotency key, for the result of a call that a dead process started. With
   * `done`, the call succeeds with the value; with `notDone`, it runs again. An error counts as `unknown`.
   */
  readonly reconcile?: (
    idempotencyKey: string,
    context: ToolContext<Context>,
  ) => ReconcileResult | Promise<ReconcileResult>;
  /**
   * True when a person must approve the call. The execution is then suspended until there is a decision. An error fails
   * the call; an `AgentStop` ends the execution. Default: false.
   */
  readonly needsApproval?:
    | boolean
    | ((args: Args, context: ApprovalContext<Context>) => boolean | Promise<boolean>);
  /** Seconds after which a call without a decision is denied; no limit when absent. */
  readonly approvalTimeoutSeconds?: number;
}

/** The options of `tool()` for a tool without `execute`: a person, a page or another system answers its calls. */
export interface QuestionInit<Args> extends Pick<
  ToolInit<Args, unknown>,
  'name' | 'description' | 'toModelOutput' | 'needsApproval' | 'approvalTimeoutSeconds'
> {
  readonly execute?: never;
  /** Seconds after which a call without an answer fails, and the model reads it; no limit when absent. */
  readonly answerTimeoutSeconds?: number;
}

type AnyToolInit = Omit<ToolInit<never, unknown>, 'execute'> &
  Pick<QuestionInit<never>, 'answerTimeoutSeconds'> & {
    readonly execute?: ToolInit<never, unknown>['execute'];
    readonly inputSchema: unknown;
    readonly jsonSchema?: object;
    readonly outputSchema?: unknown;
  };

const EFFECTS: readonly ToolEffect[] = ['readOnly', 'idempotent', 'ask', 'once'];
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export const TOOL_NAME: ArgumentCheck = {
  expected: '1 to 64 letters, digits, "_" or "-"',
  accepts: (value) => typeof value === 'string' && NAME.test(value),
  type: 'string',
};

/** A duration in seconds, which may be `Infinity`. */
export const TIME_LIMIT: ArgumentCheck = {
  expected: 'a number of seconds above 0',
  accepts: (value) => typeof value === 'number' && value > 0,
  type: 'number',
};

const checkRetry = optionsCheck<ToolRetry>(
  'retry',
  {
    maxAttempts: mustBe.required(mustBe.wholeNumber(2)),
    delaySeconds: {
      expected: 'a number of seconds of at least 0, or a function that returns one',
      accepts: (value) => typeof value === 'function' || isPause(value),
      type: 'number',
    },
    isRetryable: mustBe.function,
  },
  {
    maxRetries: 'use "maxAttempts", which counts the first attempt too, as in maxAttempts: 3',
    delay: 'set it in seconds, as in delaySeconds: 1',
  },
);

const checkInit = optionsCheck<AnyToolInit>(
  'tool',
  {
    name: mustBe.required(TOOL_NAME),
    description: mustBe.required(mustBe.string),
    inputSchema: mustBe.anything, // see toolSchema
    jsonSchema: mustBe.object,
    outputSchema: mustBe.anything, // see answerSchema
    execute: mustBe.function,
    toModelOutput: mustBe.function,
    timeoutSeconds: TIME_LIMIT,
    retry: mustBe.object,
    effect: mustBe.oneOf(EFFECTS),
    reconcile: mustBe.function,
    needsApproval: {
      expected: 'true, false or a function',
      accepts: (value) => typeof value === 'boolean' || typeof value === 'function',
    },
    approvalTimeoutSeconds: TIME_LIMIT,
    answerTimeoutSeconds: TIME_LIMIT,
  },
  TOOL_ADVICE,
);

const NEEDS_APPROVAL: ArgumentCheck = {
  ...mustBe.function,
  expected: 'a function in a finished tool; pass true or false to tool() itself',
};

const checkFinishedTool = optionsCheck<AnyTool>(
  'tool',
  {
    name: mustBe.required(TOOL_NAME),
    description: mustBe.required(mustBe.string),
    inputSchema: mustBe.required(mustBe.object),
    validate: mustBe.required(mustBe.function),
    execute: mustBe.required(mustBe.function),
    toModelOutput: mustBe.function,
    timeoutSeconds: TIME_LIMIT,
    retry: mustBe.object,
    isResumable: mustBe.boolean,
    effect: mustBe.oneOf(EFFECTS),
    reconcile: mustBe.function,
    needsApproval: NEEDS_APPROVAL,
    approvalTimeoutSeconds: TIME_LIMIT,
    validateAnswer: mustBe.function,
    answerTimeoutSeconds: TIME_LIMIT,
    toolsInside: { ...mustBe.function, isInternal: true },
    needsRunContext: mustBe.boolean,
    types: { ...mustBe.anything, isInternal: true },
  },
  TOOL_ADVICE,
);

/** Checks a tool, which may be a changed copy of a tool of `tool()`. A tool of a class may have members of its own. */
function checkToolMembers(item: AnyTool): void {
  const owner = nameInMessages('tool', item);
  if (isPlainObject(item)) checkFinishedTool(item, owner);
  if (item.retry !== undefined) checkRetry(item.retry, `the retry of ${owner}`);
}

/** The tags of generator functions by `Object.prototype.toString`. */
const GENERATORS: readonly string[] = ['[object AsyncGeneratorFunction]', '[object GeneratorFunction]'];

function checkTool(init: AnyToolInit): void {
  const owner = nameInMessages('tool', init);
  const { retry, execute } = checkInit(init, owner);
  refuseOptions(init, owner, execute === undefined ? QUESTION_ADVICE : EXECUTE_ADVICE);
  if (GENERATORS.includes(Object.prototype.toString.call(execute))) {
    const advice = 'Return the result, or a promise of it, instead of yielding it.';
    throw invalidArgument(`execute of ${owner} is a generator function. ${advice}`, TypeError);
  }
  if (retry !== undefined) checkRetry(retry, `the retry of ${owner}`);
}

/** Refuses the options that make no sense with `execute`, or without it. */
function refuseOptions(init: AnyToolInit, owner: string, advice: Readonly<Record<string, string>>): void {
  const found = Object.keys(advice).find((name) => name in init);
  if (found !== undefined) throw invalidArgument(`${owner} ${advice[found]}`, TypeError);
}

/** Names the tool in messages, such as `tool "add"`. */
export function nameInMessages(kind: string, init: { readonly name?: unknown } | undefined): string {
  const name = init?.name;
  return typeof name === 'string' ? `${kind} ${JSON.stringify(name)}` : kind;
}

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
  init: QuestionInit<OutputOfAny<Schema>> & {
    readonly inputSchema: Schema;
    /** The JSON Schema of the arguments, for a schema that cannot describe itself. */
    readonly jsonSchema?: object;
    /** The schema of the answer. Default: any JSON. */
    readonly outputSchema?: Answer;
  },
): Tool<InputOfAny<Schema>, OutputOfAny<Answer>>;
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
export function tool<Schema extends StandardSchema, Result>(
  init: ToolInit<OutputOf<Schema>, Result> & {
    readonly inputSchema: Schema;
    /** The JSON Schema of the arguments, for a schema that cannot describe itself. */
    readonly jsonSchema?: object;
  },
): Tool<InputOf<Schema>, Result>;
export function tool<Schema extends AiSdkSchema, Result>(
  init: ToolInit<Schema['_type'], Result> & {
    readonly inputSchema: Schema;
    /** The JSON Schema of the arguments, for a schema that has a promise instead of a JSON Schema. */
    readonly jsonSchema?: object;
  },
): Tool<Schema['_type'], Result>;
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
    ...(init.reconcile && { reconcile: init.reconcile.bind(init) }),
    ...(asksPerson && { needsApproval: asksPerson }),
    ...(approvalTimeoutSeconds !== undefined && { approvalTimeoutSeconds }),
  });
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

/** True for a finite number of seconds of at least 0. */
export function isPause(seconds: unknown): seconds is number {
  return typeof seconds === 'number' && seconds >= 0 && seconds < Infinity;
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
