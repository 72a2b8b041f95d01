import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { describeValue, HoldfastError, invalidArgument } from '../errors.ts';
import type { AgentLoop, RunOptions } from '../loop/agent-loop.ts';
import type { AgentDefinition } from '../state/agent-definition.ts';
import type { ActionContext, SessionAction } from './actions.ts';
import { AgentSession } from './session.ts';
import type { SessionInfo } from './session.ts';
import type { SessionPage, SessionQuery, SessionStore } from './session-store.ts';
import { SessionConflictError, SessionNotFoundError } from './session-store.ts';

/** Finds the code of a session's agent, in any process: by name, or by whatever the session says. */
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
    };

type Maybe<T> = T | undefined | void | Promise<T | undefined | void>;

/** Takes part in what the runtime does with sessions. What a hook returns takes the session's place. */
export interface SessionHooks {
  beforeCreate?(session: AgentSession): Maybe<AgentSession>;
  afterCreate?(session: AgentSession): Maybe<void>;
  afterLoad?(session: AgentSession): Maybe<AgentSession>;
  /** After the action, before the last save. */
  afterAction?(session: AgentSession): Maybe<AgentSession>;
  beforeSave?(session: AgentSession): Maybe<AgentSession>;
  afterSave?(session: AgentSession): Maybe<void>;
}

export interface SessionRuntimeOptions {
  readonly store: SessionStore;
  readonly agents: AgentCatalog;
  readonly hooks?: SessionHooks;
  /** Is told what happens to sessions. What it throws changes nothing. */
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
    this.report = harmless(options.onSessionEvent);
    this.clock = options.clock ?? systemClock;
  }

  /** A new session. @throws SessionConflictError `exists` when the id is taken. */
  async create(options: CreateSessionOptions): Promise<AgentSession> {
    return this.createSession(AgentSession.create({ ...options, clock: this.clock }));
  }

  /** @throws SessionNotFoundError when there is none. */
  async get(sessionId: string): Promise<AgentSession> {
    const session = await this.store.load(sessionId);
    if (session === undefined) throw new SessionNotFoundError(sessionId);
    this.report({ type: 'session-loaded', session });
    return (await this.hooks.afterLoad?.(session)) ?? session;
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
   * Loads a session, lets the action change it, and saves what it returns.
   * @throws SessionNotFoundError; SessionConflictError when another writer was first: nothing of this action's last
   * save was kept, load and repeat it; what the action throws.
   */
  async execute(sessionId: string, action: SessionAction, options: RunOptions = {}): Promise<AgentSession> {
    if (typeof action !== 'function') {
      throw invalidArgument(
        `An action is a function, such as sendMessage("…"); found ${describeValue(action)}.`,
      );
    }
    const loaded = await this.get(sessionId);
    let saved = loaded;
    const context: ActionContext = {
      loop: () => this.loopOf(loaded),
      save: async (session) => (saved = await this.save(session, saved)),
      clock: this.clock,
      signal: options.signal,
      onEvent: options.onEvent,
    };
    const acted = await action(loaded, context);
    const session = (await this.hooks.afterAction?.(acted)) ?? acted;
    return session === saved ? saved : this.save(session, saved);
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
    await this.hooks.afterCreate?.(stored);
    return stored;
  }

  private async save(changed: AgentSession, base: AgentSession): Promise<AgentSession> {
    const session = (await this.hooks.beforeSave?.(changed)) ?? changed;
    try {
      const saved = await this.store.save(session, { base, operationId: this.clock.newId() });
      this.report({ type: 'session-saved', session: saved });
      await this.hooks.afterSave?.(saved);
      return saved;
    } catch (error) {
      if (error instanceof SessionConflictError) this.report({ type: 'session-conflict', session, error });
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

function harmless(report: ((event: SessionEvent) => void) | undefined): (event: SessionEvent) => void {
  return (event) => {
    try {
      report?.(event);
    } catch {
      // A listener's error changes nothing.
    }
  };
}
