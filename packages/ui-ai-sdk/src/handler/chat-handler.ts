import {
  agentDefinition,
  systemClock,
  type AgentDefinition,
  type AgentState,
  type Clock,
} from '@holdfast/core';
import type { UIMessage } from 'ai';
import { SessionWatcher, type SessionView } from '@holdfast/core/channel';
import { executionIdIn } from '../messages/execution-id.ts';
import { contentDigestOf, digestOf } from '../wire/digest.ts';
import type { ChatVersion } from '../wire/response-event.ts';
import { serverSentEvent, EVENT_STREAM_HEADERS } from '../wire/server-sent-events.ts';
import { Chat, type ChatParts } from './chat.ts';
import { CHAT_STATUS, ChatRequestError, errorResponse, toChatError } from './request/chat-error.ts';
import { checkOptions, type ChatHandlerOptions, type ChatName, type ChatUser } from './chat-options.ts';
import {
  errorToRetry,
  hasFailed,
  isInProgress,
  messageOfExecution,
  messagesOfViews,
  type MessagesOf,
} from './chat-view.ts';
import { DecisionRights, DecisionRule } from './decision-rights.ts';
import { followResponse, type ResponseTarget } from './followed-response.ts';
import { isId, optionalId, readCommand, type ChatCommand } from './request/incoming.ts';
import { checkOrigin, corsHeaders, preflightResponse } from './request/origins.ts';
import { mountedRequest, segmentsBehind, type MountedRequest } from './request/mount.ts';
import { checkLimits, DEFAULT_LIMITS, type Limits } from './request/chat-limits.ts';
import { OwnerUsage } from './request/owner-usage.ts';
import { queuedMessages } from './queued-messages.ts';
import { readBody } from './request/request-body.ts';
import { responseStream, type ResponseFormat } from './response-stream.ts';
import { textStream } from './text-stream.ts';

/** A request to a chat. */
interface ChatRequest {
  readonly request: Request;
  readonly url: URL;
  readonly user: ChatUser;
  readonly mounted: MountedRequest;
  readonly chat: Chat;
}

/** The most characters of a query: the id of a message, as a URL writes it. */
const LONGEST_QUERY = 4_000;

type Serve = (handler: Handler, chatRequest: ChatRequest) => Promise<Response>;

/** The functions that serve each kind of request, by method and the path behind the id of the chat. */
const ROUTES: Readonly<Record<string, Serve>> = {
  'GET ': (handler, chat) => handler.showMessages(chat),
  'DELETE ': (handler, chat) => handler.delete(chat),
  'GET stream': (handler, chat) => handler.resumeStream(chat),
  'GET watch': (handler, chat) => handler.watch(chat),
  'POST stop': (handler, chat) => handler.stop(chat),
  'POST fork': (handler, chat) => handler.fork(chat),
};

/**
 * Returns the HTTP handler of chats, from a `Request` to a `Response`. A message is in the inbox of its session, and the
 * engine is woken, before the response begins; an agent runs where the engine has workers. Any process can serve any
 * request.
 *
 * | request | response |
 * |---|---|
 * | `POST /api/chat` | takes a message, decisions, answers, an edit or a regeneration; streams the response |
 * | `GET /api/chat/ID` | the messages |
 * | `GET /api/chat/ID/stream` | the response in progress, from its beginning; status 204 without one |
 * | `GET /api/chat/ID/stream?message=ID` | the response with this id, or to this message of the user, also after its end |
 * | `GET /api/chat/ID/watch` | a stream of versions, for pages that are idle; status 204 before the first message |
 * | `POST /api/chat/ID/stop` | stops the response in progress |
 * | `POST /api/chat/ID/fork` | copies the chat |
 * | `DELETE /api/chat/ID` | deletes the chat |
 *
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
 */
export function chatHandler<User extends ChatUser>(
  options: ChatHandlerOptions<User>,
): (request: Request, connection?: unknown) => Promise<Response> {
  const handler = new Handler(checkOptions(options));
  return (request, connection) => handler.serve(request, mountedRequest(connection));
}

