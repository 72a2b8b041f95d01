import type { Clock } from '../../clock.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import type { SavePolicy } from './save-policy.ts';
import type { SessionCache } from './session-cache.ts';
import type { SessionEvent, SessionHooks } from './session-events.ts';
import type { SessionStore } from '../session-store.ts';

/** What a runtime gives to each piece of work. */
export interface WorkParts {
  readonly store: SessionStore;
  readonly agents: AgentCatalog;
  readonly hooks: SessionHooks;
  readonly report: (event: SessionEvent) => void;
  readonly clock: Clock;
  readonly savePolicy: SavePolicy;
  readonly onSaveFailure: 'stop' | 'continue';
  readonly leaseSeconds: number;
  readonly maxAttempts: number;
  /** What this process knows of sessions. */
  readonly cache: SessionCache;
}
