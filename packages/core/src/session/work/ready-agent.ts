import type { AgentLoop } from '../../loop/agent-loop.ts';
import { runContextMissing } from '../../loop/tools/run-context.ts';
import type { AgentSession } from '../session.ts';
import { CONTEXT_ADVICE, loopFrom } from './agent-catalog.ts';
import type { WorkParts } from './work-parts.ts';

/** The loop of a session's agent, and the run context of its runs. */
interface ReadyAgent {
  readonly loop: AgentLoop;
  readonly runContext: unknown;
}

/** Finds the agent of a session, and creates its run context. */
export type PrepareAgent = (session: AgentSession) => Promise<ReadyAgent>;

type CatalogParts = Pick<WorkParts, 'agents' | 'runContext'>;

/**
 * Returns a function that prepares the agent for the work under one claim. It creates the run context once, unless the
 * caller passed one.
 */
export function agentPreparer(given: unknown, { agents, runContext: create }: CatalogParts): PrepareAgent {
  let created: Promise<unknown> | undefined;
  return async (session) => {
    const loop = loopFrom(agents, session);
    const runContext = given === undefined ? await (created ??= createFor(session, create)) : given;
    if (loop.needsRunContext && runContext === undefined) throw missingFor(session, create);
    return { loop, runContext };
  };
}

async function createFor({ info }: AgentSession, create: CatalogParts['runContext']): Promise<unknown> {
  return create?.(info);
}

function missingFor({ agentName }: AgentSession, create: CatalogParts['runContext']): Error {
  const reason = create ? ', and runContext of the runtime returned undefined' : `: ${CONTEXT_ADVICE}`;
  const message = `Agent ${JSON.stringify(agentName)} needs a run context${reason}.`;
  return runContextMissing(message, { agent: agentName });
}
