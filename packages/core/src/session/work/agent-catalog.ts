import { HoldfastError } from '../../errors.ts';
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

/** The loop of a session's agent. @throws HoldfastError `AGENT_NOT_FOUND` when there is none. */
export function loopFrom(agents: AgentCatalog, session: AgentSession): AgentLoop {
  const name = session.agentName;
  if (typeof agents === 'function') {
    const loop = agents(session);
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
