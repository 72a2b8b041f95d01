import {
  AgentSession,
  AgentState,
  type Clock,
  type Instant,
  type SessionStore,
  type SessionDirectory,
} from '@holdfast/core';
import { mustBe, optionsCheck, type AgentSessionInit, type StoreOptions } from '@holdfast/core/store';
import { harnessChecks, type Closable, type Harness } from '../../run/harness.ts';

/** The options of a store, without its clock. */
export type StoreSettings = Pick<StoreOptions, 'expiry' | 'maxInboxItems' | 'keptRevisions'>;

/** A store: the sessions one by one, and the directory of all. */
export type TestedStore = SessionStore & SessionDirectory;

/** A store, and the function that removes it. A case may have closed the store before. */
export interface StoreUnderTest extends Closable {
  readonly store: TestedStore;
}

/** Creates an empty store that takes the time and ids from the clock, and uses the settings. */
export type CreateStore = (clock: Clock, settings?: StoreSettings) => Promise<StoreUnderTest>;

/** The traffic between a store and its server, since any fixed instant. Cases compare two readings. */
export interface StoreCost {
  readonly requests: number;
  /** The bytes to the server and back. */
  readonly bytes: number;
  /**
   * The work of the server, if the harness can count it: rows that statements visit, or commands that scripts run. It
   * shows a scan that sends nothing over the wire.
   */
  readonly work?: number | undefined;
}

/**
 * A fault of a request. `loseReply`: the server executes the request, and the connection breaks before the reply.
 * `cut`: the connection breaks before the server receives the request. `throttle`: the server refuses the request
 * because of its load.
 */
export type Fault = 'loseReply' | 'cut' | 'throttle';

/** Injects faults into the requests of the last store. */
export interface StoreFaults {
  /** The faults that the harness can inject. */
  readonly kinds: readonly Fault[];
  /** Injects the fault into the nth request from now on, where 1 is the next request. No other request fails. */
  arm(fault: Fault, nth: number): void | Promise<void>;
  /** Removes the fault. Returns whether a request met it. */
  disarm(): boolean | Promise<boolean>;
}

/**
 * Restores the storage of the last store to an earlier state, as a failover that dropped writes or a restored copy
 * does.
 */
export type SetBack = () => Promise<void>;

/** The filters of a list, as in `SessionQuery`. */
export type ListFilter = 'owner' | 'status' | 'agentName' | 'parentId' | 'executionStatus' | 'waitingFor';

const LIST_FILTERS: readonly ListFilter[] = [
  'owner',
  'status',
  'agentName',
  'parentId',
  'executionStatus',
  'waitingFor',
];

/** The abilities of a harness for stores. Cases that need a missing ability are skipped. */
export interface StoreAbilities {
  /** Opens another store on the storage of the last store, as another process does. Its `close` keeps the storage. */
  readonly reopen?: CreateStore | undefined;
  /** Returns the traffic of the last store, counted at its server. */
  readonly measure?: (() => Promise<StoreCost>) | undefined;
  readonly faults?: StoreFaults | undefined;
  /** Copies the storage of the last store. The returned function restores it. */
  readonly remember?: (() => Promise<SetBack>) | undefined;
  /**
   * Replaces the stored record of a session of the last store by what the function makes of its JSON text, past the store.
   * Indexes, content and inbox stay as they are.
   */
  readonly corrupt?: ((sessionId: string, change: (record: string) => string) => Promise<void>) | undefined;
  /**
   * Returns the number of rows, keys or items in the whole storage of the last store, past the store: everything that
   * takes space, also entries of indexes that are keys of their own. Cases compare two readings.
   */
  readonly countRows?: (() => Promise<number>) | undefined;
  /** The filters for which the store has an index: a list by one of them costs the same however few sessions match. */
  readonly indexedFilters?: readonly ListFilter[] | undefined;
  /**
   * The capability `maxValueBytes` of the stores, if cases can write values of that size: up to about 100 MB. A harness
   * may create its stores with a lower limit than users get.
   */
  readonly maxValueBytes?: number | undefined;
  /** The larger number of sessions in the cases that compare two numbers of sessions. The default is 1,200. */
  readonly manySessions?: number | undefined;
}

