import { mustBe, optionsCheck } from '../../arguments.ts';
import type { ArgumentCheck } from '../../arguments.ts';
import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import type { Clock } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { ExecutionBudget } from '../../state/execution/budget.ts';
import type { ToolOutput } from '../../state/messages/messages.ts';
import type { ToolBlock } from '../../state/execution/tool-outcome.ts';
import type { CallUsage, Usage } from '../../state/inference/usage.ts';
import type { ToolDescription } from '../inference/driver.ts';
import type { AgentEvent } from '../events.ts';
import { TOOL_ADVICE } from '../option-advice.ts';
import type { AiSdkSchema, InputOf, OutputOf, StandardSchema, ValidationResult } from './tool-schema.ts';
import { toolSchema } from './tool-schema.ts';

/**
 * What a tool learns about the call it serves, and what it can say while it does. What it says once this try has
 * ended, by its end or by its time, changes nothing.
 */
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
  /** Aborts when the run is aborted, its time is up, or the tool's is. */
  readonly signal: AbortSignal;
  /** The agent as it was when the call began. */
  readonly state: AgentState;
  readonly clock: Clock;
  /** What an earlier attempt of this call left with `saveProgress`. */
  readonly progress: JsonValue | undefined;
  /** Keeps word for a later attempt, in the state. @throws HoldfastError `NOT_JSON` when it is not JSON. */
  readonly saveProgress: (progress: JsonValue) => void;
  /**
   * Counts what the tool itself uses, such as the inference of a subagent, in the totals of the execution.
   * @throws HoldfastError `CONTEXT_INVALID` for numbers that are none.
   */
  readonly addUsage: (usage: Usage | CallUsage) => void;
  /** What is left of the loop's budget now. */
  readonly remaining: () => ExecutionBudget;
  /** Tells the listeners of the run what happened inside the tool. */
  readonly emit: (event: AgentEvent) => void;
}

/**
 * How often a call is tried when the tool throws or takes too long, and how long the pauses are. Once the run is told to
 * stop there are no more tries; a run that yields to another process makes them first.
 */
export interface ToolRetry {
  /** Tries in all, the first included: 2 or more. */
  readonly maxAttempts: number;
  /**
   * Seconds before the next try; default 1, twice as long each time, at most a minute. When a function gives what is not a
   * number of seconds, or throws, the call is not tried again, and the model reads both errors (`ARGUMENT_INVALID`).
   */
  readonly delaySeconds?: number | ((attempt: number) => number);
  /** Is the error worth another try? Default: every error is. What throws here ends the tries as above. */
  readonly isRetryable?: (error: unknown) => boolean;
}

/**
 * What calling a tool twice would do, and so what becomes of a call that was started by a process that died. `readOnly`:
 * nothing, and it is called again; the state need not be kept before it. `idempotent`: nothing, under one idempotency key;
 * it is called again with that. `ask`: a person says whether it is called again. `once`: harm; it is not called again,
 * and the model is told that the outcome is unknown.
 */
export type ToolEffect = 'readOnly' | 'idempotent' | 'ask' | 'once';

/** What the outside world knows of a call. With `unknown`, the tool's effect says what becomes of it. */
export type ReconcileResult =
  | { readonly status: 'done'; readonly value: unknown }
  | { readonly status: 'notDone' | 'unknown' };

/** What is known of a call when it is asked whether a person must approve it. */
export type ApprovalContext = Pick<ToolContext, 'toolCallId' | 'state' | 'signal' | 'clock'>;

