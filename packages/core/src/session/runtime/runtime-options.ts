import { mustBe, optionsCheck } from '../../arguments.ts';
import type { SessionChannel } from '../../channel/session-channel.ts';
import { systemClock, type Clock } from '../../clock.ts';
import type { RunOptions } from '../../loop/run/loop-parts.ts';
import { announceTo, type AgentEventListener } from '../../loop/steps/events.ts';
import type { IfContextNeeded } from '../../loop/tools/run-context.ts';
import { noLane, type AdvanceParts } from '../work/advance-session.ts';
import { Agents, type AgentCatalog, type RunContextFactory } from '../work/agents.ts';
import type { Schedule } from '../engine/engine.ts';
import type { AgentSession, AgentSessionInit } from '../session.ts';
import { defaultCacheBytes, SessionCache, type CachedSessions } from '../claim/session-cache.ts';
import { checkHooks, type SessionEvent, type SessionHooks } from '../session-events.ts';
import { LABELS, OWNER, TITLE } from '../title-labels-owner.ts';
import type { SessionExpiry, SessionStore } from '../session-store.ts';
import { SAVE_POLICIES, type SavePolicy } from '../work/session-work.ts';
import { WorkSlots } from '../claim/work-slots.ts';
import { COUNT } from '../store/backend/store-arguments.ts';

/** Options of `SessionRuntime`. */
export interface SessionRuntimeOptions<Context = unknown> {
  readonly store: SessionStore;
  /** The loops of the agents whose sessions the runtime works on. */
  readonly agents: AgentCatalog<Context>;
  /**
   * Returns the run context for the work under one claim, from the session: the user, clients, secrets. The runtime calls
   * it before the agent first runs under the claim, in whichever process has the claim. An error that it throws is a
   * failure of work: `execute` rejects with it, and `advance` records it and tries again later.
   */
  readonly runContext?: RunContextFactory<NoInfer<Context>>;
  readonly hooks?: SessionHooks;
  /**
   * Receives the events of all runs of the runtime, with the session of each event as `event.session`. The runtime
   * ignores what it throws or rejects with.
   */
  readonly onEvent?: AgentEventListener;
  /**
   * Connects workers with readers and callers in other processes: work under a claim is published, and the worker that
   * holds a session is notified of inbox items. No run waits for the channel, and none fails because of it.
   */
  readonly channel?: SessionChannel;
  /** Receives session events. The runtime ignores what it throws or rejects with. */
  readonly onSessionEvent?: (event: SessionEvent) => void;
  /**
   * The source of the time and ids for sessions and actions. Default: the system clock. The store and the loops have
   * clocks of their own.
   */
  readonly clock?: Clock;
  /**
   * At which checkpoints the runtime saves. Default: `each-effect`, with which a crash neither drops nor repeats an
   * effect.
   */
  readonly savePolicy?: SavePolicy;
  /**
   * The reaction of a run when a save fails because the store is unavailable or throttled. `stop` (default) repeats the
   * save until the lease ends, and then ends the run, so that no work happens unsaved. `continue` continues the run
   * after three attempts, and saves at the next checkpoint.
   */
  readonly onSaveFailure?: 'stop' | 'continue';
  /**
   * The lease of a claim in seconds: how long other workers wait for a process that died. The heartbeat renews the
   * claim three times per lease. While the store does not reply, a save is repeated until the lease ends. Default: 30.
   */
  readonly leaseSeconds?: number;
  /**
   * Returns the lane, the priority and the group of a session, by which engines order and limit the work. Without a lane the
   * session has none, without a priority 0, and without a group its owner. `group: undefined`: no group.
   */
  readonly schedule?: (session: AgentSession) => Schedule;
  /**
   * The number of processes in a row that may die at one step of a session, while they work on no other session, before
   * its execution fails. Also the number of failures of work in a row before the session is a dead letter. Default: 5.
   */
  readonly maxAttempts?: number;
  /**
   * The bytes of the heap that cached sessions may take; the runtime estimates them, to about a quarter. The next claim
   * or load of a cached session reads only its record, unless another process has changed the content. Default: a
   * sixteenth of the limit of the heap, or 16,000,000 where the process does not know it; 0 turns the cache off.
   */
  readonly cacheBytes?: number;
  /** The beginning of every worker id of this runtime, such as the name of the host. Default: `holdfast`. */
  readonly workerName?: string;
}

