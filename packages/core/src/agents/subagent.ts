import { mustBe, optionsCheck } from '../arguments.ts';
import { describeValue, invalidArgument } from '../errors.ts';
import { ExecutionBudget, type BudgetLimits } from '../state/execution/budget.ts';
import { AgentState } from '../state/agent-state.ts';
import { AgentId } from '../state/values/ids.ts';
import type { LlmConfig } from '../state/inference/llm-config.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { UserPart } from '../state/messages/messages.ts';
import { unlessAborted } from '../loop/stopping/abort.ts';
import type { AgentLoop } from '../loop/agent-loop.ts';
import type { StructuredOutput } from './structured-output.ts';
import { SubagentRun, completedWork, depthExceeded, nestingOf, subagentFailed } from './subagent-run.ts';
import { SUBAGENT_ADVICE } from '../loop/tools/option-advice.ts';
import type { Tool } from '../loop/tools/tool-types.ts';
import type { ToolContext } from '../loop/tools/tool-context.ts';
import { nameInMessages, TIME_LIMIT, TOOL_NAME } from '../loop/tools/tool-checks.ts';
import { tool } from '../loop/tools/tool.ts';
import type { OutputOf, StandardSchema } from '../loop/tools/tool-schema.ts';

/** The task of a subagent: a user message, or a whole state to begin with. */
export type SubagentTask = string | readonly UserPart[] | AgentState;

/** The options of a subagent. */
export interface SubagentInit<Args, Own = unknown> extends Pick<Tool, 'toModelOutput'> {
  /** 1 to 64 letters, digits, `_` or `-`, as for a tool. */
  readonly name: string;
  /** For the model: what the agent does and when to call it. */
  readonly description: string;
  /**
   * The loop of the agent. A function is called for each call of the agent, so a loop can contain itself as a subagent.
   */
  readonly loop: AgentLoop<Own> | (() => AgentLoop<Own>);
  readonly systemPrompt?: string;
  /** Default: the model settings of the calling agent. */
  readonly llmConfig?: LlmConfig;
  /**
   * The limits of one call, besides the limits of its loop. No call uses more than the remaining budget of the calling
   * agent. Tokens, seconds, cost and the deadline apply to all agents together; steps apply to each agent separately.
   */
  readonly budget?: BudgetLimits;
  /** The maximum depth of agents below the outermost one; default 3. The smallest limit on the path applies. */
  readonly maxDepth?: number;
  /** Reads the value of the final response. Add the same hook to the hooks of the loop. Default: the text. */
  readonly output?: StructuredOutput<unknown>;
  /**
   * Returns the result of the call from the agent's state, when it is not the final response itself. Called only after
   * a final response.
   */
  readonly toResult?: (agent: AgentState, args: Args) => unknown;
  /** Seconds that one call may take; no limit when absent. */
  readonly timeoutSeconds?: number;
}

/** Creates the task of a subagent from the arguments of the call. */
export type ToTask<Args, Context = unknown> = (
  args: Args,
  context: ToolContext<Context>,
) => SubagentTask | Promise<SubagentTask>;

/** Returns the run context of a subagent. It receives the run context of the calling agent. */
export type ToRunContext<Own> = (runContext: never) => Own | Promise<Own>;

/**
 * The run context that the calling agent needs: the one that `runContext` of the subagent receives, or without this
 * function the one of the subagent.
 */
export type CallerContext<Own, To> = To extends (runContext: infer Context) => unknown ? Context : Own;

const DEFAULT_MAX_DEPTH = 3;

type AnySubagentInit = SubagentInit<never> & {
  readonly inputSchema?: unknown;
  readonly jsonSchema?: object;
  readonly toTask?: ToTask<never>;
  readonly runContext?: ((runContext: unknown) => unknown) | undefined;
};

const checkSubagent = optionsCheck<AnySubagentInit>(
  'subagent',
  {
    name: mustBe.required(TOOL_NAME),
    description: mustBe.required(mustBe.string),
    loop: mustBe.anything, // checked below
    systemPrompt: mustBe.string,
    llmConfig: mustBe.object,
    budget: mustBe.object,
    maxDepth: mustBe.wholeNumber(1),
    output: mustBe.objectWith('a StructuredOutput, as in structuredOutput(schema)', ['readAsync']),
    toResult: mustBe.function,
    toModelOutput: mustBe.function,
    timeoutSeconds: TIME_LIMIT,
    inputSchema: mustBe.anything, // see toolSchema
    jsonSchema: mustBe.object,
    toTask: mustBe.function,
    runContext: mustBe.function,
  },
  SUBAGENT_ADVICE,
);

const PROMPT: JsonObject = Object.freeze({
  type: 'object',
  properties: {
    prompt: {
      type: 'string',
      description: 'The task, with everything that the agent must know. The agent sees nothing else.',
    },
  },
  required: ['prompt'],
  additionalProperties: false,
});

/**
 * Creates a tool that runs an agent. The agent works on a task with its own loop and its own state, and its final
 * response is the result of the call. By default the model writes the task as `{ prompt }`; with an `inputSchema`,
 * `toTask` creates the task from the arguments.
 *
 * The agent receives the run context of the caller, or the one that `runContext` returns.
 *
 * The agent's usage counts in the caller's usage as it occurs. The caller's listeners receive the agent's events inside
 * events of type `subagent`. The agent's state is the progress of the call, so a resumed run continues inside the
 * agent: responses are not requested again, and completed tools do not run again. When a tool of the agent needs
 * approval, the caller's execution is suspended, and the decision is passed on to the agent. An agent that fails, is
 * stopped or has no final response becomes the error `SUBAGENT_FAILED`, which the calling model reads. A call that
 * exceeds `maxDepth` fails with `SUBAGENT_DEPTH_EXCEEDED` before the agent runs.
 *
 * @example
 * const research = subagent({ name: 'research', description: 'Finds out about a topic.', loop: researchLoop });
 * const loop = createAgentLoop({ driver, tools: [research] });
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option, an invalid value or a missing loop.
 */
