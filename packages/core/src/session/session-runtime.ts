import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { describeValue, hasErrorCode, HoldfastError, invalidArgument } from '../errors.ts';
import type { AgentLoop, RunOptions } from '../loop/agent-loop.ts';
import { announceTo } from '../loop/events.ts';
import type { AgentDefinition } from '../state/agent-definition.ts';
import type { SessionAction } from './actions.ts';
import { requireActive } from './actions.ts';
import { withAttemptsExhausted } from './attempts.ts';
import { withChildrenEnded } from './children.ts';
import type { Advanced, AdvanceOptions } from './engine.ts';
import { outcomeOf } from './engine.ts';
import { forkedAtStep } from './fork.ts';
import type { InboxContent } from './inbox.ts';
import { AgentSession } from './session.ts';
import type { SessionInfo } from './session.ts';
import type { SessionConflictError } from './session-errors.ts';
import { SessionNotFoundError } from './session-errors.ts';
import type { SessionEvent, SessionHooks } from './session-events.ts';
import { afterWrite } from './session-events.ts';
import type { SessionPage, SessionQuery, SessionStore } from './session-store.ts';
import type { SavePolicy, WorkParts } from './session-work.ts';
import { SessionWork } from './session-work.ts';
import { checkedSeconds } from './store-arguments.ts';

/**
 * Finds the code of a session's agent, in any process: by name, or by whatever the session says. What an `AgentBuilder`
 * builds is such a loop: `{ writer }`, or of the definition that each session was created with,
 * `({ definition }) => builder.build(definition)`.
 */
export type AgentCatalog =
  | Readonly<Record<string, AgentLoop>>
  | ((session: AgentSession) => AgentLoop | undefined);

export interface SessionRuntimeOptions {
  readonly store: SessionStore;
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
  /** How many processes in a row may die over one step before the execution fails; default 5. */
  readonly maxAttempts?: number;
  /** What claims of this runtime are named after, such as the host; default `holdfast`. */
  readonly owner?: string;
}

/** What is said about a session to be made. */
export interface CreateSessionOptions {
  readonly definition: AgentDefinition;
  /** Default: a UUID. */
  readonly sessionId?: string;
  readonly parentId?: string;
}

export interface ExecuteOptions extends Pick<RunOptions, 'signal' | 'onEvent'> {
  /**
   * What becomes of a message or a decision while somebody else works on the session: it is left in the inbox
   * (`enqueue`, the default for messages), and the session comes back as it is; or SessionBusyError (`refuse`).
   */
  readonly whenBusy?: 'enqueue' | 'refuse' | undefined;
}

const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_MAX_ATTEMPTS = 5;

/**
 * Works on sessions in a store: claims one, lets an action change it, saves what comes of it on the way, and lets go. It
 * keeps nothing of them between calls; any number of processes may have one for the same store.
 *
 * @example
 * const runtime = new SessionRuntime({ store, agents: { assistant: loop } });
 * const { sessionId } = await runtime.create({ definition: { name: 'assistant' } });
 * const session = await runtime.execute(sessionId, sendMessage('Hello'));
 */
export class SessionRuntime {
  readonly store: SessionStore;
  private readonly agents: AgentCatalog;
  private readonly parts: WorkParts;
  private readonly maxAttempts: number;
  private readonly owner: string;

  constructor(options: SessionRuntimeOptions) {
    const { store, agents, maxAttempts = DEFAULT_MAX_ATTEMPTS } = options;
    if (typeof store?.load !== 'function' || agents === undefined) {
      throw invalidArgument(
        'A session runtime needs a store and its agents: new SessionRuntime({ store, agents }).',
      );
    }
    if (!(maxAttempts >= 1)) {
      throw invalidArgument(`maxAttempts must be at least 1, found ${describeValue(maxAttempts)}.`);
    }
    this.store = store;
    this.agents = agents;
    this.maxAttempts = maxAttempts;
    this.owner = options.owner ?? 'holdfast';
    const listeners = options.onSessionEvent ? [options.onSessionEvent] : [];
    this.parts = {
      store,
      hooks: options.hooks ?? {},
      report: (event) => announceTo(listeners, event),
      clock: options.clock ?? systemClock,
      savePolicy: options.savePolicy ?? 'each-effect',
      onSaveFailure: options.onSaveFailure ?? 'stop',
      leaseSeconds: checkedSeconds('leaseSeconds', options.leaseSeconds ?? DEFAULT_LEASE_SECONDS),
    };
  }

