import {
  DriverError,
  type Driver,
  type InferenceOptions,
  type InferenceRequest,
  type InferenceResponseInit,
} from '@holdfast/core/driver';
import { bodyOf } from './fetch-body.ts';
import type { FetchDefect } from './fetch-defects.ts';
import { interruptionOf, refusalOf } from './fetch-error.ts';
import { CollectedResponse, type OpenAiResponse } from './fetch-response.ts';

export interface FetchDriverOptions {
  /** The base URL of a server of OpenAI's protocol. */
  readonly url: string;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly defects?: readonly FetchDefect[];
}

/** A driver for chat completions of OpenAI on `fetch` alone. It makes no retries: the loop does. */
export function fetchDriver(options: FetchDriverOptions): Driver {
  const defects = new Set(options.defects);
  return {
    modelId: (config) => config?.model ?? options.model,
    async infer(request, inference) {
      inference.signal.throwIfAborted();
      const call = new FetchCall(defects, inference);
      return call.send(options, request).catch((error: unknown) => {
        throw call.errorOf(error);
      });
    },
  };
}

/** One call of the provider. */
class FetchCall {
  private readonly defects: ReadonlySet<FetchDefect>;
  private readonly inference: InferenceOptions;
  private readonly isStreamed: boolean;
  private readonly collected: CollectedResponse;

  constructor(defects: ReadonlySet<FetchDefect>, inference: InferenceOptions) {
    this.defects = defects;
    this.inference = inference;
    this.isStreamed = inference.onDelta !== undefined && !defects.has('never streams');
    this.collected = new CollectedResponse(defects);
  }

  async send(
    { url, headers, model }: FetchDriverOptions,
    request: InferenceRequest,
  ): Promise<InferenceResponseInit> {
    const { signal } = this.inference;
    const isUsageAsked = !this.defects.has('asks for no usage in streams');
    const streaming = { stream: true, stream_options: { include_usage: isUsageAsked } };
    const body = { ...bodyOf(request, this.defects), ...(this.isStreamed && streaming) };
    const call = fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, model: request.llmConfig?.model ?? model }),
      ...(!this.defects.has('leaves its connection open') && { signal }),
    });
    const response = await unlessAborted(call, signal);
    if (!response.ok) throw await refusalOf(response, this.defects);
    return this.isStreamed ? this.read(response) : this.readWhole(response);
  }

  /** Returns the error of a call: the signal's reason after an abort, and a `DriverError` otherwise. */
  errorOf(error: unknown): unknown {
    const { signal } = this.inference;
    const partial = this.collected.partial(signal.aborted ? 'aborted' : 'error');
    if (error instanceof DriverError) return error;
    if (!signal.aborted) return interruptionOf('network', partial);
    return Object.assign(new Error('The call was aborted.'), partial && { partialResponse: partial });
  }

  private async readWhole(response: Response): Promise<InferenceResponseInit> {
    const deltas = this.collected.add((await response.json()) as OpenAiResponse);
    for (const delta of deltas) this.inference.onDelta?.(delta);
    return this.collected.complete();
  }

  private async read(response: Response): Promise<InferenceResponseInit> {
    let rest = '';
    for await (const text of this.texts(response)) {
      const events = (rest + text).split('\n\n');
      rest = this.defects.has('parses each chunk by itself') ? '' : (events.pop() ?? '');
      for (const event of events) this.readEvent(event);
    }
    const isTaken = this.collected.isFinished || this.defects.has('takes the end of a stream for its finish');
    if (!isTaken) throw interruptionOf('network', this.collected.partial());
    return this.collected.complete();
  }

  private async *texts(response: Response): AsyncIterable<string> {
    const isWhole = !this.defects.has('decodes each chunk by itself');
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? [])
      for (const piece of this.piecesOf(bytes)) yield decoder.decode(piece, { stream: isWhole });
  }

  /** Returns small pieces, as a slow network delivers them, where the defect shows only then. */
  private piecesOf(bytes: Uint8Array): readonly Uint8Array[] {
    const { defects } = this;
    const isSlow = defects.has('decodes each chunk by itself') || defects.has('parses each chunk by itself');
    if (!isSlow) return [bytes];
    return Array.from({ length: Math.ceil(bytes.length / 5) }, (_, at) => bytes.subarray(at * 5, at * 5 + 5));
  }

  private readEvent(event: string): void {
    const [, data] = /^data: (.*)$/m.exec(event) ?? [];
    if (data === undefined || data === '[DONE]') return;
    for (const delta of this.collected.add(parsed(data))) this.inference.onDelta?.(delta);
  }
}

function parsed(data: string): OpenAiResponse {
  return JSON.parse(data) as OpenAiResponse;
}

/** Settles like the promise, or rejects when the signal aborts. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    promise.then(resolve, reject);
  });
}