class Handler {
  private readonly options: ChatHandlerOptions;
  private readonly path: string;
  private readonly origins: readonly string[];
  private readonly limits: Limits;
  private readonly clock: Clock;
  private readonly usage: OwnerUsage;
  private readonly rule: DecisionRule;
  private readonly messagesOf: MessagesOf;
  private readonly parts: ChatParts;

  constructor(options: ChatHandlerOptions) {
    const { runtime, engine, channel, clock = systemClock, messages = {}, limits = {} } = options;
    this.options = options;
    this.path = (options.path ?? '/api/chat').replace(/\/$/, '');
    this.origins = options.allowedOrigins ?? [];
    this.limits = { ...DEFAULT_LIMITS, ...checkLimits(limits) };
    this.clock = clock;
    this.usage = new OwnerUsage(this.limits, clock);
    this.rule = new DecisionRule(options);
    this.messagesOf = messagesOfViews(messages);
    const watcher = new SessionWatcher({ store: runtime.store, channel, clock });
    const definitionOf = (chatId: string, user: ChatUser) =>
      definitionFor({ owner: user.owner, chatId }, options);
    this.parts = { runtime, engine, watcher, definitionOf };
  }

  async serve(request: Request, mounted: MountedRequest): Promise<Response> {
    const cors = corsHeaders(request, this.origins);
    if (request.method === 'OPTIONS') return preflightResponse(request, cors);
    const response = await this.respond(request, mounted).catch((error: unknown) =>
      this.failure(error, request),
    );
    return withHeaders(response, cors);
  }

  private async respond(request: Request, mounted: MountedRequest): Promise<Response> {
    checkOrigin(request, this.origins);
    const url = new URL(request.url);
    const segments = segmentsBehind(this.path, url, mounted);
    if (!segments) throw new ChatRequestError('CHAT_NOT_FOUND', `The chat is served at ${this.path}.`);
    const [named, action, ...rest] = segments;
    const user = await this.options.authorize(request);
    if (user === undefined) throw new ChatRequestError('CHAT_UNAUTHORIZED', 'Sign in to use the chat.');
    this.usage.countRequest(user.owner, request.method);
    if (named === undefined) {
      if (request.method !== 'POST') throw unknownMethod();
      return this.send({ request, url, user, mounted });
    }
    const serve = ROUTES[`${request.method} ${action ?? ''}`];
    if (serve === undefined || rest.length > 0) throw unknownMethod();
    return serve(this, { request, url, user, mounted, chat: this.chat(named, user, request) });
  }

  private failure(error: unknown, request: Request): Response {
    if (error instanceof Response) return error;
    const chatError = toChatError(error);
    if (CHAT_STATUS[chatError.code] >= 500) this.options.onError?.(chatError.cause ?? error, request);
    return errorResponse(chatError);
  }

  private chat(chatId: unknown, user: ChatUser, request: Request): Chat {
    if (!isId(chatId))
      throw new ChatRequestError('CHAT_REQUEST_INVALID', 'A chat has an id of 1 to 200 characters.');
    const { sessionIdOf = defaultSessionId, onError } = this.options;
    const sessionId = sessionIdOf({ owner: user.owner, chatId });
    const rights = new DecisionRights(this.rule, user, sessionId, (error) => onError?.(error, request));
    return new Chat({ sessionId, chatId, user, rights }, this.parts);
  }

  // Requests

  private async send({ request, url, user, mounted }: Omit<ChatRequest, 'chat'>): Promise<Response> {
    const body = await readBody(request, mounted, this.limits.bodyBytes);
    const chat = this.chat(body['id'], user, request);
    const { acceptsFileUrl } = this.options;
    const command = readCommand(body, {
      acceptsFileUrl: (fileUrl) => acceptsFileUrl?.(fileUrl, user) ?? false,
      values: this.limits.values,
    });
    const leave = this.usage.openStream(user.owner);
    try {
      const continued = command.type === 'answer' ? await this.continued(chat, command, url) : undefined;
      const target = await chat.perform(command);
      return this.stream({ request, url, chat }, target, leave, continued);
    } catch (error) {
      leave();
      throw error;
    }
  }