/** The options of a runtime with `runContext`, which is required when the agents need a run context. */
export type RequireRunContext<Context> = IfContextNeeded<
  Context,
  { readonly runContext: RunContextFactory<NoInfer<Context>> },
  unknown
>;

/** Options of `SessionRuntime.create`. */
export interface CreateSessionOptions extends Pick<
  AgentSessionInit,
  'definition' | 'sessionId' | 'parentId' | 'title' | 'labels' | 'budget'
> {
  /** When the session expires. Default: the `expiry` option of the store. */
  readonly expiry?: SessionExpiry | undefined;
  /** The tenant or the user that the session belongs to: 1 to 1,000 characters. Default: the owner of the runtime. */
  readonly owner?: string | undefined;
}

/** Options of `SessionRuntime.execute`. */
export interface ExecuteOptions<Context = unknown> extends Pick<
  RunOptions<Context>,
  'signal' | 'onEvent' | 'runContext'
> {
  /**
   * The handling of a message, a cancel, a decision, an answer or a retry while another worker holds a claim. `enqueue`
   * (default for messages and `cancel()`) adds it to the inbox. The returned session then shows the state after the item
   * is used: with the message and without a response, or with the stop signal. `refuse` (default for other actions)
   * rejects with SessionBusyError.
   */
  readonly whenBusy?: 'enqueue' | 'refuse' | undefined;
  /**
   * How many seconds to wait for the worker that holds the claim, even if its process died, before the session counts
   * as busy. Default: 0. An aborted signal ends the wait.
   */
  readonly waitSeconds?: number | undefined;
  /**
   * The process in which the agent takes its steps. `here` (default): in this call. `later`: the call saves the session
   * with its work and releases it. Call `wake` of the engine afterwards. Only an execution that the action stops is ended
   * in this call.
   */
  readonly steps?: 'here' | 'later' | undefined;
}

/** The longest worker name: each claim appends ids to it, and the length of a worker id is limited. */
const MAX_NAME_LENGTH = 900;

const checkRuntimeOptions = optionsCheck<SessionRuntimeOptions>(
  'SessionRuntime',
  {
    store: mustBe.required(
      mustBe.objectWith('a session store, as in new SessionRuntime({ store, agents })', ['load', 'save']),
    ),
    agents: mustBe.required({
      expected: 'loops by name, or a function that returns a loop, as in agents: { assistant: loop }',
      accepts: (value) => typeof value === 'function' || mustBe.object.accepts(value),
    }),
    runContext: mustBe.function,
    hooks: mustBe.object,
    onEvent: mustBe.function,
    channel: mustBe.objectWith('a session channel, as in channel: new MemorySessionChannel()', [
      'publish',
      'notify',
    ]),
    onSessionEvent: mustBe.function,
    clock: mustBe.clock,
    savePolicy: mustBe.oneOf(SAVE_POLICIES),
    onSaveFailure: mustBe.oneOf(['stop', 'continue']),
    leaseSeconds: mustBe.seconds,
    maxAttempts: COUNT,
    schedule: mustBe.function,
    cacheBytes: mustBe.wholeNumber(0),
    workerName: mustBe.text(MAX_NAME_LENGTH),
  },
  {
    agent: 'pass agents by name, as in agents: { assistant: loop }',
    loop: 'pass loops by name, as in agents: { assistant: loop }',
    driver: 'pass it to a loop, as in agents: { assistant: createAgentLoop({ driver }) }',
    context:
      'use "runContext", a function from the session, as in runContext: ({ sessionId }) => clientsOf(sessionId)',
    engine:
      'pass the runtime to the engine, as in engine.serve((id, options) => runtime.advance(id, options))',
    expiry: 'pass it to the store, as in new MemorySessionStore({ expiry: { afterSeconds: 3600 } })',
  },
);