/** Something a model can ask for. Make one with `tool()`, which knows the types of its arguments and results. */
export interface Tool<Input = unknown, Output = unknown> extends ToolDescription {
  /** For the type checker only, which reads them by `isExecutionOf`. It is never set. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  /** Checked arguments, or what is wrong with them. A check that takes its time counts in `timeoutSeconds`. */
  validate(input: JsonValue): ValidationResult<unknown> | Promise<ValidationResult<unknown>>;
  /**
   * Does the work. What it returns is turned into JSON, and may be a `toolResult()`; what it throws becomes an error
   * result for the model.
   */
  execute(args: unknown, context: ToolContext): unknown;
  /** What the model reads of a value, when not the value itself. */
  toModelOutput?(value: JsonValue): ToolOutput;
  /** Seconds one try may take; no limit when absent. */
  readonly timeoutSeconds: number | undefined;
  readonly retry: ToolRetry | undefined;
  /**
   * It can be left and taken up: what it needs for that it has saved as progress. Its signal aborts also when the run
   * yields to another process; it ends soon after, and is waited for, half a minute at most. A call that was left, or lost
   * with its process, is then tried once more, with its progress, instead of ending `interrupted`. Once it has ended the
   * progress is forgotten.
   */
  readonly isResumable?: boolean;
  /** Default `once`. */
  readonly effect?: ToolEffect;
  /** Asks the outside world what became of a call that was started and left. */
  reconcile?(idempotencyKey: string, context: ToolContext): ReconcileResult | Promise<ReconcileResult>;
  /** Must a person approve the call? What it throws is the call's failure, but an `AgentStop` ends the execution. */
  needsApproval?(args: unknown, context: ApprovalContext): boolean | Promise<boolean>;
  /** Seconds after which a call that nobody has decided on is denied; no limit when absent. */
  readonly approvalTimeoutSeconds?: number | undefined;
}

/** What a tool is made of. */
export interface ToolInit<Args, Result> {
  /** Letters, digits, `_` and `-`, at most 64: what every provider accepts. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  execute(args: Args, context: ToolContext): Result | Promise<Result>;
  /** What the model reads of a value, when not the value itself. */
  readonly toModelOutput?: (value: JsonValue) => ToolOutput;
  /** Seconds one try may take; no limit when absent. */
  readonly timeoutSeconds?: number;
  /** Another try for a call that threw. Only for tools that may safely be run twice. */
  readonly retry?: ToolRetry;
  /** What calling it twice would do; default `once`. */
  readonly effect?: ToolEffect;
  /**
   * Asks the outside world what became of a call that was started by a process that died, by its idempotency key. With
   * `done` the value is the call's; with `notDone` it is called again. What it throws counts as `unknown`.
   */
  reconcile?(idempotencyKey: string, context: ToolContext): ReconcileResult | Promise<ReconcileResult>;
  /**
   * Must a person approve the call? The execution is then suspended until somebody has decided. What it throws is the
   * call's failure, but an `AgentStop` ends the execution. Default: no.
   */
  readonly needsApproval?: boolean | ((args: Args, context: ApprovalContext) => boolean | Promise<boolean>);
  /** Seconds after which a call that nobody has decided on is denied; no limit when absent. */
  readonly approvalTimeoutSeconds?: number;
}

type AnyToolInit = ToolInit<never, unknown> & {
  readonly inputSchema: unknown;
  readonly jsonSchema?: object;
};

const EFFECTS: readonly ToolEffect[] = ['readOnly', 'idempotent', 'ask', 'once'];
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export const TOOL_NAME: ArgumentCheck = {
  expected: '1 to 64 letters, digits, "_" or "-"',
  accepts: (value) => typeof value === 'string' && NAME.test(value),
  type: 'string',
};

/** Seconds that something may take. They may be `Infinity`. */
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
      expected: 'a number of seconds of at least 0, or a function that gives one',
      accepts: (value) => typeof value === 'function' || isPause(value),
      type: 'number',
    },
    isRetryable: mustBe.function,
  },
  {
    maxRetries: 'count the first try too, as in maxAttempts: 3',
    delay: 'give seconds, as in delaySeconds: 1',
  },
);

const checkInit = optionsCheck<AnyToolInit>(
  'tool',
  {
    name: mustBe.required(TOOL_NAME),
    description: mustBe.required(mustBe.string),
    inputSchema: mustBe.anything, // see toolSchema
    jsonSchema: mustBe.object,
    execute: mustBe.required(mustBe.function),
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
  },
  TOOL_ADVICE,
);

const NEEDS_APPROVAL: ArgumentCheck = {
  ...mustBe.function,
  expected: 'a function in what tool() returns; true and false are for tool() itself',
};

const checkFinishedTool = optionsCheck<Tool>(
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
    types: { ...mustBe.anything, isInternal: true },
  },
  TOOL_ADVICE,
);

/** Checks a tool that may be a changed copy of what `tool()` returned. A tool of a class may have members of its own. */
function checkToolMembers(item: Tool): void {
  const owner = nameInMessages('tool', item);
  const prototype: unknown = Object.getPrototypeOf(item);
  if (prototype === Object.prototype || prototype === null) checkFinishedTool(item, owner);
  if (item.retry !== undefined) checkRetry(item.retry, `the retry of ${owner}`);
}

