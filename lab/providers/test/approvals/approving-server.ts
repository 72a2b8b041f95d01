import { ProviderServer, type RecordedRequest, type ScriptedResponse } from '../../src/server.ts';
import { jsonResponse } from '../../src/wires/event-stream.ts';

/** An item of a request, with the members that the server reads. */
interface Item {
  readonly type?: string;
  readonly id?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly text: string }[];
  readonly approval_request_id?: string;
  readonly approve?: boolean;
}

/**
 * OpenAI with a remote MCP server whose calls need approval. It refuses a request as OpenAI does: one with an unknown
 * item, with an item twice, with a decision that has no request, and with a request that has no decision.
 *
 * A user message with the word "both" makes it request two calls, one with the word "Never" none, and any other one call.
 */
export class ApprovingServer {
  /** The items of each accepted request, in short: `user: Go.`, `mcpr_1`, `approve mcpr_1`. */
  readonly inputs: (readonly string[])[] = [];
  /** The reasons of the refused requests. */
  readonly refusals: string[] = [];
  private readonly known = new Set<string>();
  private readonly counts = new Map<string, number>();
  private readonly server: ProviderServer;

  private constructor(server: ProviderServer) {
    this.server = server;
    server.play((request) => this.reply(request));
  }

  static async start(): Promise<ApprovingServer> {
    return new ApprovingServer(await ProviderServer.start());
  }

  get url(): string {
    return this.server.url;
  }

  /** The items of the last request. */
  get lastInput(): readonly string[] {
    return this.inputs.at(-1) ?? [];
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private reply({ body }: RecordedRequest): ScriptedResponse {
    const { input } = body as { readonly input: readonly Item[] };
    const refusal = this.refusalOf(input);
    if (refusal === undefined) this.inputs.push(input.map(shortened));
    else this.refusals.push(refusal);
    return {
      response:
        refusal === undefined
          ? jsonResponse(this.answerTo(input))
          : jsonResponse({ error: { message: refusal } }, 400),
    };
  }

  private refusalOf(input: readonly Item[]): string | undefined {
    const shown = input.map(shortened);
    const repeated = shown.find((item, place) => !item.includes(': ') && shown.indexOf(item) < place);
    if (repeated !== undefined) return `Duplicate item: ${repeated}.`;
    const unknown = input.find(({ type, id }) => type === 'item_reference' && !this.known.has(id ?? ''));
    if (unknown) return `Item '${unknown.id}' not found.`;
    const requested = input.flatMap(({ id }) => (id?.startsWith('mcpr_') ? [id] : []));
    const decided = input.flatMap(({ approval_request_id: id }) => (id === undefined ? [] : [id]));
    if (requested.join() === decided.join()) return undefined;
    return `The requests ${requested.join()} do not fit the decisions ${decided.join()}.`;
  }

  private answerTo(input: readonly Item[]): object {
    const last = input.at(-1);
    const decisions = input.slice(input.findLastIndex(({ role }) => role === 'user') + 1);
    const output = last?.role === 'user' ? this.requestsFor(textOf(last.content)) : this.callsOf(decisions);
    const usage = { input_tokens: 10, output_tokens: 5 };
    return { id: this.newId('resp'), created_at: 0, model: 'gpt-5', output, usage };
  }

  private requestsFor(text: string): readonly object[] {
    if (text.includes('Never')) return [this.message('As you wish.')];
    return text.includes('both') ? [this.request(), this.request()] : [this.request()];
  }

  private request(): object {
    return { type: 'mcp_approval_request', id: this.newId('mcpr'), ...CALL };
  }

  /** The calls that a person approved, and a text. */
  private callsOf(decisions: readonly Item[]): readonly object[] {
    const calls = decisions
      .filter(({ approve }) => approve === true)
      .map(({ approval_request_id }) => {
        const id = this.newId('mcp');
        return { type: 'mcp_call', id, approval_request_id, status: 'completed', output: 'Page 1.', ...CALL };
      });
    return [...calls, this.message(calls.length > 0 ? 'It says 1.' : 'I may not look.')];
  }

  private message(text: string): object {
    const content = [{ type: 'output_text', text, annotations: [] }];
    return { type: 'message', id: this.newId('msg'), role: 'assistant', content };
  }

  private newId(kind: string): string {
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    const id = `${kind}_${count}`;
    this.known.add(id);
    return id;
  }
}

const CALL = { server_label: 'docs', name: 'lookup', arguments: '{"page":1}' };

function shortened({ type, id, role, content, approval_request_id: request, approve }: Item): string {
  if (role !== undefined) return `${role}: ${textOf(content)}`;
  if (request !== undefined) return `${approve ? 'approve' : 'deny'} ${request}`;
  return id ?? type ?? 'an item without a type';
}

function textOf(content: Item['content'] = ''): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join(' ');
}