export const checkExecuteOptions = optionsCheck<ExecuteOptions>(
  'execute',
  {
    signal: mustBe.signal,
    onEvent: mustBe.function,
    runContext: mustBe.anything,
    whenBusy: mustBe.oneOf(['enqueue', 'refuse']),
    steps: mustBe.oneOf(['here', 'later']),
    waitSeconds: {
      expected: 'a number of seconds of at least 0',
      accepts: (value) => value === 0 || mustBe.seconds.accepts(value),
      type: 'number',
    },
  },
  {
    abortSignal: 'use "signal"',
    context: 'use "runContext"',
    maxSteps: 'pass it to the loop, as in createAgentLoop({ driver, budget: { maxSteps: 5 } })',
    budget: 'pass it to the loop, as in createAgentLoop({ driver, budget: { maxSteps: 5 } })',
    timeout: 'pass seconds, as in waitSeconds: 30',
  },
);

const DEFINITION = 'pass a definition, as in definition: { name: "assistant" }';

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
    owner: OWNER,
    title: TITLE,
    labels: LABELS,
    budget: mustBe.object,
  },
  {
    name: DEFINITION,
    agent: DEFINITION,
    agentName: DEFINITION,
    systemPrompt:
      'pass it in the definition, as in definition: { name: "assistant", systemPrompt: "Be brief." }',
    metadata: 'pass it in the definition, as in definition: { name: "assistant", metadata: { user: "ada" } }',
    id: 'use "sessionId"',
    ttl: 'pass an expiry, as in expiry: { afterSeconds: 3600 }',
    userId: 'use "owner"',
    tenant: 'use "owner"',
    tags: 'use "labels", as in labels: { channel: "mail" }',
  },
);

const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_MAX_ATTEMPTS = 5;

export interface RuntimeParts extends AdvanceParts {
  readonly cache: CachedSessions;
  /** The beginning of its worker ids. */
  readonly workerName: string;
}

const PARTS = Symbol('the parts of a runtime');

interface OptionsFromParts extends SessionRuntimeOptions {
  readonly [PARTS]?: RuntimeParts;
}

/** Returns options that carry the parts of another runtime. The constructor uses these parts as they are. */
export function optionsFrom(parts: RuntimeParts): OptionsFromParts {
  return { store: parts.store, agents: {}, [PARTS]: parts };
}

/**
 * Returns the parts of a runtime.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid option.
 */
export function runtimeParts<Context>(options: SessionRuntimeOptions<Context>): RuntimeParts;
export function runtimeParts(options: OptionsFromParts): RuntimeParts {
  const { store, agents, hooks = {}, onSessionEvent, [PARTS]: parts } = checkRuntimeOptions(options);
  if (parts) return parts;
  checkHooks(hooks);
  const listeners = onSessionEvent ? [onSessionEvent] : [];
  return {
    store,
    relatives: store,
    owner: undefined,
    agents: new Agents(agents, options.runContext),
    hooks,
    onEvent: options.onEvent,
    channel: options.channel,
    report: (event) => announceTo(listeners, event),
    clock: options.clock ?? systemClock,
    savePolicy: options.savePolicy ?? 'each-effect',
    onSaveFailure: options.onSaveFailure ?? 'stop',
    leaseSeconds: options.leaseSeconds ?? DEFAULT_LEASE_SECONDS,
    maxAttempts: options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    schedule: options.schedule ?? noLane,
    cache: new SessionCache(options.cacheBytes ?? defaultCacheBytes()),
    slots: new WorkSlots(),
    workerName: options.workerName ?? 'holdfast',
  };
}
