import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { hasErrorCode } from '../../errors.ts';
import type { SessionAction } from '../actions/actions.ts';
import { requireActive, resume } from '../actions/actions.ts';
import type { AdvanceResult, AdvanceOptions } from '../engine/engine.ts';
import { advanceOutcomeOf } from '../engine/engine.ts';
import type { ForkOptions } from '../actions/fork.ts';
import { checkForkOptions, forkState } from '../actions/fork.ts';
import type { InboxContent } from '../actions/inbox-content.ts';
import { checkedContent, expectedState } from '../actions/inbox-content.ts';
import type { CreateSessionOptions, ExecuteOptions, SessionRuntimeOptions } from './runtime-options.ts';
import { checkCreateOptions, checkExecuteOptions, workParts } from './runtime-options.ts';
import { executeQuickAction } from './quick-action.ts';
import { AgentSession } from '../session.ts';
import type { SessionInfo } from '../session-info.ts';
import type { SessionBusyError } from '../session-errors.ts';
import { SessionNotFoundError } from '../session-errors.ts';
import { callHookAfterWrite, callSessionHook, requireSession } from './session-events.ts';
import type { CreateOptions, SessionPage, SessionQuery, SessionStore } from '../session-store.ts';
import { HeldSession } from './held-session.ts';
import { continueExecution, workOn } from './session-work.ts';
import type { SessionTask } from './session-work.ts';
import { COUNT } from '../store/store-arguments.ts';
import { retryWhileBusy } from './retry-while-busy.ts';
import type { WorkParts } from './runtime-options.ts';
import { newWriteToken } from '../store/write-token.ts';

const ACTION = { ...mustBe.function, expected: 'a function, such as sendMessage("Hello")' };

