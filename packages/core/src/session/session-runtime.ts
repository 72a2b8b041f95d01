import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { describeValue, hasErrorCode, HoldfastError, invalidArgument } from '../errors.ts';
import type { AgentLoop, RunOptions } from '../loop/agent-loop.ts';
import { announceTo } from '../loop/events.ts';
import type { AgentDefinition } from '../state/agent-definition.ts';
import type { SessionAction } from './actions.ts';
import { AgentSession } from './session.ts';
import type { SessionInfo } from './session.ts';
import type { SessionConflictError } from './session-errors.ts';
import { SessionNotFoundError } from './session-errors.ts';
import type { SessionPage, SessionQuery, SessionStore } from './session-store.ts';

/**
 * Finds the code of a session's agent, in any process: by name, or by whatever the session says. What an `AgentBuilder`
 * builds is such a loop: `{ writer }`, or of the definition that each session was created with,
 * `({ definition }) => builder.build(definition)`.
 */
export type AgentCatalog =
  | Readonly<Record<string, AgentLoop>>
  | ((session: AgentSession) => AgentLoop | undefined);

/** What happened to a session, beside what happened in its agent's run. */
export type SessionEvent =
  | { readonly type: 'session-loaded' | 'session-saved'; readonly session: AgentSession }
  | {
      readonly type: 'session-conflict';
      readonly session: AgentSession;
      readonly error: SessionConflictError;
    }
  /** A hook threw after the session was stored. It is stored all the same. */
  | {
      readonly type: 'session-hook-failed';
      readonly session: AgentSession;
      readonly hook: 'afterCreate' | 'afterSave';
      readonly error: unknown;
    };

type Maybe<T> = T | undefined | void | Promise<T | undefined | void>;

/**
 * Takes part in what the runtime does with sessions. What a hook returns, a changed copy of the session that it was
 * given, takes the session's place and is kept. A hook that throws prevents the write that it stands before, and the
 * call rejects. `afterCreate` and `afterSave` prevent nothing: the store has written, the call goes on, and what they
 * throw is reported as the event `session-hook-failed`.
 */
export interface SessionHooks {
  beforeCreate?(session: AgentSession): Maybe<AgentSession>;
  afterCreate?(session: AgentSession): Maybe<void>;
  /** After every load. What it changes is stored by the next save, and causes none. */
  afterLoad?(session: AgentSession): Maybe<AgentSession>;
  /** After the action, before the last save. */
  afterAction?(session: AgentSession): Maybe<AgentSession>;
  /**
   * Before every save, and so once a step. A run whose state it changes goes on from the changed state, as a resumed run
   * does: hooks of the loop see `beforeExecution` again.
   */
  beforeSave?(session: AgentSession): Maybe<AgentSession>;
  /** After every save. The run waits for it. */
  afterSave?(session: AgentSession): Maybe<void>;
}

export interface SessionRuntimeOptions {
  readonly store: SessionStore;
  readonly agents: AgentCatalog;
  readonly hooks?: SessionHooks;
  /** Is told what happens to sessions. What it throws, at once or later, changes nothing. */
  readonly onSessionEvent?: (event: SessionEvent) => void;
  /** Time and ids of sessions and actions; default: the clock of the machine. The store and the loops have their own. */
  readonly clock?: Clock;
}

/** What is said about a session to be made. */
export interface CreateSessionOptions {
  readonly definition: AgentDefinition;
  /** Default: a UUID. */
  readonly sessionId?: string;
  readonly parentId?: string;
}

/**
 * Works on sessions in a store: loads one, lets an action change it, saves it. It keeps nothing of them between
 * calls; any number of processes may have one for the same store.
 *
 * @example
 * const runtime = new SessionRuntime({ store, agents: { assistant: loop } });
 * const { sessionId } = await runtime.create({ definition: { name: 'assistant' } });
 * const session = await runtime.execute(sessionId, sendMessage('Hello'));
 */
export class SessionRuntime {
  readonly store: SessionStore;
  private readonly agents: AgentCatalog;
  private readonly hooks: SessionHooks;
  private readonly report: (event: SessionEvent) => void;
  private readonly clock: Clock;

