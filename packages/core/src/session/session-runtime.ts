import { describeValue, hasErrorCode, invalidArgument } from '../errors.ts';
import type { SessionAction } from './actions.ts';
import { requireActive, resume } from './actions.ts';
import { carryOut, goOn } from './carry-out.ts';
import type { Advanced, AdvanceOptions } from './engine.ts';
import { outcomeOf } from './engine.ts';
import type { ForkOptions } from './fork.ts';
import { forkedAt } from './fork.ts';
import type { InboxContent } from './inbox.ts';
import { checkedContent, expectedState } from './inbox.ts';
import type { CreateSessionOptions, ExecuteOptions, SessionRuntimeOptions } from './runtime-options.ts';
import { checkedExecution, checkedOwnerName, workParts } from './runtime-options.ts';
import { actQuickly } from './quick-action.ts';
import { AgentSession } from './session.ts';
import type { SessionInfo } from './session-info.ts';
import type { SessionBusyError } from './session-errors.ts';
import { SessionNotFoundError } from './session-errors.ts';
import { afterWrite, hooked } from './session-events.ts';
import type { CreateOptions, SessionPage, SessionQuery, SessionStore } from './session-store.ts';
import { SessionWork } from './session-work.ts';
import { checkedCount } from './store-arguments.ts';
import { whenFree } from './when-free.ts';
import type { WorkParts } from './work-parts.ts';
import { newWriteToken } from './write-token.ts';

/**
 * Works on sessions in a store: claims one, lets an action change it, saves what comes of it on the way, and lets go. It
 * keeps nothing of them between calls but a cache; any number of processes may have one for the same store.
 *
 * @example
 * const runtime = new SessionRuntime({ store, agents: { assistant: loop } });
 * const { sessionId } = await runtime.create({ definition: { name: 'assistant' } });
 * const session = await runtime.execute(sessionId, sendMessage('Hello'));
 */
export class SessionRuntime {
  readonly store: SessionStore;
  private readonly parts: WorkParts;
  private readonly owner: string;

  /** @throws RangeError `ARGUMENT_INVALID` for an option that cannot be, and without a store or agents. */
  constructor(options: SessionRuntimeOptions) {
    this.parts = workParts(options);
    this.store = this.parts.store;
    this.owner = checkedOwnerName(options.owner);
  }

  /** A new session. @throws SessionConflictError `exists` when the id is taken. */
  async create(options: CreateSessionOptions): Promise<AgentSession> {
    const { expiry, ...init } = options;
    return this.createSession(AgentSession.create({ ...init, clock: this.parts.clock }), { expiry });
  }

  /** The session as it was saved last. @throws SessionNotFoundError when there is none. */
  async get(sessionId: string): Promise<AgentSession> {
    return hooked(this.parts.hooks, 'afterLoad', await this.load(sessionId));
  }

  /** What a list shows of the session. @throws SessionNotFoundError when there is none. */
  async info(sessionId: string): Promise<SessionInfo> {
    return (await this.get(sessionId)).info;
  }

  /** A page of sessions, newest first. */
  list(query?: SessionQuery): Promise<SessionPage> {
    return this.store.list(query);
  }

  /** Forgets a session; `false` when there was none. Whoever works on it finds out, and stops. */
  delete(sessionId: string): Promise<boolean> {
    this.parts.cache.remove(sessionId);
    return this.store.delete(sessionId);
  }

  /**
   * Claims a session, lets the action change it, and saves what it returns, unless that is what was loaded or saved
   * last. What has come into the inbox is used, before the action and after it.
   * @throws SessionNotFoundError; SessionBusyError while somebody else works on it; SessionConflictError when another
   * writer was first, or took the session over: nothing of the action's last save was kept; InboxFullError for a message
   * to a busy session; what the action, a hook or the store throws.
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
    const { signal } = options;
    const patience = { waitSeconds: checkedExecution(options), signal, clock: this.parts.clock };
    if (action.isQuick) {
      const act = async () => actQuickly(await this.load(sessionId), action, this.parts, signal);
      return whenFree(act, patience);
    }
    let work: SessionWork;
    try {
      work = await whenFree(() => this.begin(sessionId, signal), patience);
    } catch (error) {
      if (!hasErrorCode(error, 'SESSION_BUSY') || signal?.aborted) throw error;
      const left = await this.leave(sessionId, action, options, error as SessionBusyError);
      // Whoever was at work may be gone, and nobody would look into the inbox.
      const begun = await this.begin(sessionId, signal).catch(ignoreBusy);
      return begun ? carryOut(begun, resume(), options, this.parts) : left;
    }
    return carryOut(work, action, options, this.parts);
  }

  /** Leaves what an action can leave in the inbox. @throws why it could not be done, when it is not to be left. */
  private async leave(
    sessionId: string,
    { item }: SessionAction,
    { whenBusy }: ExecuteOptions,
    busy: SessionBusyError,
  ): Promise<AgentSession> {
    const isLeft = whenBusy ?? (item?.content.type === 'message' ? 'enqueue' : 'refuse');
    if (item === undefined || isLeft !== 'enqueue') throw busy;
    const session = await this.get(sessionId);
    requireActive(session);
    const { clock } = this.parts;
    const { id = clock.newId(), content } = item;
    await this.enqueue(sessionId, content, { id });
    const expected = { id, content: content as never, enqueuedAt: clock.now() };
    return session.withState(expectedState(session.state, expected, clock));
  }