/** The number of sessions in the cases that need many, unless the harness has another. */
export const MANY_SESSIONS = 1_200;
/** The smaller number of sessions in those cases. */
export const FEW_SESSIONS = 300;

/** Creates the stores of the cases, and declares what the tests can do with their storage. */
export interface SessionStoreHarness extends Harness<CreateStore>, StoreAbilities {}

export const checkStoreHarness = optionsCheck<SessionStoreHarness>('the harness of a store', {
  ...harnessChecks,
  reopen: mustBe.function,
  measure: mustBe.function,
  faults: mustBe.objectWith('an object with arm() and disarm()', ['arm', 'disarm']),
  remember: mustBe.function,
  corrupt: mustBe.function,
  countRows: mustBe.function,
  indexedFilters: mustBe.listOf(`filters of a list: ${LIST_FILTERS.join(', ')}`, (filter) =>
    LIST_FILTERS.some((name) => name === filter),
  ),
  maxValueBytes: mustBe.wholeNumber(1),
  manySessions: mustBe.wholeNumber(2 * FEW_SESSIONS),
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
  | 'failures'
  | 'expiry'
  | 'lists'
  | 'owners'
  | 'history'
  | 'inspection'
  | 'unreadable'
  | 'arguments'
  | 'reopening'
  | 'sizes'
  | 'rows'
  | 'costs'
  | 'faults';

/** An ability that a case needs: a member of the harness, or a fault that the harness can inject. */
export type StoreNeed = Exclude<keyof StoreAbilities, 'faults' | 'manySessions'> | Fault;

/** A requirement on every session store. */
export interface SessionStoreCase {
  readonly group: SessionStoreGroup;
  /** The name of the case. It is unique. */
  readonly name: string;
  /** The abilities that the case needs. */
  readonly needs?: readonly StoreNeed[] | undefined;
  /** Runs the case. Rejects when the store does not meet the requirement. */
  readonly run: (createStore: CreateStore, abilities?: StoreAbilities) => Promise<void>;
}

/** A clock that stands still until a test sets its time. */
export interface TestClock extends Clock {
  /** The present instant. Tests may set it forwards and backwards. */
  time: Instant;
}

/** The environment of a case. */
export interface CaseContext {
  readonly store: TestedStore;
  readonly clock: TestClock;
  readonly abilities: StoreAbilities;
  /** A session that is not stored, created at the present instant. */
  readonly session: (sessionId: string, init?: Partial<AgentSessionInit>) => AgentSession;
  /** Creates a session and stores it. */
  readonly created: (sessionId: string, init?: Partial<AgentSessionInit>) => Promise<AgentSession>;
}

/** A case without its group. */
export type UngroupedCase = Omit<SessionStoreCase, 'group'>;

/** The initial time of `testClock`, and the default creation time of `newSession`: 1 January 2027, UTC. */
export const START: Instant = Date.UTC(2027, 0, 1);

/** A clock that stands still, whose ids count up. */
export function testClock(): TestClock {
  let ids = 0;
  const clock: TestClock = {
    time: START,
    now: () => clock.time,
    newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
  };
  return clock;
}

/** Creates a case that begins with an empty store and its clock. */
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
      const { store } = await createStore(clock, settings);
      const session = (sessionId: string, init: Partial<AgentSessionInit> = {}) =>
        newSession(sessionId, { at: clock.time, ...init });
      const created = (id: string, init?: Partial<AgentSessionInit>) => store.create(session(id, init));
      await act({ store, clock, abilities, session, created });
    },
  };
}

/** A session of the agent `tester`, which is not stored. */
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

/** An empty state. It is equal for equal instants. */
export function emptyState(at: Instant = START): AgentState {
  return AgentState.empty({ agentId: 'a0000000-0000-4000-8000-000000000001', at });
}

/** Sets a metadata entry of a session. */
export function withFact(session: AgentSession, name: string, value: string | number): AgentSession {
  return session.withState(session.state.withMetadata(name, value, session.updatedAt));
}
