import type { ProviderReply, ProviderRequest } from '@holdfast/conformance';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { chatCompletions, type StreamableBody, type OpenAiProtocol } from './openai-protocol.ts';
import { REFUSALS } from './openai-reply.ts';

/** A provider with a script. */
export interface OpenAiProvider {
  /** The base URL, without `/chat/completions`. */
  readonly url: string;
  readonly requests: () => readonly ProviderRequest[];
  /** Does nothing: `stop` of the server ends all providers. */
  readonly close: () => Promise<void>;
}

interface Script {
  readonly replies: ProviderReply[];
  readonly requests: ProviderRequest[];
}

/** A server of a protocol of OpenAI for all cases of a test file: each script has a path of its own. */
export class OpenAiServer {
  private readonly protocol: OpenAiProtocol;
  private readonly scripts: Script[] = [];
  private readonly server: Server;

  private constructor(protocol: OpenAiProtocol) {
    this.protocol = protocol;
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  /** Starts a server on a free port. */
  static async start(protocol: OpenAiProtocol = chatCompletions): Promise<OpenAiServer> {
    const started = new OpenAiServer(protocol);
    started.server.listen(0, '127.0.0.1');
    await once(started.server, 'listening');
    return started;
  }

  /** Returns a provider that gives these replies in order. */
  provider(replies: readonly ProviderReply[]): OpenAiProvider {
    const script: Script = { replies: [...replies], requests: [] };
    const path = this.scripts.push(script) - 1;
    const { port } = this.server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/${path}`;
    return { url, requests: () => script.requests, close: async () => undefined };
  }

  /** Cuts all connections and stops the server. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const script = this.scripts[Number(request.url?.split('/')[1])];
    const body = (await json(request)) as StreamableBody;
    script?.requests.push(this.protocol.understood(body));
    const reply = script?.replies.shift() ?? { type: 'refusal', refusal: 'invalidRequest' };
    const isStreamed = body.stream === true;
    await new Reply(this.protocol, request, response, isStreamed).send(this.protocol.replyTo(body, reply));
  }
}

/** One reply over HTTP. */
class Reply {
  private readonly protocol: OpenAiProtocol;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly isStreamed: boolean;

  constructor(
    protocol: OpenAiProtocol,
    request: IncomingMessage,
    response: ServerResponse,
    isStreamed: boolean,
  ) {
    this.protocol = protocol;
    this.request = request;
    this.response = response;
    this.isStreamed = isStreamed;
    response.setHeader('connection', 'close');
  }

  async send(reply: ProviderReply): Promise<void> {
    switch (reply.type) {
      case 'refusal':
        return this.refuse(reply);
      case 'interruption':
        return this.interrupt(reply);
      case 'noise':
        return this.write(200, 'text/html', '<html><title>Sign in</title></html>');
      case 'silence':
        return this.pause(reply);
      case 'answer':
      default:
        if (!this.isStreamed)
          return this.write(200, 'application/json', JSON.stringify(this.protocol.wholeResponse(reply)));
        await this.stream(this.protocol.streamedResponse(reply));
        this.response.end('data: [DONE]\n\n');
    }
  }

  private refuse({ refusal, retryAfterSeconds }: Extract<ProviderReply, { type: 'refusal' }>): void {
    const [status, error] = REFUSALS[refusal];
    if (retryAfterSeconds !== undefined) this.response.setHeader('retry-after', String(retryAfterSeconds));
    const { authorization, 'x-team': team } = this.request.headers;
    const message = `Refused: ${authorization?.replace('Bearer ', '')} of ${String(team)}.`;
    this.write(status, 'application/json', JSON.stringify({ error: { message, param: null, ...error } }));
  }

  private async interrupt(reply: Extract<ProviderReply, { type: 'interruption' }>): Promise<void> {
    const { interruption, text, after } = reply;
    const { socket } = this.response;
    const content = this.protocol.streamedContent(reply);
    if (this.isStreamed && (text || reply.calls))
      await this.stream([...content, ...this.protocol.interruptedEnd(reply)]);
    else if (text) {
      this.response.writeHead(200, { 'content-type': 'application/json' });
      await this.flushed(JSON.stringify(this.protocol.wholeResponse({ type: 'answer', text })).slice(0, -20));
    }
    await after;
    if (interruption === 'cut') socket?.destroy();
    else if (interruption === 'end') this.response.end();
    else {
      await this.stream([this.protocol.overloaded]);
      this.response.end();
    }
  }

  private async pause({
    text,
    onAsked,
    onClosed,
  }: Extract<ProviderReply, { type: 'silence' }>): Promise<void> {
    this.response.on('close', () => onClosed?.());
    if (text !== undefined && this.isStreamed) await this.stream(this.protocol.streamedContent({ text }));
    onAsked();
  }

  private async stream(events: readonly object[]): Promise<void> {
    if (!this.response.headersSent) this.response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) await this.flushed(`data: ${JSON.stringify(event)}\n\n`);
  }

  private flushed(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.response.write(text, () => resolve());
    });
  }

  private write(status: number, type: string, text: string): void {
    this.response.writeHead(status, { 'content-type': type });
    this.response.end(text);
  }
}
