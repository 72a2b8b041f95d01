import { mustBe, optionsCheck } from '../arguments.ts';
import { describeValue, invalidArgument } from '../errors.ts';
import type { BudgetLimits } from '../state/execution/budget.ts';
import { ExecutionBudget } from '../state/execution/budget.ts';
import { AgentState } from '../state/agent-state.ts';
import { AgentId } from '../state/values/ids.ts';
import type { LlmConfig } from '../state/llm-config.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { ToolOutput, UserPart } from '../state/messages/messages.ts';
import { unlessAborted } from '../loop/stopping/abort.ts';
import type { AgentLoop } from '../loop/agent-loop.ts';
import type { StructuredOutput } from './structured-output.ts';
import { SubagentRun, depthExceeded, nestingOf, subagentFailed } from './subagent-run.ts';
import { SUBAGENT_ADVICE } from '../loop/option-advice.ts';
import type { Tool, ToolContext } from '../loop/tools/tool.ts';
import { nameInMessages, TIME_LIMIT, tool, TOOL_NAME } from '../loop/tools/tool.ts';
import type { OutputOf, StandardSchema } from '../loop/tools/tool-schema.ts';

/** What a subagent is told: a message of the user, or a whole state to begin with. */
export type SubagentTask = string | readonly UserPart[] | AgentState;

/** How a subagent's task and result are made, and how long a call may take. */
export interface SubagentInit<Args> {
  /** As of a tool: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** For the model: what the agent does and when to call it. */
  readonly description: string;
  /** What the agent does. A function is asked at each call: so a loop can have itself as a subagent. */
  readonly loop: AgentLoop | (() => AgentLoop);
  readonly systemPrompt?: string;
  /** Default: that of the calling agent. */
  readonly llmConfig?: LlmConfig;
  /**
   * What one call may use, besides the limits of its loop. Whatever it says, no call uses more than the calling agent has
   * left: of tokens, seconds, cost and until its deadline all agents together, of steps each agent by itself.
   */
  readonly budget?: BudgetLimits;
  /** How many agents may be below one that nobody called; default 3. The smallest on the way down holds. */
  readonly maxDepth?: number;
  /** Reads the value of the answer. The same hook is to be one of the loop's. Default: the text. */
  readonly output?: StructuredOutput<unknown>;
  /** What the call comes to, as of a tool, when not the answer itself. Asked when there is an answer. */
  readonly toResult?: (agent: AgentState, args: Args) => unknown;
  /** What the calling model reads of the result, when not the result itself. */
  readonly toModelOutput?: (value: JsonValue) => ToolOutput;
  /** Seconds one call may take; no limit when absent. */
  readonly timeoutSeconds?: number;
}

/** Makes the task of a subagent from the arguments of the call. */
export type ToTask<Args> = (args: Args, context: ToolContext) => SubagentTask | Promise<SubagentTask>;

/** How deep agents may call agents, when nothing else is said. */
const DEFAULT_MAX_DEPTH = 3;

type AnySubagentInit = SubagentInit<never> & {
  readonly inputSchema?: unknown;
  readonly jsonSchema?: object;
  readonly toTask?: ToTask<never>;
};

const checkSubagent = optionsCheck<AnySubagentInit>(
  'subagent',
  {
    name: mustBe.required(TOOL_NAME),
    description: mustBe.required(mustBe.string),
    loop: mustBe.anything, // the message below names the subagent
    systemPrompt: mustBe.string,
    llmConfig: mustBe.object,
    budget: mustBe.object,
    maxDepth: mustBe.wholeNumber(1),
    output: mustBe.objectWith('what structuredOutput() returns', ['readAsync']),
    toResult: mustBe.function,
    toModelOutput: mustBe.function,
    timeoutSeconds: TIME_LIMIT,
    inputSchema: mustBe.anything, // see toolSchema
    jsonSchema: mustBe.object,
    toTask: mustBe.function,
  },
  SUBAGENT_ADVICE,
);

const PROMPT: JsonObject = Object.freeze({
  type: 'object',
  properties: {
    prompt: {
      type: 'string',
      description: 'The task, with all that the agent has to know: it sees nothing else.',
    },
  },
  required: ['prompt'],
  additionalProperties: false,
});

/**
 * An agent as a tool: a call gives it a task, which it works on by its own loop and in its own state, and its answer is the
 * result. By default the model writes the task as `{ prompt }`; with a schema of its own `toTask` makes it from the
 * arguments.
 *
 * What the agent uses counts in the caller's totals as it is used. Its events reach the caller's listeners inside events of
 * type `subagent`. While it works its state is the progress of the call, so that a run that was left is taken up inside
 * the agent: what it was answered is not asked again, tools that have ended are not run again. When one of its tools needs
 * approval the caller is suspended for it, and the decision finds its way inside. An agent that fails, is
 * stopped, or has no answer is an error that the calling model reads, `SUBAGENT_FAILED`; one too deep is
 * `SUBAGENT_DEPTH_EXCEEDED`, before anything is called.
 *
 * @example
 * const research = subagent({ name: 'research', description: 'Finds out about a topic.', loop: researchLoop });
 * const loop = createAgentLoop({ driver, tools: [research] });
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit, and without a loop.
 */
export function subagent(
  init: SubagentInit<{ readonly prompt: string }> & {
    readonly inputSchema?: undefined;
    readonly toTask?: ToTask<{ readonly prompt: string }>;
  },
): Tool;
export function subagent<Schema extends StandardSchema>(
  init: SubagentInit<OutputOf<Schema>> & {
    readonly inputSchema: Schema;
    /** The same as JSON Schema, for a schema that cannot describe itself. */
    readonly jsonSchema?: object;
    readonly toTask: ToTask<OutputOf<Schema>>;
  },
): Tool;
export function subagent<Args = JsonObject>(
  init: SubagentInit<Args> & { readonly inputSchema: JsonObject; readonly toTask: ToTask<Args> },
): Tool;
export function subagent(init: AnySubagentInit): Tool {
  checkSubagent(init, nameInMessages('subagent', init));
  const { name, description, timeoutSeconds, toModelOutput, jsonSchema, inputSchema = PROMPT } = init;
  const { maxDepth = DEFAULT_MAX_DEPTH, loop, toTask = promptOf } = init;
  if (init.inputSchema !== undefined && init.toTask === undefined) {
    const advice = 'as in toTask: ({ city }) => `Describe ${city}.`';
    throw invalidArgument(
      `Subagent "${name}" has an inputSchema and no toTask: give one, ${advice}.`,
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
      const agent = await run.toEnd(loopOf(), begin, budget);
      if (!agent.hasFinalResponse || agent.status !== 'completed') throw subagentFailed(name, agent);
      if (init.toResult) return inTime(() => init.toResult?.(agent, args));
      const { output } = init;
      return output ? inTime(() => output.readAsync(agent)) : agent.finalResponse;
    },
  });
  return Object.freeze({ ...subagentTool, isResumable: true });
}

function promptOf(args: unknown): string {
  return (args as { readonly prompt: string }).prompt;
}

/** The agent before its first step: another one at each call. */
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
