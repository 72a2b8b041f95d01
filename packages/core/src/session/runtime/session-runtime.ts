import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { hasErrorCode } from '../../errors.ts';
import { bytesOf, toJsonValue } from '../../json.ts';
import { requireActive, resume, type SessionAction } from '../actions/actions.ts';
import type { AdvanceResult, AdvanceOptions } from '../engine/engine.ts';
import { checkForkOptions, forkState, revisionGone, type ForkOptions } from '../actions/fork.ts';
import { checkedContent, expectedState, reserveOf, type InboxContent } from '../actions/inbox-content.ts';
import {
  checkCreateOptions,
  checkExecuteOptions,
  optionsFrom,
  runtimeParts,
  type CreateSessionOptions,
  type ExecuteOptions,
  type RequireRunContext,
  type RuntimeParts,
  type SessionRuntimeOptions,
} from './runtime-options.ts';
import { executeQuickAction } from './quick-action.ts';
import { AgentSession } from '../session.ts';
import type { ListedSession } from '../session-info.ts';
import { SessionNotFoundError, SessionTooLargeError, type SessionBusyError } from '../session-errors.ts';
import { callHookAfterWrite, callSessionHook, requireSession } from '../session-events.ts';
import type { SessionDirectory } from '../session-directory.ts';
import type { CreateOptions, SessionPage, SessionQuery, SessionStore } from '../session-store.ts';
import type { ExecutionPage, PageQuery, RevisionPage } from '../session-pages.ts';
import { announceWorker, type AnnounceOptions } from './announce.ts';
import { ownedParts } from './owned-store.ts';
import { loopOf, toolFactsOf, type InspectedSession } from './tool-facts.ts';
import { advanceSession, nextOf, noLane } from '../work/advance-session.ts';
import { HeldSession, retryWhileBusy } from '../claim/held-session.ts';
import { continueExecution, SessionWork, type SessionTask } from '../work/session-work.ts';
import { checkPageQuery, COUNT } from '../store/backend/store-arguments.ts';
import { notifyWorker } from '../work/notify-worker.ts';
import { newWriteToken } from '../store/record/write-token.ts';

const ACTION = { ...mustBe.function, expected: 'a function, such as sendMessage("Hello")' };

const checkEnqueueOptions = optionsCheck<{ readonly id?: string | undefined }>(
  'enqueue',
  { id: mustBe.string },
  { metadata: 'pass it in the content, as in { type: "message", content, metadata }' },
);
const checkAdvanceOptions = optionsCheck<AdvanceOptions>('advance', {
  signal: mustBe.signal,
  maxSteps: COUNT,
  suspects: mustBe.oneOf(['alone', 'refuse']),
  route: mustBe.oneOf(['lane', 'group', 'lane-and-group']),
  onEvent: mustBe.function,
});

/**
 * Works on sessions in a store: it claims a session, executes an action, saves during and after the action, and
 * releases the claim. Between calls it holds only a cache, so any number of processes can work on the same store.
 * `Context` is the type of the run context that the agents need.
 *
 * @example
 * const runtime = new SessionRuntime({ store, agents: { assistant: loop } });
 * const { sessionId } = await runtime.create({ definition: { name: 'assistant' } });
 * const session = await runtime.execute(sessionId, sendMessage('Hello'));
 */
export class SessionRuntime<Context = unknown> {
  readonly store: SessionStore;
  private readonly parts: RuntimeParts;

  /**
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option, an invalid value, or missing `store` or
   * `agents`.
   */
  constructor(options: SessionRuntimeOptions<Context> & RequireRunContext<Context>) {
    this.parts = runtimeParts(options);
    this.store = this.parts.store;
  }

  /**
   * Returns a runtime for the sessions of one owner, such as the customer whose request it handles. It creates sessions of
   * this owner. For all its calls, the session of another owner does not exist. It shares the cache of this runtime.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid owner, and for another owner than that of this
   * runtime.
   */
  for(owner: string): SessionRuntime<Context> {
    return new SessionRuntime(optionsFrom({ ...this.parts, ...ownedParts(this.parts, owner) }));
  }

  /**
   * Creates a session and returns it.
   * @throws SessionConflictError `exists` when the id is taken; RangeError or TypeError `ARGUMENT_INVALID` for an
   * unknown option or an invalid value; HoldfastError `CONTEXT_INVALID` for an invalid definition; SessionNotFoundError
   * from the runtime of one owner, for a parent that this owner does not have.
   */
  async create(options: CreateSessionOptions): Promise<AgentSession> {
    const { expiry, ...init } = checkCreateOptions(options);
    const { clock } = this.parts;
    const { owner = this.parts.owner } = init;
    return this.createSession(AgentSession.create({ ...init, owner, clock }), { expiry });
  }

