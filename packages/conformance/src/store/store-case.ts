import { AgentSession, AgentState } from '@holdfast/core';
import type { AgentSessionInit, Clock, Instant, SessionStore } from '@holdfast/core';

/** Makes an empty store that takes time and ids from a clock. Whoever passes it in also closes and removes it. */
export type CreateStore = (clock: Clock) => Promise<SessionStore>;

/** One thing that every session store must do. It rejects when the store does not. */
export interface SessionStoreCase {
  readonly name: string;
  readonly run: (createStore: CreateStore) => Promise<void>;
}

/** A clock that stands still until it is told to go on. */
export interface TestClock extends Clock {
  /** The present moment; may be set, also back. */
  time: Instant;
}

/** What a case works with. */
export interface CaseContext {
  readonly store: SessionStore;
  readonly clock: TestClock;
  /** A session that the store has not seen, made at the present moment. */
  readonly session: (sessionId: string, init?: Partial<AgentSessionInit>) => AgentSession;
  /** The same, kept by the store. */
  readonly created: (sessionId: string, init?: Partial<AgentSessionInit>) => Promise<AgentSession>;
}

export const START: Instant = Date.UTC(2027, 0, 1);

/** Ids count up, time stands still. */
export function testClock(): TestClock {
  let ids = 0;
  const clock: TestClock = {
    time: START,
    now: () => clock.time,
    newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
  };
  return clock;
}

/** A case that begins with an empty store and its clock. */
export function storeCase(name: string, act: (context: CaseContext) => Promise<void>): SessionStoreCase {
  return {
    name,
    async run(createStore) {
      const clock = testClock();
      const store = await createStore(clock);
      const session = (sessionId: string, init: Partial<AgentSessionInit> = {}) =>
        newSession(sessionId, { at: clock.time, ...init });
      await act({ store, clock, session, created: (id, init) => store.create(session(id, init)) });
    },
  };
}

/** A session of an agent named `tester`. */
export function newSession(sessionId: string, init: Partial<AgentSessionInit> = {}): AgentSession {
  const { at = START } = init;
  return AgentSession.create({
    sessionId,
    definition: { name: 'tester' },
    at,
    state: emptyState(at),
    ...init,
  });
}

/** A state with nothing in it, the same each time. */
export function emptyState(at: Instant = START): AgentState {
  return AgentState.empty({ agentId: 'a0000000-0000-4000-8000-000000000001', at });
}

/** The session with a fact in its metadata. */
export function withFact(session: AgentSession, name: string, value: string | number): AgentSession {
  return session.withState(session.state.withMetadata(name, value, session.updatedAt));
}