  /** A new session. @throws SessionConflictError `exists` when the id is taken. */
  async create(options: CreateSessionOptions): Promise<AgentSession> {
    return this.createSession(AgentSession.create({ ...options, clock: this.parts.clock }));
  }

  /** @throws SessionNotFoundError when there is none. */
  async get(sessionId: string): Promise<AgentSession> {
    return this.afterLoad(await this.load(sessionId));
  }

  /** @throws SessionNotFoundError when there is none. */
  async info(sessionId: string): Promise<SessionInfo> {
    return (await this.get(sessionId)).info;
  }

  /** A page of sessions, newest first. */
  list(query?: SessionQuery): Promise<SessionPage> {
    return this.store.list(query);
  }

  /** Forgets a session; `false` when there was none. Whoever works on it finds out, and stops. */
  delete(sessionId: string): Promise<boolean> {
    return this.store.delete(sessionId);
  }

  /**
   * Claims a session, lets the action change it, and saves what it returns, unless that is what was loaded or saved
   * last. What has come into the inbox is used, before the action and after it.
   * @throws SessionNotFoundError; SessionBusyError while somebody else works on it; SessionConflictError when another
   * writer was first, or took the session over: nothing of the action's last save was kept; what the action, a hook or
   * the store throws.
   */
  async execute(
    sessionId: string,
    action: SessionAction,
    options: ExecuteOptions = {},
  ): Promise<AgentSession> {
    if (typeof action !== 'function') {
      throw invalidArgument(
        `An action is a function, such as sendMessage("…"); found ${describeValue(action)}.`,
      );
    }
    if (action.isQuick) return this.executeQuickly(sessionId, action, options);
    try {
      const work = await this.begin(sessionId, options.signal);
      return await this.carryOut(work, action, options);
    } catch (error) {
      const { item } = action;
      const isEnqueued = options.whenBusy ?? (item?.content.type === 'message' ? 'enqueue' : 'refuse');
      if (!hasErrorCode(error, 'SESSION_BUSY') || item === undefined || isEnqueued !== 'enqueue') throw error;
      const session = await this.get(sessionId);
      requireActive(session);
      await this.enqueue(sessionId, item.content, item);
      return session;
    }
  }

  /**
   * Leaves something for whoever works on the session, or works on it next: a message, a decision, a request to stop.
   * `false` when an item of that id was there before.
   * @throws SessionNotFoundError; HoldfastError `NOT_JSON`.
   */
  enqueue(
    sessionId: string,
    content: InboxContent,
    options: { readonly id?: string | undefined } = {},
  ): Promise<boolean> {
    return this.store.enqueue(sessionId, {
      id: options.id ?? this.parts.clock.newId(),
      content: content as never,
    });
  }

  /**
   * Works on a session as its state demands, for an engine: uses what is in its inbox, goes on with an unfinished
   * execution. An execution over which `maxAttempts` processes have died in a row fails.
   * @throws what the store throws; HoldfastError `AGENT_NOT_FOUND`. The claim then runs out by itself.
   */
  async advance(sessionId: string, options: AdvanceOptions = {}): Promise<Advanced> {
    let work: SessionWork;
    try {
      work = await this.begin(sessionId, options.signal, options.maxSteps);
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_BUSY')) return { outcome: { type: 'lost' }, wake: [] };
      if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return { outcome: { type: 'finished' }, wake: [] };
      throw error;
    }
    try {
      const session = await work.untilIdle((next) => this.work(work, next, {}));
      const outcome = outcomeOf(session);
      const { parentId } = session;
      return { outcome, wake: outcome.type === 'finished' && parentId !== undefined ? [parentId] : [] };
    } catch (error) {
      work.abandon();
      if (hasErrorCode(error, 'SESSION_CONFLICT')) return { outcome: { type: 'lost' }, wake: [] };
      throw error;
    }
  }

  /**
   * A copy of a session under its own ids; the original is not touched. It is ready for its next execution, or with
   * `atStep` as it was after so many finished steps of the last one, to go on from there with `resume()`.
   * @throws RangeError `ARGUMENT_INVALID` for a step that was not taken.
   */
  async fork(
    sessionId: string,
    options: { readonly sessionId?: string; readonly atStep?: number } = {},
  ): Promise<AgentSession> {
    const { definition, state, sessionId: forkedFrom } = await this.get(sessionId);
    const { clock } = this.parts;
    const { atStep } = options;
    const copy = atStep === undefined ? state.forked({ clock }) : forkedAtStep(state, atStep, clock);
    const at = copy.createdAt;
    return this.createSession(
      AgentSession.create({ definition, state: copy, forkedFrom, sessionId: options.sessionId, at, clock }),
    );
  }