export function subagent<Own = unknown, To extends ToRunContext<Own> | undefined = undefined>(
  init: SubagentInit<{ readonly prompt: string }, Own> & {
    readonly runContext?: To;
    readonly inputSchema?: undefined;
    readonly toTask?: ToTask<{ readonly prompt: string }, CallerContext<Own, To>>;
  },
): Tool<unknown, unknown, CallerContext<Own, To>>;
export function subagent<
  Schema extends StandardSchema,
  Own = unknown,
  To extends ToRunContext<Own> | undefined = undefined,
>(
  init: SubagentInit<OutputOf<Schema>, Own> & {
    readonly runContext?: To;
    readonly inputSchema: Schema;
    /** The JSON Schema of the arguments, for a schema that cannot describe itself. */
    readonly jsonSchema?: object;
    readonly toTask: ToTask<OutputOf<Schema>, CallerContext<Own, To>>;
  },
): Tool<unknown, unknown, CallerContext<Own, To>>;
export function subagent<
  Args = JsonObject,
  Own = unknown,
  To extends ToRunContext<Own> | undefined = undefined,
>(
  init: SubagentInit<Args, Own> & {
    readonly runContext?: To;
    readonly inputSchema: JsonObject;
    readonly toTask: ToTask<Args, CallerContext<Own, To>>;
  },
): Tool<unknown, unknown, CallerContext<Own, To>>;
export function subagent(init: AnySubagentInit): Tool {
  checkSubagent(init, nameInMessages('subagent', init));
  const { name, description, timeoutSeconds, toModelOutput, jsonSchema, inputSchema = PROMPT } = init;
  const { maxDepth = DEFAULT_MAX_DEPTH, loop, toTask = promptOf } = init;
  if (init.inputSchema !== undefined && init.toTask === undefined) {
    const advice = 'as in toTask: ({ city }) => `Describe ${city}.`';
    throw invalidArgument(
      `Subagent "${name}" has an inputSchema and no toTask: pass one, ${advice}.`,
      TypeError,
    );
  }
  const loopOf = typeof loop === 'function' ? loop : () => loop;
  if (typeof loop !== 'function' && typeof loop?.run !== 'function')
    throw invalidArgument(`Subagent "${name}" needs a loop, found ${describeValue(loop)}.`, TypeError);
  const budget = ExecutionBudget.of(init.budget ?? {});
  const subagentTool = tool({
    name,
    description,
    inputSchema: inputSchema as JsonObject,
    ...(jsonSchema && { jsonSchema }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(toModelOutput && { toModelOutput }),
    async execute(args: never, context) {
      const nesting = nestingOf(context, maxDepth);
      if (nesting.depth > nesting.maxDepth) throw depthExceeded(name, nesting.maxDepth);
      const inTime = <T>(work: () => T | Promise<T>): Promise<T> =>
        unlessAborted((async () => work())(), context.signal);
      const begin = async (): Promise<AgentState> =>
        stateFor(init, await inTime(() => toTask(args, context)), context);
      const run = new SubagentRun(name, context, nesting);
      const agent = await run.toEnd(loopOf(), begin, budget, () =>
        inTime(() => runContextFor(init, context)),
      );
      if (!agent.hasFinalResponse || agent.status !== 'completed') throw subagentFailed(name, agent);
      if (init.toResult) return inTime(() => init.toResult?.(agent, args));
      const { output } = init;
      return output ? inTime(() => output.readAsync(agent)) : textFor(agent);
    },
  });
  const needsContext = typeof loop !== 'function' && loop.needsRunContext && init.runContext === undefined;
  return Object.freeze({
    ...subagentTool,
    isResumable: true,
    toolsInside: () => loopOf().tools,
    describeProgress: (progress: JsonValue) => completedWork(name, progress),
    ...(needsContext && { needsRunContext: true }),
  });
}

/** The final response. A response that reached its output limit says so. */
function textFor({ finalResponse, lastStep }: AgentState): string | undefined {
  const isCut = lastStep?.response?.finishReason === 'length';
  return isCut ? `${finalResponse}\n[The answer was cut: it reached the output limit.]` : finalResponse;
}

function runContextFor({ runContext }: Pick<AnySubagentInit, 'runContext'>, caller: ToolContext): unknown {
  return runContext ? runContext(caller.runContext) : caller.runContext;
}

function promptOf(args: unknown): string {
  return (args as { readonly prompt: string }).prompt;
}

/** The agent's state before its first step, with a new id for each call. */
function stateFor(
  { systemPrompt, llmConfig }: Pick<SubagentInit<never>, 'systemPrompt' | 'llmConfig'>,
  task: SubagentTask,
  { state: caller, clock }: ToolContext,
): AgentState {
  const at = clock.now();
  const isState = task instanceof AgentState;
  const given = isState ? task.forNextExecution(at) : AgentState.empty({ agentId: clock.newId(), at });
  const withTask = isState ? given : given.withUserMessage(task, { clock }, at);
  const prompted = systemPrompt === undefined ? withTask : withTask.withSystemPrompt(systemPrompt, at);
  const model = llmConfig ?? withTask.llmConfig ?? caller.llmConfig;
  const { context, llmConfig: chosen } = prompted.withLlmConfig(model, at);
  return AgentState.restore({
    agentId: AgentId.create(clock),
    parentAgentId: caller.agentId,
    createdAt: at,
    updatedAt: at,
    executionCount: 0,
    llmConfig: chosen,
    context,
    execution: undefined,
  });
}
