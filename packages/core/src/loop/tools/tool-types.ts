import type { JsonValue } from '../../json.ts';
import type { ToolOutput } from '../../state/messages/messages.ts';
import type { ToolDescription } from '../inference/driver.ts';
import type { ApprovalContext, ToolContext } from './tool-context.ts';
import type { ValidationResult } from './tool-schema.ts';

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

/** The result of a call, from which `toModelOutput` creates what the model reads. */
export interface ModelOutputOptions {
  readonly toolCallId: string;
  /** The arguments as the model wrote them. */
  readonly input: JsonValue;
  /** The value that the tool returned. */
  readonly output: JsonValue;
}

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
   * Returns the checked arguments, or the problem with them. An asynchronous check has `timeoutSeconds` of its own.
   */
  validate(input: JsonValue): ValidationResult<unknown> | Promise<ValidationResult<unknown>>;
  /**
   * Does the work. The returned value is converted to JSON, or it is a `toolResult()`. A thrown error becomes an error
   * result that the model reads.
   */
  execute(args: unknown, context: ToolContext<Context>): unknown;
  /** Returns what the model reads, when it is not the value itself. The loop does not call it for a truncated value. */
  toModelOutput?(result: ModelOutputOptions): ToolOutput | Promise<ToolOutput>;
  /** Seconds that one attempt may take, without sleep of the machine; no limit when absent. */
  readonly timeoutSeconds: number | undefined;
  readonly retry: ToolRetry | undefined;
  /**
   * True when another attempt can continue from the saved progress. The signal of such a tool also aborts when the run
   * yields; the tool then has 30 seconds of grace to settle. A call that stays open, or whose process died, then gets
   * another attempt with its progress, instead of the outcome `interrupted`. The progress is removed when the call
   * completes.
   */
  readonly isResumable?: boolean;
  /** The effect of a second attempt; default `once`. */
  readonly effect?: ToolEffect;
  /**
   * Queries the outside service, by the idempotency key, for the result of a call in doubt, which a dead process
   * started. With `done`, the call succeeds with the value; with `notDone`, it runs again. An error counts as `unknown`.
   */
  reconcile?(
    idempotencyKey: string,
    context: ToolContext<Context>,
  ): ReconcileResult | Promise<ReconcileResult>;
  /**
   * False when the call may run without an approval; every other answer requests one. It receives a copy of the value
   * that the tool receives. An error fails the call; an `AgentStop` ends the execution.
   */
  needsApproval?(args: unknown, context: ApprovalContext<Context>): boolean | Promise<boolean>;
  /** Seconds after which a call without a decision is denied; no limit when absent. */
  readonly approvalTimeoutSeconds?: number | undefined;
  /**
   * Present for a tool without `execute`, whose calls wait for an answer: returns the checked answer, or the problem
   * with it. The loop does not call `execute` of such a tool.
   */
  validateAnswer?(value: JsonValue): ValidationResult<unknown> | Promise<ValidationResult<unknown>>;
  /** Seconds after which a call without an answer fails, and the model reads it; no limit when absent. */
  readonly answerTimeoutSeconds?: number | undefined;
  /** The tools of the agent that a call runs, by name. @internal */
  readonly toolsInside?: (() => ReadonlyMap<string, Tool> | undefined) | undefined;
  /** Describes the saved progress of a call that did not complete, for the model. @internal */
  readonly describeProgress?: ((progress: JsonValue) => string) | undefined;
}

/** A tool, whichever run context it needs. */
export type AnyTool = Tool<unknown, unknown, never>;

/** The options of `tool()`. */
export interface ToolInit<Args, Result, Context = unknown>
  extends
    Pick<ToolDescription, 'strict' | 'providerOptions' | 'inputExamples'>,
    Pick<Tool, 'effect' | 'toModelOutput' | 'approvalTimeoutSeconds'>,
    Pick<Tool<unknown, unknown, Context>, 'reconcile'> {
  /** 1 to 64 letters, digits, `_` or `-`, which every provider accepts. */
  readonly name: string;
  /** For the model: what the tool does and when to use it. */
  readonly description: string;
  readonly execute: (args: Args, context: ToolContext<Context>) => Result | Promise<Result>;
  /** Seconds that one attempt may take, without sleep of the machine; no limit when absent. */
  readonly timeoutSeconds?: number;
  /** Further attempts after an error or a timeout. Only for tools that can safely run twice. */
  readonly retry?: ToolRetry;
  /**
   * True when a person must approve each call, or a function that judges the checked arguments: `false` lets the call
   * run, and every other answer requests an approval. The execution is then suspended until there is a decision. Each
   * start of a call without an approval calls the function. An error fails the call; an `AgentStop` ends the execution.
   * The schema of such a tool must return JSON. Default: false.
   */
  readonly needsApproval?:
    | boolean
    | ((args: Args, context: ApprovalContext<Context>) => boolean | Promise<boolean>);
}

/** The options of `tool()` for a tool without `execute`: a person, a page or another system answers its calls. */
export interface QuestionInit<Args>
  extends
    Omit<ToolInit<Args, unknown>, 'execute' | 'timeoutSeconds' | 'retry' | 'effect' | 'reconcile'>,
    Pick<Tool, 'answerTimeoutSeconds'> {
  readonly execute?: never;
}

/** The options of `tool()`, of any kind. */
export type AnyToolInit = Omit<ToolInit<never, unknown>, 'execute'> &
  Pick<QuestionInit<never>, 'answerTimeoutSeconds'> & {
    readonly execute?: ToolInit<never, unknown>['execute'];
    readonly inputSchema: unknown;
    readonly jsonSchema?: object;
    readonly outputSchema?: unknown;
  };
