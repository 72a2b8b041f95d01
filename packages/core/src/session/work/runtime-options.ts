import { mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import type { RunOptions } from '../../loop/agent-loop.ts';
import { announceTo } from '../../loop/events.ts';
import type { AgentDefinition } from '../../state/agent-definition.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import { checkAgents } from './agent-catalog.ts';
import { SessionCache } from './session-cache.ts';
import type { SessionEvent, SessionHooks } from './session-events.ts';
import { checkHooks } from './session-events.ts';
import type { SessionExpiry, SessionStore } from '../session-store.ts';
import type { SavePolicy } from './save-policy.ts';
import { SAVE_POLICIES } from './save-policy.ts';
import { COUNT } from '../store/store-arguments.ts';

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
  readonly workerName?: string;
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

/** The longest name: each claim adds ids to it, and a worker id has a limit. */
const MAX_NAME_LENGTH = 900;

const checkRuntimeOptions = optionsCheck<SessionRuntimeOptions>(
  'SessionRuntime',
  {
    store: mustBe.required(
      mustBe.objectWith('a session store, as in new SessionRuntime({ store, agents })', ['load', 'save']),
    ),
    agents: mustBe.required({
      expected: 'loops by name or a function that finds one, as in agents: { assistant: loop }',
      accepts: (value) => typeof value === 'function' || mustBe.object.accepts(value),
    }),
    hooks: mustBe.object,
    onSessionEvent: mustBe.function,
    clock: mustBe.clock,
    savePolicy: mustBe.oneOf(SAVE_POLICIES),
    onSaveFailure: mustBe.oneOf(['stop', 'continue']),
    leaseSeconds: mustBe.seconds,
    maxAttempts: COUNT,
    cacheBytes: mustBe.wholeNumber(0),
    workerName: mustBe.text(MAX_NAME_LENGTH),
  },
  {
    agent: 'give agents by name, as in agents: { assistant: loop }',
    loop: 'give loops by name, as in agents: { assistant: loop }',
    driver: 'a loop has it, as in agents: { assistant: createAgentLoop({ driver }) }',
    onEvent:
      'events of runs go to the loop, as in listeners: [listener], or to execute(sessionId, action, { onEvent })',
    engine: 'an engine serves the runtime, as in engine.serve((id, options) => runtime.advance(id, options))',
    expiry: 'the store has it, as in new MemorySessionStore({ expiry: { afterSeconds: 3600 } })',
  },
);

export const checkExecuteOptions = optionsCheck<ExecuteOptions>(
  'execute',
  {
    signal: mustBe.signal,
    onEvent: mustBe.function,
    whenBusy: mustBe.oneOf(['enqueue', 'refuse']),
    waitSeconds: {
      expected: 'a number of seconds of at least 0',
      accepts: (value) => value === 0 || mustBe.seconds.accepts(value),
      type: 'number',
    },
  },
  {
    abortSignal: 'write "signal"',
    maxSteps: 'the loop limits steps, as in createAgentLoop({ driver, budget: { maxSteps: 5 } })',
    budget: 'the loop has it, as in createAgentLoop({ driver, budget: { maxSteps: 5 } })',
    timeout: 'give seconds, as in waitSeconds: 30',
  },
);

const DEFINITION = 'give a definition, as in definition: { name: "assistant" }';

export const checkCreateOptions = optionsCheck<CreateSessionOptions>(
  'create',
  {
    definition: mustBe.required({
      ...mustBe.object,
      expected: 'an object, as in definition: { name: "assistant" }',
    }),
    sessionId: mustBe.string,
    parentId: mustBe.string,
    expiry: mustBe.object,
  },
  {
    name: DEFINITION,
    agent: DEFINITION,
    agentName: DEFINITION,
    systemPrompt: 'the definition has it, as in definition: { name: "assistant", systemPrompt: "Be brief." }',
    metadata: 'the definition has it, as in definition: { name: "assistant", metadata: { user: "ada" } }',
    id: 'write "sessionId"',
    ttl: 'give an expiry, as in expiry: { afterSeconds: 3600 }',
  },
);

const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_MAX_ATTEMPTS = 5;
const DEFAULT_CACHE_BYTES = 64_000_000;

/** What all work of a runtime has in common. @throws RangeError or TypeError `ARGUMENT_INVALID` for an option that cannot be. */
export function workParts(options: SessionRuntimeOptions): WorkParts {
  const { store, agents, hooks = {}, onSessionEvent } = checkRuntimeOptions(options);
  checkHooks(hooks);
  checkAgents(agents);
  const listeners = onSessionEvent ? [onSessionEvent] : [];
  return {
    store,
    agents,
    hooks,
    report: (event) => announceTo(listeners, event),
    clock: options.clock ?? systemClock,
    savePolicy: options.savePolicy ?? 'each-effect',
    onSaveFailure: options.onSaveFailure ?? 'stop',
    leaseSeconds: options.leaseSeconds ?? DEFAULT_LEASE_SECONDS,
    maxAttempts: options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    cache: new SessionCache(options.cacheBytes ?? DEFAULT_CACHE_BYTES),
  };
}
