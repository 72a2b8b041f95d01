import { systemClock } from '../clock.ts';
import { HoldfastError } from '../errors.ts';
import { initialState, type AgentDefinition } from '../state/agent-definition.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { UserPart } from '../state/messages/messages.ts';
import { createAgentLoop, type AgentLoop, type AgentLoopOptions } from '../loop/agent-loop.ts';
import type { Tool } from '../loop/tools/tool-types.ts';

/**
 * A definition with its code: a loop that a session runtime accepts like any other loop.
 * @example
 * const writer = AgentBuilder.of({ driver, tools: [search] }).build({ name: 'writer', tools: ['search'] });
 * const state = await writer.run(writer.start('Write a haiku.'));
 * const runtime = new SessionRuntime({ store, agents: { writer } });
 */
export interface Agent<in Context = unknown> extends AgentLoop<Context> {
  readonly definition: AgentDefinition;
  /**
   * Creates a state with the system prompt, model settings and metadata of the definition, and a user message if
   * `content` is passed. `run` does not add these to a state from another source. Time and ids come from the loop's
   * clock.
   */
  start(content?: string | readonly UserPart[]): AgentState;
}

/** Creates the agent of a checked definition, from options that include the tools and hooks of its capabilities. */
export function agentOf<Context>(
  definition: AgentDefinition,
  options: Partial<AgentLoopOptions<Context>>,
): Agent<Context>;
export function agentOf(definition: AgentDefinition, options: Partial<AgentLoopOptions>): Agent {
  const { clock = systemClock } = options;
  // createAgentLoop throws when the driver is missing.
  const loop = createAgentLoop({
    ...options,
    ...optionsOfDefinition(definition, options),
  } as AgentLoopOptions);
  return Object.freeze<Agent>({
    ...loop,
    definition,
    start(content) {
      const at = clock.now();
      const state = initialState(definition, clock, at);
      return content === undefined ? state : state.withUserMessage(content, { clock }, at);
    },
  });
}

/** The options that a definition sets, from the options of a builder. */
function optionsOfDefinition(
  definition: AgentDefinition,
  options: Partial<AgentLoopOptions>,
): Pick<AgentLoopOptions, 'tools' | 'budget'> {
  const { name, budget } = definition;
  const tools = allowedTools(definition, options.tools ?? []);
  const { toolChoice = 'auto', prices } = options;
  if (typeof toolChoice === 'object' && !tools.some((tool) => tool.name === toolChoice.toolName)) {
    const data = { tools: [toolChoice.toolName] };
    throw notBuildable(
      name,
      `may not use the tool "${toolChoice.toolName}", but its toolChoice requires this tool`,
      { data },
    );
  }
  if (budget?.maxCost !== undefined && prices === undefined)
    throw notBuildable(name, 'has a budget with maxCost, which requires the prices of the models');
  return { tools, ...(budget && { budget }) };
}

function allowedTools(
  { name, tools: wanted, toolsDeny = [] }: AgentDefinition,
  tools: readonly Tool[],
): readonly Tool[] {
  const names = tools.map((tool) => tool.name);
  const missing = (wanted ?? []).filter((tool) => !names.includes(tool));
  if (missing.length > 0) throw missingNames(name, 'tools', missing, names);
  const isWanted = (tool: string): boolean => wanted === undefined || wanted.includes(tool);
  return tools.filter((tool) => isWanted(tool.name) && !toolsDeny.includes(tool.name));
}

/** The error for unknown names in a definition. */
export function missingNames(
  agent: string,
  kind: 'tools' | 'capabilities',
  missing: readonly string[],
  known: readonly string[],
): HoldfastError {
  const noun = missing.length > 1 ? kind : kind === 'tools' ? 'tool' : 'capability';
  const names = missing.map((name) => JSON.stringify(name)).join(', ');
  const message = `Unknown ${noun} ${names} in agent "${agent}". Known ${kind}: ${known.join(', ') || 'none'}.`;
  return new HoldfastError('AGENT_NOT_BUILDABLE', message, { data: { agent, [kind]: missing } });
}

/** Returns the error `AGENT_NOT_BUILDABLE` for a definition. */
export function notBuildable(
  agent: string,
  problem: string,
  { data, cause }: { readonly data?: object; readonly cause?: unknown } = {},
): HoldfastError {
  const message = `Agent "${agent}" ${problem}.`;
  return new HoldfastError('AGENT_NOT_BUILDABLE', message, { data: { agent, ...data }, cause });
}
