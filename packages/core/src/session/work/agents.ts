import { describeValue, HoldfastError, invalidArgument } from '../../errors.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import { runContextMissing } from '../../loop/tools/run-context.ts';
import type { AgentSession } from '../session.ts';
import type { SessionInfo } from '../session-info.ts';

/**
 * Finds the loop of a session's agent, in any process: an object with loops by agent name, or a function of the
 * session. With an `AgentBuilder`, that function can build the agent of each session's definition: `({ definition }) =>
 * builder.build(definition)`.
 */
export type AgentCatalog<Context = unknown> =
  | Readonly<Record<string, AgentLoop<Context>>>
  | ((session: AgentSession) => AgentLoop<Context> | undefined);

/** Returns the run context for the work on a session. */
export type RunContextFactory<Context> = (info: SessionInfo) => Context | Promise<Context>;

/** The loop of a session's agent, and the run context of its runs. */
interface ReadyAgent {
  readonly loop: AgentLoop;
  readonly runContext: unknown;
}

/** Advice for a runtime without `runContext`. */
const CONTEXT_ADVICE =
  'pass a function to the runtime, as in runContext: ({ sessionId }) => clientsOf(sessionId)';

export class Agents {
  private readonly catalog: AgentCatalog;
  private readonly createContext: RunContextFactory<unknown> | undefined;

  /**
   * @throws TypeError `ARGUMENT_INVALID` for a loop instead of loops by name, for an agent that is not a loop, and for an
   * agent that needs a run context when the runtime creates none.
   */
  constructor(catalog: AgentCatalog, createContext: RunContextFactory<unknown> | undefined) {
    if (typeof catalog !== 'function') checkLoops(catalog, createContext !== undefined);
    this.catalog = catalog;
    this.createContext = createContext;
  }

  /** True when the name of an agent is enough to find its loop. */
  get areNamed(): boolean {
    return typeof this.catalog !== 'function';
  }

  /** Returns the loop of an agent by its name; `undefined` when the catalog has none, or needs the session. */
  named(name: string): AgentLoop | undefined {
    const { catalog } = this;
    return typeof catalog !== 'function' && Object.hasOwn(catalog, name) ? catalog[name] : undefined;
  }

  /** Returns the loop of a session's agent. @throws HoldfastError `AGENT_NOT_FOUND` when the catalog has none. */
  readonly loop = (session: AgentSession): AgentLoop => {
    const { catalog } = this;
    const name = session.agentName;
    if (typeof catalog === 'function') {
      const loop = catalog(session);
      if (loop === undefined) throw agentNotFound(name, '');
      requireLoop(loop, `What agents returns for ${JSON.stringify(name)}`);
      return loop;
    }
    const loop = this.named(name);
    if (loop) return loop;
    throw agentNotFound(name, ` Known agents: ${Object.keys(catalog).join(', ') || 'none'}.`);
  };

  /**
   * Returns a function that prepares the agent for the work under one claim. It creates the run context once, unless the
   * caller passed one.
   */
  preparer(given: unknown): (session: AgentSession) => Promise<ReadyAgent> {
    const { createContext } = this;
    let created: Promise<unknown> | undefined;
    const contextOf = async ({ info }: AgentSession): Promise<unknown> => createContext?.(info);
    return async (session) => {
      const loop = this.loop(session);
      const runContext = given === undefined ? await (created ??= contextOf(session)) : given;
      if (!loop.needsRunContext || runContext !== undefined) return { loop, runContext };
      const { agentName: agent } = session;
      const reason = createContext
        ? ', and runContext of the runtime returned undefined'
        : `: ${CONTEXT_ADVICE}`;
      throw runContextMissing(`Agent ${JSON.stringify(agent)} needs a run context${reason}.`, { agent });
    };
  }
}

function checkLoops(
  agents: Exclude<AgentCatalog, (session: never) => unknown>,
  hasRunContext: boolean,
): void {
  const advice = 'agents takes loops by name, found a loop: write agents: { assistant: loop }.';
  if (isLoop(agents)) throw invalidArgument(advice, TypeError);
  for (const [name, agent] of Object.entries(agents)) {
    requireLoop(agent, `Agent ${JSON.stringify(name)}`);
    const message = `Agent ${JSON.stringify(name)} needs a run context: ${CONTEXT_ADVICE}.`;
    if (agent.needsRunContext && !hasRunContext) throw invalidArgument(message, TypeError);
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

function agentNotFound(name: string, known: string): HoldfastError {
  return new HoldfastError('AGENT_NOT_FOUND', `Unknown agent "${name}" in the catalog.${known}`);
}
