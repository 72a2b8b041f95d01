import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import type { AgentSession } from '../session.ts';

/**
 * Finds the loop of a session's agent, in any process: an object with loops by agent name, or a function of the
 * session. With an `AgentBuilder`, that function can build the agent of each session's definition: `({ definition }) =>
 * builder.build(definition)`.
 */
export type AgentCatalog<Context = unknown> =
  | Readonly<Record<string, AgentLoop<Context>>>
  | ((session: AgentSession) => AgentLoop<Context> | undefined);

/**
 * Checks the agents of a runtime.
 * @throws TypeError `ARGUMENT_INVALID` for a loop instead of loops by name, for an agent that is not a loop, and for an
 * agent that needs a run context when the runtime creates none.
 */
export function checkAgents(agents: AgentCatalog, hasRunContext: boolean): void {
  if (typeof agents === 'function') return;
  if (isLoop(agents)) {
    throw invalidArgument(
      'agents takes loops by name, found a loop: write agents: { assistant: loop }.',
      TypeError,
    );
  }
  for (const [name, agent] of Object.entries(agents)) {
    requireLoop(agent, `Agent ${JSON.stringify(name)}`);
    if (agent.needsRunContext && !hasRunContext)
      throw invalidArgument(
        `Agent ${JSON.stringify(name)} needs a run context: ${CONTEXT_ADVICE}.`,
        TypeError,
      );
  }
}

function requireLoop(agent: unknown, owner: string): void {
  if (isLoop(agent)) return;
  const found = describeValue(agent);
  throw invalidArgument(`${owner} must be what createAgentLoop() returns, found ${found}.`, TypeError);
}

function isLoop(value: unknown): value is AgentLoop {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function';
}

/** Advice for a runtime without `runContext`. */
export const CONTEXT_ADVICE =
  'pass a function to the runtime, as in runContext: ({ sessionId }) => clientsOf(sessionId)';

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
