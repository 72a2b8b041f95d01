import type { Clock } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import type { RunOptions } from '../../loop/agent-loop.ts';
import { announceTo } from '../../loop/events.ts';
import type { AgentDefinition } from '../../state/agent-definition.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import { SessionCache } from './session-cache.ts';
import type { SessionEvent, SessionHooks } from './session-events.ts';
import type { SessionExpiry, SessionStore } from '../session-store.ts';
import type { SavePolicy } from './save-policy.ts';
import { SAVE_POLICIES } from './save-policy.ts';
import { checkedCount, checkedOwner, checkedSeconds } from '../store/store-arguments.ts';

/** What a runtime works with, and how it saves and claims. */
export interface SessionRuntimeOptions {
  readonly store: SessionStore;
  /** The code of the agents that it may meet. */
  readonly agents: AgentCatalog;
  readonly hooks?: SessionHooks;
  /** Is told what happens to sessions. What it throws, at once or later, changes nothing. */
  readonly onSessionEvent?: (event: SessionEvent) => void;
  /** Time and ids of sessions and actions; default: the clock of the machine. The store and the loops have their own. */
  readonly clock?: Clock;
  /** How often a run is kept as it goes on; default `each-effect`: after a crash no effect is lost or repeated. */
  readonly savePolicy?: SavePolicy;
  /**
   * What a save that does not get through does to a run: `stop` it (the default), so that nothing happens that is not
   * kept, or go on without (`continue`) and try again at the next save.
   */
  readonly onSaveFailure?: 'stop' | 'continue';
  /** How long others wait for a process that died; it is renewed three times as often. Default 30. */
  readonly leaseSeconds?: number;
  /** How many attempts in a row at one step may fail, by the death of a process or an error, before the execution does; default 5. */
  readonly maxAttempts?: number;
  /**
   * How much the runtime remembers of the sessions that it used last, in bytes of JSON (about: characters are counted);
   * default 64,000,000. The next claim or load of a remembered session reads only its record, unless another process has
   * changed the content. 0: nothing is remembered.
   */
  readonly cacheBytes?: number;
  /** What claims of this runtime are named after, such as the host; default `holdfast`. */
  readonly owner?: string;
}

/** What is said about a session to be made. */
export interface CreateSessionOptions {
  /** What the agent is; kept with the session. */
  readonly definition: AgentDefinition;
  /** Default: a UUID. */
  readonly sessionId?: string;
  /** The session that has it work, and is looked at again when it has ended. */
  readonly parentId?: string;
  /** When it is forgotten; default: as the store says. */
  readonly expiry?: SessionExpiry;
}

/** How an action is carried out. */
export interface ExecuteOptions extends Pick<RunOptions, 'signal' | 'onEvent'> {
  /**
   * What becomes of a message or a decision while somebody else works on the session: it is left in the inbox
   * (`enqueue`, the default for messages), and the session comes back as it will be once it is taken in: with the
   * message, and without an answer; or SessionBusyError (`refuse`).
   */
  readonly whenBusy?: 'enqueue' | 'refuse' | undefined;
  /**
   * How many seconds to wait for whoever works on the session, a process that died included, before the session counts
   * as busy; default 0. A signal that aborts ends the waiting.
   */
  readonly waitSeconds?: number | undefined;
}

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

const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_MAX_ATTEMPTS = 5;
const DEFAULT_CACHE_BYTES = 64_000_000;
const SAVE_FAILURES = ['stop', 'continue'] as const;

/** What all work of a runtime has in common. @throws RangeError or TypeError `ARGUMENT_INVALID` for an option that cannot be. */
export function workParts(options: SessionRuntimeOptions): WorkParts {
  const { store, agents, hooks = {}, onSessionEvent, clock = systemClock } = options;
  const { savePolicy = 'each-effect', onSaveFailure = 'stop' } = options;
  const isAgents = typeof agents === 'function' || isObject(agents);
  if (typeof store?.load !== 'function' || !isAgents) {
    throw invalidArgument(
      'A session runtime needs a store and its agents: new SessionRuntime({ store, agents }).',
    );
  }
  if (!isObject(hooks)) throw notA('hooks', 'an object with hooks', hooks);
  if (onSessionEvent !== undefined && typeof onSessionEvent !== 'function')
    throw notA('onSessionEvent', 'a function', onSessionEvent);
  if (typeof clock?.now !== 'function' || typeof clock.newId !== 'function')
    throw notA('clock', 'an object with now() and newId()', clock);
  const listeners = onSessionEvent ? [onSessionEvent] : [];
  return {
    store,
    agents,
    hooks,
    report: (event) => announceTo(listeners, event),
    clock,
    savePolicy: oneOf('savePolicy', SAVE_POLICIES, savePolicy),
    onSaveFailure: oneOf('onSaveFailure', SAVE_FAILURES, onSaveFailure),
    leaseSeconds: checkedSeconds('leaseSeconds', options.leaseSeconds ?? DEFAULT_LEASE_SECONDS),
    maxAttempts: checkedCount('maxAttempts', options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS),
    cache: new SessionCache(checkedBytes(options.cacheBytes ?? DEFAULT_CACHE_BYTES)),
  };
}

function checkedBytes(bytes: number): number {
  if (Number.isSafeInteger(bytes) && bytes >= 0) return bytes;
  throw invalidArgument(`cacheBytes must be a whole number of at least 0, found ${describeValue(bytes)}.`);
}

function oneOf<T extends string>(name: string, known: readonly T[], value: T): T {
  if (known.includes(value)) return value;
  throw invalidArgument(`${name} is one of ${known.join(', ')}, found ${describeValue(value)}.`);
}

/** How long to wait, in seconds, and what to do then. @throws RangeError `ARGUMENT_INVALID` */
export function checkedExecution({ waitSeconds = 0, whenBusy }: ExecuteOptions): number {
  if (whenBusy !== undefined) oneOf('whenBusy', ['enqueue', 'refuse'], whenBusy);
  return waitSeconds === 0 ? 0 : checkedSeconds('waitSeconds', waitSeconds);
}

const MAX_OWNER_LENGTH = 900;

/** @throws RangeError `ARGUMENT_INVALID` */
export function checkedOwnerName(owner = 'holdfast'): string {
  if (checkedOwner(owner).length <= MAX_OWNER_LENGTH) return owner;
  throw invalidArgument(`owner may have ${MAX_OWNER_LENGTH} characters, found ${owner.length}.`);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function notA(name: string, wanted: string, found: unknown): Error {
  return invalidArgument(`${name} must be ${wanted}, found ${describeValue(found)}.`, TypeError);
}
