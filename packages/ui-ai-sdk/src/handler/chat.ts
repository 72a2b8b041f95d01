import {
  editMessage,
  hasErrorCode,
  regenerate,
  retry,
  type AgentDefinition,
  type AgentSession,
  type AgentState,
  type InboxContent,
  type Message,
  type SessionAction,
  type SessionRuntime,
} from '@holdfast/core';
import type { SessionView, SessionWatcher } from '@holdfast/core/channel';
import { executionIdOf, type ExecutionEngine } from '@holdfast/core/engine';
import type { InboxItem } from '@holdfast/core/store';
import { isSameValue } from '../json/is-same-value.ts';
import { messagesShownAs } from '../messages/message-ids.ts';
import { digestOf } from '../wire/digest.ts';
import { executionIdIn } from '../messages/execution-id.ts';
import { answeringActions, waitsForAny } from './answering-actions.ts';
import { ChatRequestError } from './request/chat-error.ts';
import type { ChatUser } from './chat-options.ts';
import { errorToRetry, isInProgress, type Summaries } from './chat-view.ts';
import type { DecisionRights } from './decision-rights.ts';
import type { ResponseTarget } from './followed-response.ts';
import { isShownWith } from './queued-messages.ts';
import type { ChatCommand, IncomingMessage, ShownMessage } from './request/incoming.ts';

type RegenerateCommand = Extract<ChatCommand, { readonly type: 'regenerate' }>;
type AnswerCommand = Extract<ChatCommand, { readonly type: 'answer' }>;

/** The parts of a handler that the chats of all users share. */
export interface ChatParts {
  readonly runtime: SessionRuntime;
  readonly engine: Pick<ExecutionEngine, 'wake'>;
  readonly watcher: SessionWatcher;
  readonly definitionOf: (chatId: string, user: ChatUser) => Promise<AgentDefinition>;
}

/** The names of a chat, its user, and the rights of the user. */
interface ChatInit {
  readonly sessionId: string;
  readonly chatId: string;
  readonly user: ChatUser;
  readonly rights: DecisionRights;
}

/** The time that a new response waits for the end of the one that it replaces. */
const STOP_TIMEOUT_MS = 15_000;
/** The time that it waits for the worker that still holds the session, before it looks at the session again. */
const CLAIM_TIMEOUT_SECONDS = 1;
/** The time until it looks at the session again, in which workers continue. */
const RETRY_PAUSE_MS = 50;

/** The number of executions whose facts a page loads. */
const SUMMARIES = 100;

/** A chat of one user: a session that workers advance. It changes the session, wakes the engine, and runs no agent. */
export class Chat {
  readonly sessionId: string;
  readonly rights: DecisionRights;
  private readonly chatId: string;
  private readonly user: ChatUser;
  private readonly parts: ChatParts;
  private readonly runtime: SessionRuntime;
  /** The session as it was found last: the views read only what was added since. */
  private found: AgentSession | undefined;

  constructor({ sessionId, chatId, user, rights }: ChatInit, parts: ChatParts) {
    this.sessionId = sessionId;
    this.rights = rights;
    this.chatId = chatId;
    this.user = user;
    this.parts = parts;
    this.runtime = parts.runtime.for(user.owner);
  }

  /** Does what the page asks for. The returned response is on its way, whatever happens to this process. */
  async perform(command: ChatCommand): Promise<ResponseTarget> {
    switch (command.type) {
      case 'send':
        await this.requireOwnId(command.message);
        return this.send(command.message, command.hasStream);
      case 'answer':
        return this.answer(command);
      case 'edit':
        await this.requireOwnId(command.message);
        return this.edit(command.message, command.replaces);
      case 'regenerate':
        return this.regenerate(command);
    }
  }

