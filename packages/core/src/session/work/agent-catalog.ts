import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import type { AgentSession } from '../session.ts';

/**
 * Finds the loop of a session's agent, in any process: an object with loops by agent name, or a function of the
 * session. With an `AgentBuilder`, that function can build the agent of each session's definition: `({ definition }) =>
 * builder.build(definition)`.
 */
export type AgentCatalog =
  | Readonly<Record<string, AgentLoop>>
  | ((session: AgentSession) => AgentLoop | undefined);

/**
 * Checks the agents of a runtime.
 * @throws TypeError `ARGUMENT_INVALID` for a loop instead of loops by name, and for an agent that is not a loop.
 */
export function checkAgents(agents: AgentCatalog): void {
  if (typeof agents === 'function') return;
  if (isLoop(agents)) {
    throw invalidArgument(
      'agents takes loops by name, found a loop: write agents: { assistant: loop }.',
      TypeError,
    );
  }
  for (const [name, agent] of Object.entries(agents)) requireLoop(agent, `Agent ${JSON.stringify(name)}`);
}

function requireLoop(agent: unknown, owner: string): void {
  if (isLoop(agent)) return;
  const found = describeValue(agent);
  throw invalidArgument(`${owner} must be what createAgentLoop() returns, found ${found}.`, TypeError);
}

function isLoop(value: unknown): value is AgentLoop {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function';
}

/** Returns the loop of a session's agent. @throws HoldfastError `AGENT_NOT_FOUND` when the catalog has none. */
export function loopFrom(agents: AgentCatalog, session: AgentSession): AgentLoop {
  const name = session.agentName;
  if (typeof agents === 'function') {
    const loop = agents(session);
    if (loop) requireLoop(loop, `What agents returns for ${JSON.stringify(name)}`);
    if (loop) return loop;
    throw agentNotFound(name, '');
  }
  const loop = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (loop) return loop;
  throw agentNotFound(name, ` Known agents: ${Object.keys(agents).join(', ') || 'none'}.`);
}

function agentNotFound(name: string, known: string): HoldfastError {
  return new HoldfastError('AGENT_NOT_FOUND', `Unknown agent "${name}" in the catalog.${known}`);
}