  constructor(options: SessionRuntimeOptions) {
    if (typeof options.store?.load !== 'function' || options.agents === undefined) {
      throw invalidArgument(
        'A session runtime needs a store and its agents: new SessionRuntime({ store, agents }).',
      );
    }
    this.store = options.store;
    this.agents = options.agents;
    this.hooks = options.hooks ?? {};
    const listeners = options.onSessionEvent ? [options.onSessionEvent] : [];
    this.report = (event) => announceTo(listeners, event);
    this.clock = options.clock ?? systemClock;
  }

  /** A new session. @throws SessionConflictError `exists` when the id is taken. */
  async create(options: CreateSessionOptions): Promise<AgentSession> {
    return this.createSession(AgentSession.create({ ...options, clock: this.clock }));
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

  /** Forgets a session; `false` when there was none. */
  delete(sessionId: string): Promise<boolean> {
    return this.store.delete(sessionId);
  }

  /**
   * Loads a session, lets the action change it, and saves what it returns, unless that is what was loaded or saved last.
   * @throws SessionNotFoundError; SessionConflictError when another writer was first: nothing of this action's last
   * save was kept, load and repeat it; what the action or a hook throws.
   */
  async execute(sessionId: string, action: SessionAction, options: RunOptions = {}): Promise<AgentSession> {
    if (typeof action !== 'function') {
      throw invalidArgument(
        `An action is a function, such as sendMessage("…"); found ${describeValue(action)}.`,
      );
    }
    let base = await this.load(sessionId);
    const loaded = await this.afterLoad(base);
    let latest = loaded;
    const save = async (changed: AgentSession): Promise<AgentSession> => {
      const session = (await this.hooks.beforeSave?.(changed)) ?? changed;
      base = await this.write(session, base);
      // The state that was written, not an equal one that the store read back: the run shares structure with it.
      latest = base.withState(session.state);
      await this.callAfter('afterSave', latest);
      return latest;
    };
    const { signal, onEvent } = options;
    const { clock } = this;
    const acted = await action(loaded, { loop: () => this.loopOf(loaded), save, clock, signal, onEvent });
    const session = (await this.hooks.afterAction?.(acted)) ?? acted;
    return session === latest ? latest : save(session);
  }

  /** A copy of a session under its own ids, ready for its next execution. The original is not touched. */
  async fork(sessionId: string, options: { readonly sessionId?: string } = {}): Promise<AgentSession> {
    const { definition, state, sessionId: forkedFrom } = await this.get(sessionId);
    const { clock } = this;
    const at = clock.now();
    const copy = state.forked({ at, clock });
    return this.createSession(
      AgentSession.create({ definition, state: copy, forkedFrom, sessionId: options.sessionId, at, clock }),
    );
  }

  private async createSession(created: AgentSession): Promise<AgentSession> {
    const session = (await this.hooks.beforeCreate?.(created)) ?? created;
    const stored = await this.store.create(session);
    this.report({ type: 'session-saved', session: stored });
    await this.callAfter('afterCreate', stored);
    return stored;
  }

  /** The session as the store has it. */
  private async load(sessionId: string): Promise<AgentSession> {
    const session = await this.store.load(sessionId);
    if (session === undefined) throw new SessionNotFoundError(sessionId);
    this.report({ type: 'session-loaded', session });
    return session;
  }

  private async afterLoad(stored: AgentSession): Promise<AgentSession> {
    return (await this.hooks.afterLoad?.(stored)) ?? stored;
  }

  private async write(session: AgentSession, base: AgentSession): Promise<AgentSession> {
    try {
      const saved = await this.store.save(session, { base, operationId: this.clock.newId() });
      this.report({ type: 'session-saved', session: saved });
      return saved;
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_CONFLICT')) {
        this.report({ type: 'session-conflict', session, error: error as SessionConflictError });
      }
      throw error;
    }
  }

  /** The store has written: whoever repeated the call, for what a hook throws now, would do all of it twice. */
  private async callAfter(hook: 'afterCreate' | 'afterSave', session: AgentSession): Promise<void> {
    try {
      await this.hooks[hook]?.(session);
    } catch (error) {
      this.report({ type: 'session-hook-failed', session, hook, error });
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
