import type { SessionChannel } from '../../channel/session-channel.ts';
import { invalidArgument } from '../../errors.ts';
import type { SessionAction } from '../actions/actions.ts';
import type { ClaimParts } from '../claim/held-session.ts';
import { saveSession } from '../claim/session-writer.ts';
import type { AgentSession } from '../session.ts';
import { callHookAfterWrite, callSessionHook } from '../session-events.ts';
import type { Agents } from '../work/agents.ts';

type QuickParts = Pick<ClaimParts, 'store' | 'hooks' | 'report' | 'clock' | 'cache' | 'channel'> & {
  readonly agents: Agents;
};

/**
 * Executes a quick action on a loaded session, and saves the result. It takes no claim.
 * @param act executes the action and its hook
 * @throws SessionBusyError while a worker holds a claim; SessionConflictError when another writer saved first.
 */
export async function executeQuickAction(
  base: AgentSession,
  act: SessionAction,
  parts: QuickParts,
  signal: AbortSignal | undefined,
): Promise<AgentSession> {
  const { hooks, clock, agents, channel } = parts;
  const loaded = await callSessionHook(hooks, 'afterLoad', base);
  const changed = await act(loaded, { run: refuse, save: refuse, loop: agents.loop, clock, signal });
  if (changed === loaded) return loaded;
  const session = await callSessionHook(hooks, 'beforeSave', changed);
  const saved = await saveSession(session, { base, operationId: clock.newId() }, parts);
  parts.cache.put(saved);
  if (channel) await publishSave(channel, saved);
  await callHookAfterWrite(parts, 'afterSave', saved);
  return saved;
}

async function refuse(): Promise<never> {
  throw invalidArgument('A quick action cannot run the agent or save. Return the changed session instead.');
}

/**
 * Publishes that a session was saved without a claim, so that readers load it. When the channel does not reply, they
 * read the store some seconds later.
 */
async function publishSave(channel: SessionChannel, session: AgentSession): Promise<void> {
  const { sessionId, version, status, updatedAt: at, revision } = session;
  const position = { incarnation: revision.incarnation, epoch: 0, series: 0, n: 1, base: version - 1 };
  try {
    await channel.publish(sessionId, [{ ...position, change: { type: 'saved', version, status, at } }]);
  } catch {
    // Readers look at the store.
  }
}