  /** Returns the session as it was last saved. @throws SessionNotFoundError when it does not exist. */
  async get(sessionId: string): Promise<AgentSession> {
    return callSessionHook(this.parts.hooks, 'afterLoad', await this.load(sessionId));
  }

  /**
   * Returns the facts about a session that lists show, without reading its content: no hook is called.
   * @throws SessionNotFoundError when it does not exist.
   */
  async info(sessionId: string): Promise<ListedSession> {
    return (await this.store.inspect(sessionId)).info;
  }

  /**
   * Returns a page of sessions, newest first.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid query.
   */
  list(query?: SessionQuery): Promise<SessionPage> {
    return this.store.list(query);
  }

  /**
   * Returns a page of the executions that a session has had, newest first, with what each of them used.
   * @throws SessionNotFoundError; RangeError or TypeError `ARGUMENT_INVALID` for an invalid query.
   */
  async executions(sessionId: string, query: PageQuery = {}): Promise<ExecutionPage> {
    const base = this.parts.cache.get(sessionId);
    return this.store.executions(sessionId, { ...checkPageQuery(query), base });
  }

  /**
   * Returns a page of the revisions of a session that `fork` can copy, newest first. Earlier ones than the last are kept
   * when the store has the option `keptRevisions`.
   * @throws SessionNotFoundError; RangeError or TypeError `ARGUMENT_INVALID` for an invalid query.
   */
  revisions(sessionId: string, query?: PageQuery): Promise<RevisionPage> {
    return this.store.revisions(sessionId, query);
  }

  /**
   * Returns the facts about a session that no other call shows: who holds its claim, what waits in its inbox, when it is
   * due, how large it is, and the tools of its agent. It changes nothing, and needs no claim.
   * @throws SessionNotFoundError
   */
  async inspect(sessionId: string): Promise<InspectedSession> {
    const { agents } = this.parts;
    const inspected = await this.store.inspect(sessionId);
    const loop = agents.areNamed
      ? agents.named(inspected.info.agentName)
      : loopOf(await this.load(sessionId), agents);
    return Object.freeze({ ...inspected, tools: loop && toolFactsOf(loop) });
  }

  /**
   * Removes an item from the inbox of a session, such as a message that its user takes back. Returns `false` when no item
   * with this id waits, and when a worker has read it.
   * @throws SessionNotFoundError
   */
  removeItem(sessionId: string, itemId: string): Promise<boolean> {
    return this.store.removeItem(sessionId, itemId);
  }

  /**
   * Announces this process in a directory, which is the store of the runtime, so that `store.workers()` lists it with the
   * sessions that it works on, under the `workerName` of the runtime and a random token. Returns a function that ends the
   * announcements.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid option; what the store throws the first time.
   */
  announce(directory: SessionDirectory, options: AnnounceOptions = {}): Promise<() => Promise<void>> {
    return announceWorker(directory, options, this.parts);
  }

  /**
   * Deletes a session; returns `false` when it did not exist. A worker at work on it stops at its next save or
   * heartbeat.
   */
  delete(sessionId: string): Promise<boolean> {
    this.parts.cache.remove(sessionId);
    return this.store.delete(sessionId);
  }

  /**
   * Claims a session, executes the action, and saves the returned session unless it is the session last loaded or
   * saved. The worker uses inbox items before and after the action. `execute` returns the session as it was right after
   * the caller's own action, even if the worker then also responded to enqueued messages.
   * @throws SessionNotFoundError when the session does not exist; SessionBusyError while another worker holds a claim.
   * @throws SessionConflictError when another writer saved first or another worker has claimed the session. The last
   * save of the action was then not done.
   * @throws InboxFullError for a message to a busy session; what the action, a hook or the store throws.
   */
  async execute(
    sessionId: string,
    action: SessionAction,
    options: ExecuteOptions<Context> = {},
  ): Promise<AgentSession> {
    checkArgument('An action', action, ACTION);
    const { signal, waitSeconds = 0 } = checkExecuteOptions(options);
    const waiting = { waitSeconds, signal, clock: this.parts.clock };
    if (action.isQuick) {
      const act = this.actOf(action);
      const once = async () => executeQuickAction(await this.load(sessionId), act, this.parts, signal);
      return retryWhileBusy(once, waiting);
    }
    const task = this.taskOf(action, options);
    let held: HeldSession;
    try {
      held = await retryWhileBusy(() => HeldSession.claim(sessionId, task, this.parts), waiting);
    } catch (error) {
      if (!isBusy(error) || signal?.aborted) throw error;
      return this.enqueueInstead(sessionId, action, options, error);
    }
    return (await new SessionWork(held, task, this.parts).do()).session;
  }