const checkEnqueueOptions = optionsCheck<{ readonly id?: string | undefined }>(
  'enqueue',
  { id: mustBe.string },
  { metadata: 'the content has it, as in { type: "message", content, metadata }' },
);
const checkAdvanceOptions = optionsCheck<AdvanceOptions>('advance', {
  signal: mustBe.signal,
  maxSteps: COUNT,
});

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
  private readonly workerName: string;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit, and without a store or agents. */
  constructor(options: SessionRuntimeOptions) {
    this.parts = workParts(options);
    this.store = this.parts.store;
    this.workerName = options.workerName ?? 'holdfast';
  }

  /**
   * A new session.
   * @throws SessionConflictError `exists` when the id is taken; RangeError or TypeError `ARGUMENT_INVALID` for an unknown
   * option or a value that does not fit; HoldfastError `CONTEXT_INVALID` for a definition that does not fit.
   */
  async create(options: CreateSessionOptions): Promise<AgentSession> {
    const { expiry, ...init } = checkCreateOptions(options);
    return this.createSession(AgentSession.create({ ...init, clock: this.parts.clock }), { expiry });
  }

  /** The session as it was saved last. @throws SessionNotFoundError when there is none. */
  async get(sessionId: string): Promise<AgentSession> {
    return callSessionHook(this.parts.hooks, 'afterLoad', await this.load(sessionId));
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
    checkArgument('An action', action, ACTION);
    const { signal, waitSeconds = 0 } = checkExecuteOptions(options);
    const waiting = { waitSeconds, signal, clock: this.parts.clock };
    if (action.isQuick) {
      const act = async () => executeQuickAction(await this.load(sessionId), action, this.parts, signal);
      return retryWhileBusy(act, waiting);
    }
    const task = this.taskOf(action, options);
    let held: HeldSession;
    try {
      held = await retryWhileBusy(() => HeldSession.claim(sessionId, task, this.parts), waiting);
    } catch (error) {
      if (!isBusy(error) || signal?.aborted) throw error;
      return this.enqueueInstead(sessionId, action, options, error);
    }
    return (await workOn(held, task, this.parts)).session;
  }

  private taskOf(action: SessionAction, { signal, onEvent }: ExecuteOptions): SessionTask {
    const { clock, hooks } = this.parts;
    const act: SessionTask['act'] = async (session, { run, save }) => {
      const actionResult = await action(session, { run, save, clock, signal });
      return callSessionHook(hooks, 'afterAction', requireSession(actionResult, 'An action'));
    };
    return { act, workerId: this.newWorkerId(), signal, onEvent };
  }

  /** Enqueues the item of an action on a busy session. @throws the error, when the action is not to be enqueued. */
  private async enqueueInstead(
    sessionId: string,
    { item }: SessionAction,
    options: ExecuteOptions,
    busy: SessionBusyError,
  ): Promise<AgentSession> {
    const choice = options.whenBusy ?? (item?.content.type === 'message' ? 'enqueue' : 'refuse');
    if (item === undefined || choice !== 'enqueue') throw busy;
    const session = await this.get(sessionId);
    requireActive(session);
    const { clock } = this.parts;
    const { id = clock.newId(), content } = item;
    await this.enqueue(sessionId, content, { id });
    const enqueued = { id, content: content as never, enqueuedAt: clock.now() };
    const expected = session.withState(expectedState(session.state, enqueued, clock));
    // The worker that held the session may have died, and then no other worker would read the inbox.
    const task = this.taskOf(resume(), options);
    const held = await HeldSession.claim(sessionId, task, this.parts).catch(undefinedIfBusy);
    return held ? (await workOn(held, task, this.parts)).session : expected;
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
      id: checkEnqueueOptions(options).id ?? this.parts.clock.newId(),
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
  async advance(sessionId: string, options: AdvanceOptions = {}): Promise<AdvanceResult> {
    checkAdvanceOptions(options);
    const { signal, maxSteps } = options;
    const act: SessionTask['act'] = (session, { run }) => continueExecution(session, run);
    const task = { act, isRetried: true, workerId: this.newWorkerId(), signal, maxSteps };
    let held: HeldSession | undefined;
    try {
      held = await HeldSession.claim(sessionId, task, this.parts);
      const { released, hasMore } = await workOn(held, task, this.parts);
      const outcome = hasMore ? ({ type: 'yield' } as const) : advanceOutcomeOf(released);
      const { parentId } = released;
      return { outcome, wake: outcome.type === 'finished' && parentId !== undefined ? [parentId] : [] };
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return { outcome: { type: 'finished' }, wake: [] };
      const isLost = hasErrorCode(error, held ? 'SESSION_CONFLICT' : 'SESSION_BUSY');
      if (isLost) return { outcome: { type: 'lost' }, wake: [] };
      throw error;
    }
  }

  /**
   * A copy of a session under its own ids; the original is not touched. It is ready for its next execution; or
   * as the session was after a step, or after a message.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option, and a step or a message that does not exist.
   */
  async fork(sessionId: string, options: ForkOptions = {}): Promise<AgentSession> {
    checkForkOptions(options);
    const { definition, state, sessionId: forkedFrom } = await this.get(sessionId);
    const { clock } = this.parts;
    const copy = forkState(state, options, clock);
    const at = copy.createdAt;
    return this.createSession(
      AgentSession.create({ definition, state: copy, forkedFrom, sessionId: options.sessionId, at, clock }),
    );
  }

  /** Names one claim. A process that was copied makes the same ids again, so a random token is part of the name. */
  private newWorkerId(): string {
    return `${this.workerName}/${this.parts.clock.newId()}/${newWriteToken()}`;
  }

  private async createSession(created: AgentSession, options?: CreateOptions): Promise<AgentSession> {
    const { hooks } = this.parts;
    const session = await callSessionHook(
      hooks,
      'beforeSave',
      await callSessionHook(hooks, 'beforeCreate', created),
    );
    const stored = await this.store.create(session, options);
    this.parts.cache.put(stored);
    this.parts.report({ type: 'session-saved', session: stored });
    await callHookAfterWrite(this.parts, 'afterSave', stored);
    await callHookAfterWrite(this.parts, 'afterCreate', stored);
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

function isBusy(error: unknown): error is SessionBusyError {
  return hasErrorCode(error, 'SESSION_BUSY');
}

function undefinedIfBusy(error: unknown): undefined {
  if (!isBusy(error)) throw error;
}
