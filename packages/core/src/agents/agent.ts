import { systemClock } from '../clock.ts';
import { HoldfastError } from '../errors.ts';
import { initialState } from '../state/agent-definition.ts';
import type { AgentDefinition } from '../state/agent-definition.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { UserPart } from '../state/messages/messages.ts';
import type { AgentLoop, AgentLoopOptions } from '../loop/agent-loop.ts';
import { createAgentLoop } from '../loop/agent-loop.ts';
import type { Tool } from '../loop/tools/tool.ts';

/**
 * A definition with the code of its names: a loop, which a session runtime takes as any other.
 * @example
 * const writer = AgentBuilder.of({ driver, tools: [search] }).build({ name: 'writer', tools: ['search'] });
 * const state = await writer.run(writer.start('Write a haiku.'));
 * const runtime = new SessionRuntime({ store, agents: { writer } });
 */
export interface Agent extends AgentLoop {
  readonly definition: AgentDefinition;
  /**
   * A new state with the prompt, model and metadata of the definition, and the user's message if there is one. A state
   * that comes from elsewhere is run as it is. Time and ids are those of the loop's clock.
   */
  start(content?: string | readonly UserPart[]): AgentState;
}

/** The agent of a checked definition, and of options with the tools and hooks of its capabilities. */
export function agentOf(definition: AgentDefinition, options: Partial<AgentLoopOptions>): Agent {
  const { clock = systemClock } = options;
  // Without a driver the loop says so.
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

/** What a definition chooses of a builder's options. */
function optionsOfDefinition(
  definition: AgentDefinition,
  options: Partial<AgentLoopOptions>,
): Pick<AgentLoopOptions, 'tools' | 'budget'> {
  const { name, budget } = definition;
  const tools = allowedTools(definition, options.tools ?? []);
  const { toolChoice = 'auto', prices } = options;
  if (typeof toolChoice === 'object' && !tools.some((tool) => tool.name === toolChoice.toolName)) {
    const data = { tools: [toolChoice.toolName] };
    throw notBuildable(name, `may not use the tool "${toolChoice.toolName}", which it must choose`, { data });
  }
  if (budget?.maxCost !== undefined && prices === undefined)
    throw notBuildable(name, 'has a budget with maxCost, which needs the prices of the models');
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

/** A definition names what there is not. */
export function missingNames(
  agent: string,
  kind: 'tools' | 'capabilities',
  missing: readonly string[],
  known: readonly string[],
): HoldfastError {
  const problem = `names ${kind} that there are not: ${missing.join(', ')}. There are: ${known.join(', ') || 'none'}`;
  return notBuildable(agent, problem, { data: { [kind]: missing } });
}

/** A definition cannot be built. */
export function notBuildable(
  agent: string,
  problem: string,
  { data, cause }: { readonly data?: object; readonly cause?: unknown } = {},
): HoldfastError {
  const message = `Agent "${agent}" ${problem}.`;
  return new HoldfastError('AGENT_NOT_BUILDABLE', message, { data: { agent, ...data }, cause });
}