  /** Returns the function that executes an action and its hook. */
  private actOf(action: SessionAction): SessionAction {
    const { hooks } = this.parts;
    return async (session, context) => {
      const returned = requireSession(await action(session, context), session, 'An action');
      return callSessionHook(hooks, 'afterAction', returned);
    };
  }

  private taskOf(action: SessionAction, options: ExecuteOptions): SessionTask {
    const { signal, onEvent, runContext, steps } = options;
    return {
      act: this.actOf(action),
      workerId: this.newWorkerId(),
      suspects: 'accept',
      isStepsLater: steps === 'later',
      signal,
      onEvent,
      runContext,
    };
  }

  /**
   * Enqueues the item of an action on a busy session.
   * @throws SessionBusyError when the action must not be enqueued.
   */
  private async enqueueInstead(
    sessionId: string,
    { item }: SessionAction,
    options: ExecuteOptions,
    busy: SessionBusyError,
  ): Promise<AgentSession> {
    const choice = options.whenBusy ?? (isEnqueuedByDefault(item) ? 'enqueue' : 'refuse');
    if (item === undefined || choice !== 'enqueue') throw busy;
    const session = await this.get(sessionId);
    requireActive(session);
    const { clock, agents } = this.parts;
    const { id = clock.newId(), content } = item;
    await this.enqueue(sessionId, content, { id });
    const enqueued = { id, content: toJsonValue(content), enqueuedAt: clock.now() };
    const expected = session.withState(
      await expectedState(session.state, enqueued, { clock, loop: () => agents.loop(session) }),
    );
    // The worker that held the session may have died, and then no other worker would read the inbox.
    const task = this.taskOf(resume(), options);
    if (task.isStepsLater) return expected;
    const held = await HeldSession.claim(sessionId, task, this.parts).catch(undefinedIfBusy);
    return held ? (await new SessionWork(held, task, this.parts).do()).session : expected;
  }

  /**
   * Adds an item to the inbox of a session: a message, a decision, an answer, a retry or a request to stop. The worker at
   * work or the next one uses it. With a channel, the worker at work is notified at once. `enqueue` wakes no other worker: call
   * `wake` of the engine afterwards. Returns `false` when an item with this id waits or was among the last used ones. A
   * full inbox refuses messages. It holds each other item once, at most 100 of them beyond its limit, and always a stop
   * without `executionId`.
   * @throws SessionNotFoundError; InboxFullError; SessionTooLargeError for a message that the store could not save;
   * HoldfastError `NOT_JSON`; RangeError or TypeError `ARGUMENT_INVALID` for content that no worker could use.
   */
  async enqueue(
    sessionId: string,
    content: InboxContent,
    options: { readonly id?: string | undefined } = {},
  ): Promise<boolean> {
    const { channel } = this.parts;
    const id = checkEnqueueOptions(options).id ?? this.parts.clock.newId();
    const item = { id, content: toJsonValue(checkedContent(content)) };
    requireRoomFor(sessionId, content, this.store.capabilities.maxValueBytes);
    const isNew = await this.store.enqueue(sessionId, item, { reserve: reserveOf(content) });
    if (channel) await notifyWorker(channel, sessionId, { id, content });
    return isNew;
  }

  /**
   * Works on a session as its state demands, for an engine: uses its inbox and continues an unfinished execution. After
   * `maxAttempts` processes in a row died while they worked on the session alone, the execution fails.
   *
   * An error outside of the execution, such as `AGENT_NOT_FOUND`, one of a hook or a save that the store refuses, is
   * recorded with the session and returned as `error`. The session is tried again after a pause that grows; after
   * `maxAttempts` failures it is a dead letter, which `list({ waitingFor: 'retry' })` shows with its error and `retry()`
   * revives.
   * The runtime of one owner works on the sessions of this owner only, and returns `SESSION_NOT_FOUND` as the `error` for
   * any other. For an engine that wakes the sessions of all owners, serve the `advance` of the runtime itself.
   * @throws RangeError `ARGUMENT_INVALID` for `maxSteps`; what the store throws when it is unreachable: a session that was
   * claimed is then due when its claim expires.
   */
  async advance(sessionId: string, options: AdvanceOptions = {}): Promise<AdvanceResult> {
    checkAdvanceOptions(options);
    const { signal, maxSteps, suspects = 'alone', route, onEvent } = options;
    const next = await this.routeTo(sessionId, route);
    if (next) return { outcome: { type: 'yield' }, wake: [], next };
    const limits = { suspects, signal, maxSteps, onEvent };
    const task = { act: continueExecution, isRetried: true, workerId: this.newWorkerId(), ...limits };
    return advanceSession(sessionId, task, this.parts);
  }