  /** Returns the session as it was last saved; `undefined` for a chat without a message. */
  async find(): Promise<AgentSession | undefined> {
    try {
      return (this.found = await this.runtime.get(this.sessionId));
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  /**
   * Returns the items that wait in the inbox; none for a chat without a message. Read them before the state: a worker moves
   * a message from the inbox to the state, and a request that reads the state first can miss it in both.
   */
  async inbox(): Promise<readonly InboxItem[]> {
    try {
      const { inbox } = await this.runtime.store.inspect(this.sessionId, { owner: this.user.owner });
      return inbox.inbox;
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_NOT_FOUND')) return [];
      throw error;
    }
  }

  /** Returns the views of the session, for its owner only. */
  views(signal?: AbortSignal): AsyncGenerator<SessionView, void, undefined> {
    const { sessionId, user, found: base } = this;
    return this.parts.watcher.watch(sessionId, { signal, owner: user.owner, base });
  }

  /** Returns the summaries of the newest executions, by id. */
  async executions(): Promise<Summaries> {
    const { executions } = await this.runtime.executions(this.sessionId, { limit: SUMMARIES });
    return new Map(executions.map((summary) => [summary.executionId, summary]));
  }

  /** Requests the end of the execution that responds to a message, or will respond to it. Returns false without one. */
  async stopResponseTo(messageId: string): Promise<boolean> {
    const waiting = await this.inbox();
    if (waiting.some(({ id }) => id === messageId)) return this.requestStop(undefined); // behind the message
    const state = (await this.find())?.state;
    const message = state && messageOf(state, messageId);
    const executionId = message && executionIdOf(message);
    return executionId !== undefined && this.stop(executionId);
  }

  /** Requests the end of an execution, or of the one in progress. Returns false without one. */
  async stop(named: string | undefined): Promise<boolean> {
    const waiting = await this.inbox();
    const state = (await this.find())?.state;
    if (state === undefined) return false;
    const active = state.hasActiveExecution ? state.executionId : undefined;
    const isNew = active === undefined && waiting.length > 0;
    if ((named ?? active) !== active || (active === undefined && !isNew)) return false;
    return this.requestStop(active);
  }

  private async requestStop(executionId: string | undefined): Promise<true> {
    const reason = 'The user stopped the response.';
    const content = { type: 'stop' as const, reason, ...(executionId !== undefined && { executionId }) };
    await this.runtime.enqueue(this.sessionId, content);
    await this.wake();
    return true;
  }

  /** Deletes the chat. Returns false when it did not exist. */
  delete(): Promise<boolean> {
    return this.runtime.delete(this.sessionId);
  }

  /** Copies the chat, up to a message of the page or as a whole. A copy up to a message of the user responds to it. */
  async fork(copy: string, messageId: string | undefined): Promise<void> {
    const { state } = await this.runtime.get(this.sessionId);
    const atMessage = messageId === undefined ? undefined : shownAs(state, messageId).at(-1)?.id;
    const place = atMessage === undefined ? {} : { atMessage, isDue: true }; // also if this process dies before the wake-up
    try {
      await this.runtime.fork(this.sessionId, { sessionId: copy, ...place });
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_CONFLICT')) throw chatExists(error);
      throw error;
    }
    await this.parts.engine.wake(copy);
  }

  /** Wakes a worker. The page repeats a request whose wake-up failed: what it sent waits in the session. */
  private async wake(): Promise<void> {
    try {
      await this.parts.engine.wake(this.sessionId);
    } catch (cause) {
      throw new ChatRequestError('CHAT_UNAVAILABLE', 'The workers cannot be reached. Try again.', { cause });
    }
  }

  /** Checks that a message of the user has no id of the agent's: a page would show both as one. */
  private async requireOwnId({ id }: IncomingMessage): Promise<void> {
    const state = (await this.find())?.state;
    if (state === undefined) return;
    const isOfAgent =
      executionIdIn(id) === state.executionId ||
      messagesShownAs(state, id).some(({ role }) => role !== 'user');
    if (isOfAgent)
      throw new ChatRequestError(
        'CHAT_REQUEST_INVALID',
        'A message of the agent has this id. Send another one.',
      );
  }

  private async send(message: IncomingMessage, hasStream: boolean): Promise<ResponseTarget> {
    const { id } = message;
    const isNew = await this.enqueue(itemOf(message), id);
    await this.retryWaiting();
    await this.wake();
    const gone = isNew || (await this.hasMessage(id)) ? undefined : await this.lastResponse();
    return gone ?? { type: 'message', messageId: id, hasStream };
  }

  /** Repeats an inference that waits for `retry()`: a user who sends another message tries again. */
  private async retryWaiting(): Promise<void> {
    const { state } = await this.runtime.get(this.sessionId);
    if (errorToRetry(state))
      await this.runtime.execute(this.sessionId, retry(), { steps: 'later', whenBusy: 'enqueue' });
  }

  /** Replaces a message, wherever it stands. A message in the inbox has no response yet. */
  private async edit(message: IncomingMessage, replaces: string | undefined): Promise<ResponseTarget> {
    const { id, content, metadata } = message;
    if (!(await this.isTaken(id)) && (await this.withdraw(id))) return this.send(message, false);
    const action = editMessage(id, content, metadata && { metadata });
    const isDone = (state: AgentState): boolean =>
      state.executionId !== replaces && isSameValue(messageOf(state, id)?.content, content);
    try {
      if (await this.hasMessage(id)) return await this.replace(action, isDone);
    } catch (error) {
      if (await this.hasMessage(id)) throw error;
    }
    const isNew = await this.enqueue(itemOf(message), id);
    if (isNew || (await this.hasMessage(id))) return this.send(message, false);
    // Another page has discarded the message. The session takes no message with its id again.
    return this.send({ ...message, id: editedId(message) }, false);
  }

  /** Removes a message from the inbox, unless a worker has read it. */
  private async withdraw(id: string): Promise<boolean> {
    return (await this.find()) !== undefined && this.runtime.removeItem(this.sessionId, id);
  }

  /** Enqueues a message, and creates the session for the first one. Returns false for a message that was sent before. */
  private async enqueue(item: InboxContent, id: string): Promise<boolean> {
    try {
      return await this.runtime.enqueue(this.sessionId, item, { id });
    } catch (error) {
      if (!hasErrorCode(error, 'SESSION_NOT_FOUND')) throw error;
    }
    await this.create();
    return this.runtime.enqueue(this.sessionId, item, { id });
  }

  /** True while a message waits in the inbox or stands in the saved state. */
  async hasMessage(id: string): Promise<boolean> {
    const waiting = await this.inbox();
    return waiting.some((item) => item.id === id) || this.isTaken(id);
  }

  /** True when the saved state has a message of the user as the page shows it. */
  private async hasShown({ id, parts }: ShownMessage): Promise<boolean> {
    const session = await this.find();
    const message = session && messageOf(session.state, id);
    return message !== undefined && isShownWith(message, parts);
  }

  /** True when the saved state has a message. */
  private async isTaken(id: string): Promise<boolean> {
    const session = await this.find();
    return session !== undefined && messageOf(session.state, id) !== undefined;
  }

  private async lastResponse(): Promise<ResponseTarget | undefined> {
    const { executionId } = (await this.runtime.get(this.sessionId)).state;
    return executionId === undefined ? undefined : { type: 'execution', executionId, isUnchanged: true };
  }

  /** Creates the session, unless another request has just done it. */
  private async create(): Promise<void> {
    const { sessionId, chatId, user } = this;
    const definition = await this.parts.definitionOf(chatId, user);
    try {
      await this.runtime.create({ sessionId, definition });
    } catch (error) {
      if (!hasErrorCode(error, 'SESSION_CONFLICT')) throw error;
    }
  }

  private async answer(command: AnswerCommand): Promise<ResponseTarget> {
    const { state } = await this.runtime.get(this.sessionId);
    const { executionId } = state;
    const actions = answeringActions(state, command, this.user);
    await this.rights.require(actions.filter(({ isDecision }) => isDecision).map(({ call }) => call));
    if (executionId === undefined) throw noResponse();
    if (actions.length === 0) return { type: 'execution', executionId, isUnchanged: true };
    try {
      for (const { action } of actions)
        await this.runtime.execute(this.sessionId, action, { steps: 'later', whenBusy: 'enqueue' });
    } finally {
      await this.wake(); // also for the first ones, when a later one is refused
    }
    const calls = actions.map(({ call }) => call);
    const isReady = (now: AgentState): boolean => now.executionId !== executionId || !waitsForAny(now, calls);
    return { type: 'execution', executionId, isReady };
  }

  private async regenerate({ messageId, replaces, last }: RegenerateCommand): Promise<ResponseTarget> {
    // The page has a message that the server has refused: it is sent again, and replaces no response.
    if (last && !(await this.hasShown(last)))
      return this.perform({ type: 'edit', message: last.read(), replaces });
    const { state } = await this.runtime.get(this.sessionId);
    const id = messageId === undefined ? undefined : shownAs(state, messageId)[0]?.id;
    const action = regenerate({ ...(id !== undefined && { messageId: id }) });
    // A response that failed before its first part replaces nothing.
    const isDone = (now: AgentState): boolean =>
      replaces !== undefined && now.executionId !== replaces && hasResponse(now);
    return this.replace(action, isDone);
  }

  /**
   * Begins another response in place of the last ones. An unfinished one is stopped first. `isDone` recognizes a request
   * that is repeated because its reply was lost, or that another page has sent too: its response is the response.
   * @throws ChatRequestError `CHAT_BUSY` when the unfinished one does not end.
   */
  private async replace(
    action: SessionAction,
    isDone: (state: AgentState) => boolean,
  ): Promise<ResponseTarget> {
    const signal = AbortSignal.timeout(STOP_TIMEOUT_MS);
    const options = { steps: 'later', whenBusy: 'refuse', waitSeconds: CLAIM_TIMEOUT_SECONDS } as const;
    // The other page's response may have come while this request waited for the claim.
    const unlessDone: SessionAction = (session, context) =>
      session.state.executionId !== undefined && isDone(session.state) ? session : action(session, context);
    for (let isRefused = false; !signal.aborted;) {
      const { state } = await this.runtime.get(this.sessionId);
      const { executionId } = state;
      if (executionId !== undefined && isDone(state)) return { type: 'execution', executionId };
      if (isRefused || isInProgress(state)) await this.end(executionId, signal);
      try {
        const begun = (await this.runtime.execute(this.sessionId, unlessDone, options)).state.executionId;
        await this.wake();
        if (begun === undefined) throw noResponse();
        return { type: 'execution', executionId: begun };
      } catch (error) {
        if (!hasErrorCode(error, 'EXECUTION_ACTIVE') && !hasErrorCode(error, 'SESSION_BUSY')) throw error;
        // Another request has begun an execution, a message waits for one, or a call of the last one is in doubt.
        isRefused = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
      }
    }
    throw new ChatRequestError('CHAT_BUSY', 'The response in progress does not end. Try again in a moment.');
  }

  /** Stops an execution, and waits for its end. */
  private async end(executionId: string | undefined, signal: AbortSignal): Promise<void> {
    if (!(await this.stop(executionId))) return;
    for await (const { session, isSaved } of this.views(signal)) {
      const { state } = session;
      if (isSaved && (!state.hasActiveExecution || state.executionId !== executionId)) return;
    }
  }
}

function itemOf({ content, metadata }: IncomingMessage): InboxContent {
  return { type: 'message', content, ...(metadata && { metadata }) };
}

/** Returns the same id for the same edit, so that a repeated request adds no second message. */
function editedId({ id, content }: IncomingMessage): string {
  const text = JSON.stringify(content);
  return `${id}:${digestOf([{ id, role: 'user', parts: [{ type: 'text', text }] }])}`;
}

function messageOf({ messages }: AgentState, id: string): Message | undefined {
  return messages.toArray().find((message) => message.id === id);
}

/** True when the last execution is in progress, or has added a message. */
function hasResponse(state: AgentState): boolean {
  const isOwn = (message: Message): boolean =>
    message.role !== 'user' && executionIdOf(message) === state.executionId;
  return isInProgress(state) || state.messages.toArray().some(isOwn);
}

function noResponse(): ChatRequestError {
  return new ChatRequestError('CHAT_CHANGED', 'This chat has no response. Load the messages again.');
}

/** Returns the messages of a state that the page shows as the named one. @throws ChatRequestError without one. */
function shownAs(state: AgentState, messageId: string): readonly Message[] {
  const messages = messagesShownAs(state, messageId);
  if (messages.length > 0) return messages;
  throw new ChatRequestError('CHAT_CHANGED', 'This message is not in the chat. Load the messages again.');
}

function chatExists(cause: unknown): ChatRequestError {
  return new ChatRequestError('CHAT_EXISTS', 'A chat with the id of the copy exists.', { cause });
}
