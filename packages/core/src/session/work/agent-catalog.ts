import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import type { AgentSession } from '../session.ts';

/**
 * Finds the code of a session's agent, in any process: by name, or by whatever the session says. What an `AgentBuilder`
 * builds is such a loop: `{ writer }`, or of the definition that each session was created with,
 * `({ definition }) => builder.build(definition)`.
 */
export type AgentCatalog =
  | Readonly<Record<string, AgentLoop>>
  | ((session: AgentSession) => AgentLoop | undefined);

/** @throws TypeError `ARGUMENT_INVALID` for a loop in place of loops by name, and for an agent that is not a loop. */
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

/** The loop of a session's agent. @throws HoldfastError `AGENT_NOT_FOUND` when there is none. */
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
  return new HoldfastError('AGENT_NOT_FOUND', `There is no agent "${name}" in the catalog.${known}`);
}
