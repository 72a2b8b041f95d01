import type { AgentEventListener } from '../loop/events.ts';
import type { SessionAction } from './actions.ts';
import { loopFrom } from './agent-catalog.ts';
import { takenUp } from './attempts.ts';
import { withChildrenEnded } from './children.ts';
import type { ExecuteOptions } from './runtime-options.ts';
import { hooked, requireSession } from './session-events.ts';
import type { AgentSession } from './session.ts';
import type { SessionWork } from './session-work.ts';
import type { WorkParts } from './work-parts.ts';

/**
 * Lets an action change the session, saves what comes of it, and works until nothing is left in the inbox. The session as
 * the action left it: what came in later is answered to others.
 */
export async function carryOut(
  work: SessionWork,
  action: SessionAction,
  { onEvent, signal }: ExecuteOptions,
  parts: WorkParts,
): Promise<AgentSession> {
  const context = {
    run: (session: AgentSession) => run(work, session, parts, onEvent),
    save: (session: AgentSession) => work.save(session),
    clock: parts.clock,
    signal,
  };
  try {
    const acted = requireSession(await action(await takenUp(work, parts), context), 'An action');
    await work.keep(await hooked(parts.hooks, 'afterAction', acted));
    const done = work.latest;
    await work.untilIdle((session) => goOn(work, session, parts, onEvent), done);
    return done;
  } catch (error) {
    await work.end();
    throw error;
  }
}

/** Does whatever the state of a session asks for. */
export async function goOn(
  work: SessionWork,
  session: AgentSession,
  parts: WorkParts,
  onEvent?: AgentEventListener,
): Promise<AgentSession> {
  const ready = session === work.latest ? await takenUp(work, parts) : session;
  if (ready.status === 'active' && ready.state.hasActiveExecution) return run(work, ready, parts, onEvent);
  return work.keep(ready);
}

/** Lets the agent work until it ends, waits, or must be left. Children may have ended before it waits for them. */
async function run(
  work: SessionWork,
  session: AgentSession,
  parts: WorkParts,
  onEvent: AgentEventListener | undefined,
): Promise<AgentSession> {
  const ran = await work.run(session, (begun) => loopFrom(parts.agents, begun), onEvent);
  const looked = await withChildrenEnded(ran.state, parts.store, parts.clock.now());
  return looked === ran.state || work.signal.aborted ? ran : run(work, ran.withState(looked), parts, onEvent);
}
