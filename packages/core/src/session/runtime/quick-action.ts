import { invalidArgument } from '../../errors.ts';
import type { SessionAction } from '../actions/actions.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import { loopFrom } from '../work/agent-catalog.ts';
import type { AgentSession } from '../session.ts';
import { publishSave } from '../work/notify-worker.ts';
import { callHookAfterWrite, callSessionHook, requireSession } from '../session-events.ts';
import type { WorkParts } from '../work/work-parts.ts';
import { writeSession } from '../claim/session-writer.ts';

type QuickParts = Pick<WorkParts, 'store' | 'hooks' | 'report' | 'clock' | 'cache' | 'agents' | 'channel'>;

/**
 * Executes a quick action on a loaded session, and saves the result. It takes no claim.
 * @throws SessionBusyError while a worker holds a claim; SessionConflictError when another writer saved first.
 */
export async function executeQuickAction(
  base: AgentSession,
  action: SessionAction,
  parts: QuickParts,
  signal: AbortSignal | undefined,
): Promise<AgentSession> {
  const { hooks, clock, agents } = parts;
  const loop = (session: AgentSession): AgentLoop => loopFrom(agents, session);
  const loaded = await callSessionHook(hooks, 'afterLoad', base);
  const actionResult = requireSession(
    await action(loaded, { run: refuse, save: refuse, loop, clock, signal }),
    loaded,
    'An action',
  );
  const changed = await callSessionHook(hooks, 'afterAction', actionResult);
  if (changed === loaded) return loaded;
  const session = await callSessionHook(hooks, 'beforeSave', changed);
  const saved = await writeSession(session, { base, operationId: clock.newId() }, parts);
  parts.cache.put(saved);
  if (parts.channel) await publishSave(parts.channel, saved);
  await callHookAfterWrite(parts, 'afterSave', saved);
  return saved;
}

async function refuse(): Promise<never> {
  throw invalidArgument('A quick action cannot run the agent or save. Return the changed session instead.');
}
