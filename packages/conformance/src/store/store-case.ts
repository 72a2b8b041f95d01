import { AgentSession, AgentState } from '@holdfast/core';
import { mustBe, optionsCheck } from '@holdfast/core/store';
import type { Clock, Instant, SessionStore } from '@holdfast/core';
import type { AgentSessionInit, StoreOptions } from '@holdfast/core/store';

/** What a store is made with, beyond the clock. */
export type StoreSettings = Pick<StoreOptions, 'expiry' | 'maxInboxItems'>;

/**
 * Makes an empty store that takes time and ids from a clock, and the settings as it takes them in use. Whoever passes
 * it in also closes and removes the store.
 */
export type CreateStore = (clock: Clock, settings?: StoreSettings) => Promise<SessionStore>;

/** What went over the wire, since a moment that does not matter: differences count. */
export interface StoreCost {
  readonly requests: number;
  /** To the server and back. */
  readonly bytes: number;
}

/**
 * What may happen to a request. `loseReply`: the server carries it out, and the connection breaks before the reply.
 * `cut`: the connection breaks before the server has it. `throttle`: the server refuses it, as one too many.
 */
export type Fault = 'loseReply' | 'cut' | 'throttle';

/** Makes a request of the last store fail. */
export interface StoreFaults {
  /** What it can do. */
  readonly kinds: readonly Fault[];
  /** The nth request from now on, 1 for the next, meets the fault, and no other does. */
  arm(fault: Fault, nth: number): void | Promise<void>;
  /** Ends it. Was there such a request? */
  disarm(): boolean | Promise<boolean>;
}

/** Puts all that the last store keeps back to what it was, as a failover that lost writes or a restored copy does. */
export type SetBack = () => Promise<void>;

/** What a harness can do beyond making a store. Cases that need what it cannot are skipped, by name. */
export interface StoreAbilities {
  /** Opens what the last store keeps once more, as another process does. */
  readonly reopen?: CreateStore | undefined;
  /** What the last store has exchanged with its server, counted there. */
  readonly measure?: (() => Promise<StoreCost>) | undefined;
  readonly faults?: StoreFaults | undefined;
  /** Remembers what the last store keeps now. */
  readonly remember?: (() => Promise<SetBack>) | undefined;
}

/** An ability with another name would have cases skipped. */
export const checkAbilities = optionsCheck<StoreAbilities>('abilities', {
  reopen: mustBe.function,
  measure: mustBe.function,
  faults: mustBe.objectWith('an object with arm() and disarm()', ['arm', 'disarm']),
  remember: mustBe.function,
});

/** The part of the contract that a case belongs to. */
export type SessionStoreGroup =
  | 'writes'
  | 'replays'
  | 'changes'
  | 'values'
  | 'executions'
  | 'claims'
  | 'bases'
  | 'fencing'
  | 'inbox'
  | 'due'
  | 'expiry'
  | 'lists'
  | 'arguments'
  | 'reopening'
  | 'costs'
  | 'faults';

/** One thing that every session store must do. */
export interface SessionStoreCase {
  readonly group: SessionStoreGroup;
  /** No two cases have one name. */
  readonly name: string;
  /** What the harness must be able to do. */
  readonly needs?: 'reopen' | 'measure' | 'remember' | Fault | undefined;
  /** Rejects when the store does not do it. */
  readonly run: (createStore: CreateStore, abilities?: StoreAbilities) => Promise<void>;
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
  readonly abilities: StoreAbilities;
  /** A session that the store has not seen, made at the present moment. */
  readonly session: (sessionId: string, init?: Partial<AgentSessionInit>) => AgentSession;
  /** The same, kept by the store. */
  readonly created: (sessionId: string, init?: Partial<AgentSessionInit>) => Promise<AgentSession>;
}

/** A case before it is known which group it belongs to. */
export type UngroupedCase = Omit<SessionStoreCase, 'group'>;

/** When `testClock` begins, and `newSession` unless it is told another moment: the first of January 2027, UTC. */
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
export function storeCase(
  name: string,
  act: (context: CaseContext) => Promise<void>,
  options: StoreSettings & Pick<SessionStoreCase, 'needs'> = {},
): UngroupedCase {
  const { needs, ...settings } = options;
  return {
    name,
    ...(needs && { needs }),
    async run(createStore, abilities = {}) {
      const clock = testClock();
      const store = await createStore(clock, settings);
      const session = (sessionId: string, init: Partial<AgentSessionInit> = {}) =>
        newSession(sessionId, { at: clock.time, ...init });
      const created = (id: string, init?: Partial<AgentSessionInit>) => store.create(session(id, init));
      await act({ store, clock, abilities, session, created });
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