  async showMessages({ chat }: ChatRequest): Promise<Response> {
    const waiting = await chat.inbox();
    const view = (await chat.find()) && (await firstView(chat));
    if (view === undefined) return shownMessages({ messages: [], version: 0, isAtWork: false });
    const { state, version } = view.session;
    const queued = queuedMessages(waiting, state);
    const known = this.messagesOf(view, await chat.executions());
    const messages = [...(await shownTo(chat, known, state)), ...queued];
    const isBusy = queued.length > 0 || isInProgress(state);
    const isFailed = !isBusy && hasFailed(state);
    return shownMessages({
      messages,
      version,
      isAtWork: isBusy,
      ...(isFailed && { failedId: state.executionId }),
    });
  }

  async resumeStream({ request, url, user, chat }: ChatRequest): Promise<Response> {
    if (url.search.length > LONGEST_QUERY)
      throw new ChatRequestError(
        'CHAT_REQUEST_INVALID',
        `The query has more than ${LONGEST_QUERY} characters.`,
      );
    const named = optionalId({ message: url.searchParams.get('message') }, 'message');
    const target = await openResponse(chat, named);
    if (target === undefined) return new Response(null, { status: 204 });
    return this.stream({ request, url, chat }, target, this.usage.openStream(user.owner));
  }

  async watch({ request, user, chat }: ChatRequest): Promise<Response> {
    // Not an error: a page watches its chat before the first message, and browsers log each error.
    if ((await chat.find()) === undefined) return new Response(null, { status: 204 });
    const onEnd = this.usage.openStream(user.owner);
    const versions = versionTexts(chat.views(request.signal), this.messagesOf);
    return textStream(versions, EVENT_STREAM_HEADERS, { clock: this.clock, onEnd });
  }

  async stop({ request, mounted, chat }: ChatRequest): Promise<Response> {
    const body = await readBody(request, mounted, this.limits.bodyBytes);
    const messageId = optionalId(body, 'messageId');
    const executionId = messageId === undefined ? undefined : executionIdIn(messageId);
    const sentId = optionalId(body, 'sentId');
    const isStopping = await (sentId === undefined ? chat.stop(executionId) : chat.stopResponseTo(sentId));
    return Response.json({ isStopping });
  }

  async fork({ request, mounted, chat, user }: ChatRequest): Promise<Response> {
    const body = await readBody(request, mounted, this.limits.bodyBytes);
    const copy = this.chat(body['chatId'], user, request);
    await chat.fork(copy.sessionId, optionalId(body, 'messageId'));
    return Response.json({ chatId: body['chatId'] }, { status: 201 });
  }

  async delete({ chat }: ChatRequest): Promise<Response> {
    return Response.json({ isDeleted: await chat.delete() });
  }

  // Streams

  /** Returns the message from which a response leads on: for events, that of the server if the page has the same. */
  private async continued(
    chat: Chat,
    { continued, known }: Extract<ChatCommand, { readonly type: 'answer' }>,
    url: URL,
  ): Promise<UIMessage | undefined> {
    if (formatOf(url) === 'chunks') return continued;
    const session = known === undefined ? undefined : await chat.find();
    if (session === undefined) return undefined;
    const messages = this.messagesOf({ session, partial: undefined, isSaved: true });
    const found = messages.find(({ id }) => id === continued.id);
    const message = found && (await chat.rights.shown(found, session.state));
    return message && contentDigestOf(message) === known ? message : undefined;
  }

  private stream(
    { request, url, chat }: Pick<ChatRequest, 'request' | 'url' | 'chat'>,
    target: ResponseTarget,
    onEnd: () => void,
    continued?: UIMessage,
  ): Response {
    const { clock, messagesOf } = this;
    const { describeFailure = failureWithCode, onError } = this.options;
    const describe = (state: AgentState): string => {
      try {
        return describeFailure(state);
      } catch (error) {
        onError?.(error, request);
        return failureWithCode(state);
      }
    };
    const hasMessage = (id: string): Promise<boolean> => chat.hasMessage(id);
    const parts = { messagesOf, rights: chat.rights, describeFailure: describe, hasMessage };
    const response = followResponse(chat.views(request.signal), target, parts);
    return responseStream(response, formatOf(url), { clock, onEnd, continued });
  }
}