/** What `Object.prototype.toString` says of generator functions. */
const GENERATORS: readonly string[] = ['[object AsyncGeneratorFunction]', '[object GeneratorFunction]'];

function checkTool(init: AnyToolInit): void {
  const owner = nameInMessages('tool', init);
  const { retry } = checkInit(init, owner);
  const { execute } = init as { readonly execute: unknown };
  if (GENERATORS.includes(Object.prototype.toString.call(execute))) {
    const advice = 'Return the result, or a promise of it, instead of yielding it.';
    throw invalidArgument(`execute of ${owner} is a generator function. ${advice}`, TypeError);
  }
  if (retry !== undefined) checkRetry(retry, `the retry of ${owner}`);
}

/** Says which of many tools does not fit. */
export function nameInMessages(kind: string, init: { readonly name?: unknown } | undefined): string {
  const name = init?.name;
  return typeof name === 'string' ? `${kind} ${JSON.stringify(name)}` : kind;
}

/**
 * A tool from a function and a schema of its arguments: a Standard Schema or a schema of the AI SDK, from which the types
 * of the arguments follow, or a JSON Schema.
 *
 * @example
 * const add = tool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option, a value that does not fit or a generator function;
 * HoldfastError `TOOL_SCHEMA_INVALID` for a schema that cannot be shown to a model.
 */
export function tool<Schema extends StandardSchema, Result>(
  init: ToolInit<OutputOf<Schema>, Result> & {
    readonly inputSchema: Schema;
    /** The same as JSON Schema, for a schema that cannot describe itself. */
    readonly jsonSchema?: object;
  },
): Tool<InputOf<Schema>, Result>;
export function tool<Schema extends AiSdkSchema, Result>(
  init: ToolInit<Schema['_type'], Result> & {
    readonly inputSchema: Schema;
    /** The same as JSON Schema, for a schema that gives it as a promise. */
    readonly jsonSchema?: object;
  },
): Tool<Schema['_type'], Result>;
export function tool<Args = JsonObject, Result = unknown>(
  init: ToolInit<Args, Result> & { readonly inputSchema: JsonObject },
): Tool<Args, Result>;
export function tool(init: AnyToolInit): Tool {
  checkTool(init);
  const { name, approvalTimeoutSeconds, toModelOutput, needsApproval } = init;
  const { jsonSchema, validate } = toolSchema(name, init.inputSchema, init.jsonSchema);
  const asksPerson = typeof needsApproval === 'function' ? needsApproval : needsApproval && (() => true);
  return Object.freeze({
    name,
    description: init.description,
    inputSchema: jsonSchema,
    validate,
    execute: (args: unknown, context: ToolContext) => init.execute(args as never, context),
    timeoutSeconds: init.timeoutSeconds,
    retry: init.retry,
    effect: init.effect ?? 'once',
    ...(toModelOutput && { toModelOutput }),
    ...(init.reconcile && { reconcile: init.reconcile.bind(init) }),
    ...(asksPerson && { needsApproval: asksPerson }),
    ...(approvalTimeoutSeconds !== undefined && { approvalTimeoutSeconds }),
  });
}

/** Is it a number of seconds that one can wait? */
export function isPause(seconds: unknown): seconds is number {
  return typeof seconds === 'number' && seconds >= 0 && seconds < Infinity;
}

/**
 * Tools by name.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` when two have one name, and for an unknown member or a value that does
 * not fit.
 */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const item of tools) {
    if (typeof item?.execute !== 'function' || typeof item.name !== 'string') {
      throw invalidArgument(`A tool is what tool() returns, found ${describeValue(item)}.`, TypeError);
    }
    checkToolMembers(item);
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

/** Hooks forbade the call; the message is their reasons, one a line. */
export class ToolExecutionBlockedError extends HoldfastError {
  /** The hooks that forbade it, in the order in which they were called: at least one. */
  readonly blockedBy: readonly ToolBlock[];

  constructor(toolName: string, blockedBy: readonly ToolBlock[]) {
    const reasons = blockedBy.flatMap(({ reason }) => reason || []).join('\n');
    super('TOOL_BLOCKED', reasons || `Tool "${toolName}" is blocked.`, { data: { toolName, blockedBy } });
    this.blockedBy = blockedBy;
  }
}
