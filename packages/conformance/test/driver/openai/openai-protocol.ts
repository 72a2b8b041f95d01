import type { ProviderContent, ProviderReply, ProviderRequest } from '@holdfast/conformance';
import { interruptedEnd, streamedContent, streamedResponse, wholeResponse } from './openai-reply.ts';
import { understood, type OpenAiBody } from './openai-request.ts';

/** The body of a request. A protocol reads its other members. */
export interface StreamableBody {
  readonly stream?: boolean;
}

type Answer = Extract<ProviderReply, { type: 'answer' }>;

/** Converts the replies of a script to a protocol of OpenAI, and requests back. */
export interface OpenAiProtocol {
  /** Returns a request as the cases see it. */
  readonly understood: (body: StreamableBody) => ProviderRequest;
  /** Returns the reply to a request, without the members for which it does not ask. */
  readonly replyTo: (body: StreamableBody, reply: ProviderReply) => ProviderReply;
  /** Returns a response in one piece. */
  readonly wholeResponse: (answer: Answer) => object;
  /** Returns the events of a streamed response. */
  readonly streamedResponse: (answer: Answer) => readonly object[];
  /** Returns the events of the content of a response, without its end. */
  readonly streamedContent: (content: ProviderContent) => readonly object[];
  /** Returns the events after the content and before the interruption. */
  readonly interruptedEnd: (reply: Extract<ProviderReply, { type: 'interruption' }>) => readonly object[];
  /** The event of an error that states that the provider is overloaded. */
  readonly overloaded: object;
}

/** The chat completions. */
export const chatCompletions: OpenAiProtocol = {
  understood: (body) => understood(body as OpenAiBody),
  replyTo: (body, reply) => withUsage(reply, body as OpenAiBody),
  wholeResponse,
  streamedResponse,
  streamedContent,
  interruptedEnd,
  overloaded: {
    error: { message: 'Overloaded', type: 'server_error', param: null, code: 'overloaded' },
  },
};

/** Returns a reply without usage if the request does not ask for it: a stream has none by default. */
function withUsage(reply: ProviderReply, { stream, stream_options: options }: OpenAiBody): ProviderReply {
  if (reply.type !== 'answer' || !stream || options?.include_usage === true) return reply;
  const { usage: _, ...rest } = reply;
  return rest;
}