  /**
   * Leaves something for whoever works on the session, or works on it next: a message, a decision, a request to stop. It
   * wakes nobody: tell the engine afterwards.
   * `false` when an item of that id was there before.
   * @throws SessionNotFoundError; InboxFullError; HoldfastError `NOT_JSON`; RangeError `ARGUMENT_INVALID` for what nobody
   * could use.
   */
  async enqueue(
    sessionId: string,
    content: InboxContent,
    options: { readonly id?: string | undefined } = {},
  ): Promise<boolean> {
    return this.store.enqueue(sessionId, {
      id: options.id ?? this.parts.clock.newId(),
      content: checkedContent(content) as never,
    });
  }

  /**
   * Works on a session as its state demands, for an engine: uses what is in its inbox, goes on with an unfinished
   * execution. An execution at which `maxAttempts` attempts in a row have failed is given up. `lost` when somebody else has
   * the session, `finished` when it is gone.
   * @throws RangeError `ARGUMENT_INVALID` for `maxSteps`; HoldfastError `AGENT_NOT_FOUND`, what hooks and the store throw.
   * The session stays due. When the agent had been let work, only once the claim has run out, and as an attempt that
   * failed: so that what is paid for and cannot be kept is not paid for again and again.
   */
  async advance(sessionId: string, options: AdvanceOptions = {}): Promise<Advanced> {
    if (options.maxSteps !== undefined) checkedCount('maxSteps', options.maxSteps);
    let work: SessionWork | undefined;
    try {
      const begun = (work = await this.begin(sessionId, options.signal, options.maxSteps));
      const session = await begun.untilIdle((next) => goOn(begun, next, this.parts));
      const outcome = outcomeOf(session);
      const { parentId } = session;
      return { outcome, wake: outcome.type === 'finished' && parentId !== undefined ? [parentId] : [] };
    } catch (error) {
      const isIgnored = await work?.ignoreTooLarge(error).catch(() => false);
      if (work?.hasRun) work.abandon();
      else await work?.end();
      if (isIgnored) return { outcome: { type: 'yield' }, wake: [] };
      if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return { outcome: { type: 'finished' }, wake: [] };
      const isLost = hasErrorCode(error, work ? 'SESSION_CONFLICT' : 'SESSION_BUSY');
      if (isLost) return { outcome: { type: 'lost' }, wake: [] };
      throw error;
    }
  }

  /**
   * A copy of a session under its own ids; the original is not touched. It is ready for its next execution; or
   * as the session was after a step, or after a message.
   * @throws RangeError `ARGUMENT_INVALID` for a step or a message that there is not.
   */
  async fork(sessionId: string, options: ForkOptions = {}): Promise<AgentSession> {
    const { definition, state, sessionId: forkedFrom } = await this.get(sessionId);
    const { clock } = this.parts;
    const copy = forkedAt(state, options, clock);
    const at = copy.createdAt;
    return this.createSession(
      AgentSession.create({ definition, state: copy, forkedFrom, sessionId: options.sessionId, at, clock }),
    );
  }

  private begin(sessionId: string, signal?: AbortSignal, maxSteps?: number): Promise<SessionWork> {
    // A process that was copied makes the same ids again, and must not be taken for the holder of the other's claim.
    const owner = `${this.owner}/${this.parts.clock.newId()}/${newWriteToken()}`;
    return SessionWork.begin(sessionId, owner, this.parts, { signal, maxSteps });
  }

  private async createSession(created: AgentSession, options?: CreateOptions): Promise<AgentSession> {
    const session = await hooked(this.parts.hooks, 'beforeCreate', created);
    const stored = await this.store.create(session, options);
    this.parts.cache.put(stored);
    this.parts.report({ type: 'session-saved', session: stored });
    await afterWrite(this.parts, 'afterCreate', stored);
    return stored;
  }

  /** The session as the store has it. */
  private async load(sessionId: string): Promise<AgentSession> {
    const { cache } = this.parts;
    const session = await this.store.load(sessionId, { base: cache.get(sessionId) });
    if (session === undefined) throw new SessionNotFoundError(sessionId);
    cache.put(session);
    this.parts.report({ type: 'session-loaded', session });
    return session;
  }
}

function ignoreBusy(error: unknown): undefined {
  if (!hasErrorCode(error, 'SESSION_BUSY')) throw error;
}
