import type { SessionChannel } from '../../channel/session-channel.ts';
import type { Clock } from '../../clock.ts';
import type { AgentEventListener } from '../../loop/steps/events.ts';
import type { SavePolicy } from '../claim/save-policy.ts';
import type { WorkSlots } from '../claim/work-slots.ts';
import type { Schedule } from '../engine/engine.ts';
import type { SessionEvent, SessionHooks } from '../session-events.ts';
import type { SessionInfo } from '../session-info.ts';
import type { SessionStore } from '../session-store.ts';
import type { AgentSession } from '../session.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import type { CachedSessions } from './session-cache.ts';

/** Returns the run context for the work on a session. */
export type RunContextFactory<Context> = (info: SessionInfo) => Context | Promise<Context>;

/** The parts of a runtime that every task uses. */
export interface WorkParts {
  readonly store: SessionStore;
  /** The store without an owner: a parent and its children can be sessions of different owners. */
  readonly relatives: Pick<SessionStore, 'load' | 'enqueue'>;
  /** The owner of all sessions of the runtime; `undefined`: any. */
  readonly owner: string | undefined;
  readonly agents: AgentCatalog;
  readonly runContext: RunContextFactory<unknown> | undefined;
  readonly hooks: SessionHooks;
  readonly onEvent: AgentEventListener | undefined;
  readonly channel: SessionChannel | undefined;
  readonly report: (event: SessionEvent) => void;
  readonly clock: Clock;
  readonly savePolicy: SavePolicy;
  readonly onSaveFailure: 'stop' | 'continue';
  readonly leaseSeconds: number;
  readonly maxAttempts: number;
  readonly schedule: (session: AgentSession) => Schedule;
  /** The sessions that this process has read or saved last. */
  readonly cache: CachedSessions;
  /** The sessions that the runtime works on now. */
  readonly slots: WorkSlots;
}