  /**
   * Creates a copy of a session under new ids, and returns it; the original does not change. The copy is ready for its
   * next execution, or it is the session as it was after a step, at a message or at an earlier version. Its execution
   * waits until a call acts on it, unless `isDue` is true.
   * @throws SessionNotFoundError when the session does not exist; HoldfastError `REVISION_NOT_FOUND` when the store no
   * longer has the version; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option, step or message.
   */
  async fork(sessionId: string, options: ForkOptions = {}): Promise<AgentSession> {
    checkForkOptions(options);
    const original = await this.originalOf(sessionId, options);
    const { definition, owner, title, labels, budget, state, sessionId: forkedFrom } = original;
    const { clock } = this.parts;
    const copy = forkState(state, options, clock);
    const [at, facts] = [copy.createdAt, { definition, owner, title, labels, budget }];
    const ids = { forkedFrom, sessionId: options.sessionId };
    const awaitsResume = copy.hasActiveExecution && options.isDue !== true;
    return this.createSession(
      AgentSession.create({ ...facts, ...ids, state: copy, awaitsResume, at, clock }),
    );
  }

  private async originalOf(sessionId: string, { atVersion }: ForkOptions): Promise<AgentSession> {
    if (atVersion === undefined) return this.get(sessionId);
    const session = await this.store.loadRevision(sessionId, atVersion);
    if (session) return callSessionHook(this.parts.hooks, 'afterLoad', session);
    await this.load(sessionId); // a missing session has an error of its own
    throw revisionGone(sessionId, atVersion);
  }

  /** Returns a new worker id. A copied process creates the same ids again, so the worker id contains a random token. */
  private newWorkerId(): string {
    const { workerName, clock } = this.parts;
    return `${workerName}/${clock.newId()}/${newWriteToken()}`;
  }

  private async createSession(created: AgentSession, options?: CreateOptions): Promise<AgentSession> {
    const { hooks } = this.parts;
    const begun = await callSessionHook(hooks, 'beforeCreate', created);
    const session = await callSessionHook(hooks, 'beforeSave', begun);
    const stored = await this.store.create(session, options);
    this.parts.cache.put(stored);
    this.parts.report({ type: 'session-saved', session: stored });
    await callHookAfterWrite(this.parts, 'afterSave', stored);
    await callHookAfterWrite(this.parts, 'afterCreate', stored);
    return stored;
  }

  /**
   * Returns the schedule of a session that has a lane or a group that the engine does not know. `undefined` for another
   * session, and for a session that fails to load: then the work reports the error.
   */
  private async routeTo(sessionId: string, route: AdvanceOptions['route']): Promise<AdvanceResult['next']> {
    const hasNoLane = this.parts.schedule === noLane;
    if (route === undefined || (route === 'lane' && hasNoLane)) return undefined;
    const next = await this.get(sessionId)
      .then((session) => nextOf(session, this.parts))
      .catch(() => undefined);
    const isLaneNews = route !== 'group' && next?.lane !== undefined;
    const isGroupNews = route !== 'lane' && next?.group !== undefined;
    return isLaneNews || isGroupNews ? next : undefined;
  }

  private async load(sessionId: string): Promise<AgentSession> {
    const { cache } = this.parts;
    const session = await this.store.load(sessionId, { base: cache.get(sessionId) });
    if (session === undefined) throw new SessionNotFoundError(sessionId);
    cache.put(session);
    this.parts.report({ type: 'session-loaded', session });
    return session;
  }
}

function isEnqueuedByDefault(item: SessionAction['item']): boolean {
  return item?.content.type === 'message' || item?.content.type === 'stop';
}

function isBusy(error: unknown): error is SessionBusyError {
  return hasErrorCode(error, 'SESSION_BUSY');
}

function undefinedIfBusy(error: unknown): undefined {
  if (!isBusy(error)) throw error;
}

/** The bytes of a saved message besides its content: its id, its times and its tags. */
const ENVELOPE_BYTES = 1_024;

/** @throws SessionTooLargeError for a message that would make each later save fail. */
function requireRoomFor(sessionId: string, content: InboxContent, maxValueBytes: number | undefined): void {
  if (maxValueBytes === undefined || content.type !== 'message') return;
  const bytes = bytesOf(JSON.stringify(content)) + ENVELOPE_BYTES;
  if (bytes > maxValueBytes) throw new SessionTooLargeError(sessionId, bytes, maxValueBytes);
}
