import { hasErrorCode, invalidArgument } from '../errors.ts';
import type { SessionAction } from './actions.ts';
import type { AgentSession } from './session.ts';
import type { SessionConflictError } from './session-errors.ts';
import { afterWrite } from './session-events.ts';
import type { WorkParts } from './session-work.ts';

type QuickParts = Pick<WorkParts, 'store' | 'hooks' | 'report' | 'clock'>;

/**
 * Lets an action that does not work long change a session that was loaded, and saves it. It takes no claim.
 * @throws SessionBusyError while somebody works on it; SessionConflictError when another writer was first.
 */
export async function actQuickly(
  base: AgentSession,
  action: SessionAction,
  parts: QuickParts,
  signal: AbortSignal | undefined,
): Promise<AgentSession> {
  const { hooks, clock } = parts;
  const loaded = (await hooks.afterLoad?.(base)) ?? base;
  const acted = await action(loaded, { run: refuse, save: refuse, clock, signal });
  const changed = (await hooks.afterAction?.(acted)) ?? acted;
  if (changed === loaded) return loaded;
  const session = (await hooks.beforeSave?.(changed)) ?? changed;
  const saved = await written(session, base, parts);
  await afterWrite(parts, 'afterSave', saved);
  return saved;
}

async function refuse(): Promise<never> {
  throw invalidArgument('A quick action neither runs the agent nor saves by itself.');
}

async function written(
  session: AgentSession,
  base: AgentSession,
  { store, report, clock }: QuickParts,
): Promise<AgentSession> {
  try {
    const saved = await store.save(session, { base, operationId: clock.newId() });
    report({ type: 'session-saved', session: saved });
    return saved;
  } catch (error) {
    if (hasErrorCode(error, 'SESSION_CONFLICT'))
      report({ type: 'session-conflict', session, error: error as SessionConflictError });
    throw error;
  }
}