  private begin(sessionId: string, signal?: AbortSignal, maxSteps?: number): Promise<SessionWork> {
    const owner = `${this.owner}/${this.parts.clock.newId()}`;
    return SessionWork.begin(sessionId, owner, this.parts, { signal, maxSteps });
  }

  private async carryOut(
    work: SessionWork,
    action: SessionAction,
    { onEvent, signal }: ExecuteOptions,
  ): Promise<AgentSession> {
    const run = (session: AgentSession): Promise<AgentSession> =>
      work.run(session, (begun) => this.loopOf(begun), onEvent);
    const context = {
      run,
      save: (session: AgentSession) => work.save(session),
      clock: this.parts.clock,
      signal,
    };
    try {
      const acted = await action(await this.begun(work), context);
      const session = (await this.parts.hooks.afterAction?.(acted)) ?? acted;
      if (session !== work.latest) await work.save(session);
      return await work.untilIdle((next) => this.work(work, next, { onEvent }), work.latest);
    } catch (error) {
      await work.end();
      throw error;
    }
  }

  /** What an advance does: what is in the inbox, and whatever the state asks for. */
  private async work(
    work: SessionWork,
    session: AgentSession,
    { onEvent }: ExecuteOptions,
  ): Promise<AgentSession> {
    const ready = session === work.latest ? await this.begun(work) : session;
    if (ready.status === 'active' && ready.state.hasActiveExecution)
      return work.run(ready, (begun) => this.loopOf(begun), onEvent);
    return ready === work.latest ? ready : work.save(ready);
  }

  /** The session as it is taken up: with what has come in, and failed when too many have died over it. */
  private async begun(work: SessionWork): Promise<AgentSession> {
    const mailed = work.withMail(work.latest);
    const { clock } = this.parts;
    const session = mailed.withState(await withChildrenEnded(mailed.state, this.store, clock.now()));
    if (work.attempt <= this.maxAttempts || !session.state.hasActiveExecution) return session;
    return session.withState(withAttemptsExhausted(session.state, this.maxAttempts, clock));
  }

  private async executeQuickly(
    sessionId: string,
    action: SessionAction,
    { signal }: ExecuteOptions,
  ): Promise<AgentSession> {
    const base = await this.load(sessionId);
    const loaded = await this.afterLoad(base);
    const { clock, hooks } = this.parts;
    const refuse = (): never => {
      throw invalidArgument('A quick action neither runs the agent nor saves by itself.');
    };
    const acted = await action(loaded, { run: refuse, save: refuse, clock, signal });
    const changed = (await hooks.afterAction?.(acted)) ?? acted;
    if (changed === loaded) return loaded;
    const session = (await hooks.beforeSave?.(changed)) ?? changed;
    const saved = await this.write(session, base);
    await afterWrite(this.parts, 'afterSave', saved);
    return saved;
  }

  private async createSession(created: AgentSession): Promise<AgentSession> {
    const session = (await this.parts.hooks.beforeCreate?.(created)) ?? created;
    const stored = await this.store.create(session);
    this.parts.report({ type: 'session-saved', session: stored });
    await afterWrite(this.parts, 'afterCreate', stored);
    return stored;
  }
  /** The session as the store has it. */
  private async load(sessionId: string): Promise<AgentSession> {
    const session = await this.store.load(sessionId);
    if (session === undefined) throw new SessionNotFoundError(sessionId);
    this.parts.report({ type: 'session-loaded', session });
    return session;
  }

  private async afterLoad(stored: AgentSession): Promise<AgentSession> {
    return (await this.parts.hooks.afterLoad?.(stored)) ?? stored;
  }

  private async write(session: AgentSession, base: AgentSession): Promise<AgentSession> {
    try {
      const saved = await this.store.save(session, { base, operationId: this.parts.clock.newId() });
      this.parts.report({ type: 'session-saved', session: saved });
      return saved;
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_CONFLICT')) {
        this.parts.report({ type: 'session-conflict', session, error: error as SessionConflictError });
      }
      throw error;
    }
  }

  private loopOf(session: AgentSession): AgentLoop {
    const { agents } = this;
    const isByName = typeof agents !== 'function';
    const loop = isByName
      ? Object.hasOwn(agents, session.agentName)
        ? agents[session.agentName]
        : undefined
      : agents(session);
    if (loop) return loop;
    const known = isByName ? ` Known agents: ${Object.keys(agents).join(', ') || 'none'}.` : '';
    throw new HoldfastError(
      'AGENT_NOT_FOUND',
      `There is no agent "${session.agentName}" in the catalog.${known}`,
    );
  }
}
