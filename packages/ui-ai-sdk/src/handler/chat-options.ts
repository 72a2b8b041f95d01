import type { AgentDefinition, AgentState, Clock, SessionRuntime } from '@holdfast/core';
import type { SessionChannel } from '@holdfast/core/channel';
import { mustBe, optionsCheck, type ExecutionEngine } from '@holdfast/core/engine';
import type { MessageOptions } from './chat-view.ts';
import type { ChatLimits } from './request/chat-limits.ts';

/** The user of a request. */
export interface ChatUser {
  /** The owner of the chats: with the id of the chat at most 999 characters. For this user, only chats of this owner exist. */
  readonly owner: string;
  /** The person, recorded with decisions and answers. Default: the owner. */
  readonly by?: string;
}

/** A tool call that waits for approval, for the rule about who may decide on it. */
export interface CallToDecide {
  /** The name of the tool. */
  readonly name: string;
  /** The arguments that the tool receives after an approval. They are JSON. */
  readonly args: unknown;
  readonly sessionId: string;
  /** The owner of the chat. */
  readonly owner: string;
}

/** A chat of an owner. */
export interface ChatName {
  readonly owner: string;
  /** The id that the page gave to the chat. */
  readonly chatId: string;
}

/** Options of `chatHandler`. `User` is what `authorize` returns. */
export interface ChatHandlerOptions<User extends ChatUser = ChatUser> {
  /** A runtime with the agents and the channel. It runs no agent in this process: an engine does. */
  readonly runtime: SessionRuntime<never> | SessionRuntime;
  /** The engine whose workers run the agents, here or in other processes. */
  readonly engine: Pick<ExecutionEngine, 'wake'>;
  /** A channel with the transport of the workers' channels. */
  readonly channel: SessionChannel;
  /** The agent of new chats: its name, or its definition. A function chooses it for each chat. */
  readonly agent:
    | string
    | AgentDefinition
    | ((chat: ChatName) => string | AgentDefinition | Promise<string | AgentDefinition>);
  /**
   * Returns the user of a request, or `undefined` for a request without one, which gets the status 401. It may throw a
   * `Response`, which the handler returns.
   */
  readonly authorize: (request: Request) => User | undefined | Promise<User | undefined>;
  /**
   * Returns true when the user may approve or deny the call. It is asked when a page shows the call, and again for each
   * decision. Any other value refuses the decision, and so does an error. Default: no page decides on any call. Questions
   * to the user, which are calls of tools without `execute`, need no permission.
   */
  mayDecide?(call: CallToDecide, user: User): boolean | Promise<boolean>;
  /** The path of the handler. Default: `/api/chat`, as in the AI SDK. */
  readonly path?: string;
  /** Returns the id of the session of a chat. Default: made of owner and chat id. Two owners must not share an id. */
  readonly sessionIdOf?: (chat: ChatName) => string;
  /** The other origins whose pages may use the handler, such as `https://app.example`. Default: none. */
  readonly allowedOrigins?: readonly string[];
  readonly limits?: ChatLimits;
  /** How messages are shown: the options of `toUIMessages`. */
  readonly messages?: MessageOptions;
  /** Returns true for a URL of a file that a user may send. Default: only the content itself, as a `data:` URL. */
  readonly acceptsFileUrl?: (url: URL, user: ChatUser) => boolean;
  /** Describes an execution that has failed, or waits for `retry()`, for the user. Default: its error code. */
  readonly describeFailure?: (state: AgentState) => string;
  /** Receives the errors behind responses with a status from 500 on. */
  readonly onError?: (error: unknown, request: Request) => void;
  /** The clock of timers. Default: the system clock. */
  readonly clock?: Clock;
}

export const checkOptions = optionsCheck<ChatHandlerOptions>('chatHandler', {
  runtime: mustBe.required(mustBe.objectWith('a SessionRuntime', ['execute', 'enqueue', 'for'])),
  engine: mustBe.required(mustBe.objectWith('an execution engine', ['wake'])),
  channel: mustBe.required(mustBe.objectWith('a session channel', ['subscribe'])),
  agent: mustBe.required({
    expected: 'the name of an agent, its definition, or a function that returns one of them',
    accepts: (value) =>
      (typeof value === 'string' && value !== '') ||
      typeof value === 'function' ||
      mustBe.object.accepts(value),
  }),
  authorize: mustBe.required(mustBe.function),
  mayDecide: mustBe.function,
  path: {
    expected: 'a path that begins with "/", such as "/api/chat"',
    accepts: (value) => typeof value === 'string' && value.startsWith('/'),
    type: 'string',
  },
  sessionIdOf: mustBe.function,
  allowedOrigins: {
    expected: 'an array of origins, such as ["https://app.example"], without a path or a slash at the end',
    accepts: (value) => Array.isArray(value) && value.every(isOrigin),
  },
  limits: mustBe.object,
  messages: mustBe.object,
  acceptsFileUrl: mustBe.function,
  describeFailure: mustBe.function,
  onError: mustBe.function,
  clock: mustBe.clock,
});

function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value;
}