async function firstView(chat: Chat): Promise<SessionView | undefined> {
  for await (const view of chat.views()) return view;
  return undefined; // the chat was deleted
}

/**
 * Returns the response that a page can follow: the one that it names by its message or by the message of the user, the
 * one in progress, or the one to a queued message.
 */
async function openResponse(chat: Chat, named: string | undefined): Promise<ResponseTarget | undefined> {
  const waiting = await chat.inbox();
  const session = await chat.find();
  if (session === undefined) return undefined;
  const { state } = session;
  const active = isInProgress(state) ? state.executionId : undefined;
  if (named === undefined && active !== undefined) return { type: 'execution', executionId: active };
  const isNamed = ({ id }: { readonly id: string }): boolean => id === named;
  const queued = queuedMessages(waiting, state).find((each) => named === undefined || isNamed(each));
  const sent = queued ?? state.messages.toArray().findLast((each) => each.role === 'user' && isNamed(each));
  if (sent) return { type: 'message', messageId: sent.id, hasStream: false };
  return named === undefined ? undefined : { type: 'execution', executionId: executionIdIn(named) };
}

/** Returns messages as a user sees them: only the last execution can have a call that waits. */
async function shownTo(
  { rights }: Chat,
  messages: readonly UIMessage[],
  state: AgentState,
): Promise<readonly UIMessage[]> {
  const last = messageOfExecution(messages, state.executionId ?? '');
  if (last === undefined) return messages;
  const shown = await rights.shown(last, state);
  return messages.map((message) => (message === last ? shown : message));
}

/** The messages of a chat as a page loads them. */
interface ShownMessages {
  readonly messages: readonly UIMessage[];
  readonly version: number;
  readonly isAtWork: boolean;
  /** The id of the last response, if it failed. */
  readonly failedId?: string | undefined;
}

function shownMessages(shown: ShownMessages): Response {
  return Response.json(shown, { headers: { 'cache-control': 'no-store' } });
}

async function* versionTexts(
  views: AsyncIterable<SessionView>,
  messagesOf: MessagesOf,
): AsyncGenerator<string, void, undefined> {
  let shown = '';
  for await (const view of views) {
    const { state, version } = view.session;
    const isBusy = isInProgress(state);
    if (!isBusy && !view.isSaved) continue;
    const chat: ChatVersion = isBusy
      ? { version, isAtWork: true }
      : { version, isAtWork: false, digest: digestOf(messagesOf(view)) };
    const text = serverSentEvent(chat);
    if (text !== shown) yield (shown = text);
  }
}

async function definitionFor(name: ChatName, { agent }: ChatHandlerOptions): Promise<AgentDefinition> {
  const chosen = typeof agent === 'function' ? await agent(name) : agent;
  return typeof chosen === 'string' ? agentDefinition({ name: chosen }) : chosen;
}

/** The owner cannot contain the separator, so that no owner can name a session of another one. */
function defaultSessionId({ owner, chatId }: ChatName): string {
  return `${owner.replaceAll('%', '%25').replaceAll('/', '%2F')}/${chatId}`;
}

function failureWithCode(state: AgentState): string {
  const { execution } = state;
  const errors = [...(execution?.latestStep?.errors ?? []), ...(execution?.errors ?? [])];
  const code = (errorToRetry(state) ?? errors.at(-1))?.code;
  return code === undefined ? 'The response failed.' : `The response failed: ${code}.`;
}

/** The headers of some responses cannot change, such as those of `Response.redirect`, which `authorize` may throw. */
function withHeaders(response: Response, added: Readonly<Record<string, string>>): Response {
  const { body, status, statusText } = response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  return new Response(body, { status, statusText, headers });
}

function formatOf({ searchParams }: URL): ResponseFormat {
  return searchParams.get('format') === 'events' ? 'events' : 'chunks';
}

function unknownMethod(): ChatRequestError {
  return new ChatRequestError('CHAT_METHOD_UNKNOWN', 'The chat does not serve this method and path.');
}
