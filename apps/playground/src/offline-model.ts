import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { decide } from './offline/decision.ts';
import { charactersPerToken, estimateUsage } from './offline/usage.ts';

/** How the offline model behaves. */
export interface OfflineModelOptions {
  /** The pause before each piece of text, in milliseconds; 0 for none. Default 12. */
  readonly delayMs?: number;
  /** Whether it tells which rules matched and why, as reasoning before its answer. Default true. */
  readonly reasoning?: boolean;
}

const modelId = 'offline-rules';

/**
 * A language model that needs no network: rules over the conversation and the tools on offer decide what to
 * call and what to say, and it says openly that it is the offline model. It has no state between calls, so a
 * conversation can continue in another process.
 *
 * Usage is an estimate, marked so in `usage.raw`: one token for every 4 characters, of the prompt, the tool
 * definitions and the output alike. `doGenerate` takes as long as the stream would. Both end with the reason
 * of the abort signal as soon as it fires.
 *
 * Limits: it reads English text only, and the first 2,000 characters of a message; sampling settings and stop
 * sequences change nothing; a JSON response format is answered with text and a warning; `maxOutputTokens` cuts
 * text, never reasoning or calls.
 */
export function createOfflineModel(options: OfflineModelOptions = {}): LanguageModelV4 {
  const { delayMs = 12, reasoning = true } = options;
  return {
    specificationVersion: 'v4',
    provider: 'holdfast.offline',
    modelId,
    supportedUrls: {},
    async doGenerate(call) {
      const result = respond(call, reasoning);
      const pieces = toStreamParts(result).filter(isDelta).length;
      await pause(pieces * delayMs, call.abortSignal);
      return result;
    },
    async doStream(call) {
      call.abortSignal?.throwIfAborted();
      const parts = toStreamParts(respond(call, reasoning));
      return { stream: streamOf(parts, { delayMs, signal: call.abortSignal }) };
    },
  };
}

type Response = Omit<LanguageModelV4GenerateResult, 'response'> &
  Required<Pick<LanguageModelV4GenerateResult, 'response'>>;

function respond(call: LanguageModelV4CallOptions, withReasoning: boolean): Response {
  const decision = decide(call);
  const longest = (call.maxOutputTokens ?? Infinity) * charactersPerToken;
  const text = decision.text.slice(0, longest);
  const thought: LanguageModelV4Content[] = withReasoning
    ? [{ type: 'reasoning', text: decision.reasoning }]
    : [];
  const calls = decision.calls.map(({ tool, input }): LanguageModelV4Content => ({
    type: 'tool-call',
    toolCallId: `call_${crypto.randomUUID()}`,
    toolName: tool,
    input: JSON.stringify(input),
  }));
  const content = [...thought, ...(text === '' ? calls : [{ type: 'text', text } as const])];
  const finish = calls.length > 0 ? 'tool-calls' : text.length < decision.text.length ? 'length' : 'stop';
  return {
    content,
    finishReason: finishReason(finish),
    usage: estimateUsage(call, content),
    response: { id: `offline-${crypto.randomUUID()}`, timestamp: new Date(), modelId },
    warnings: warningsFor(call),
  };
}

function finishReason(unified: LanguageModelV4FinishReason['unified']): LanguageModelV4FinishReason {
  return { unified, raw: unified };
}

function warningsFor(call: LanguageModelV4CallOptions): SharedV4Warning[] {
  if (call.responseFormat?.type !== 'json') return [];
  return [
    { type: 'unsupported', feature: 'responseFormat', details: 'The offline model answers in plain text.' },
  ];
}

type Delta = Extract<LanguageModelV4StreamPart, { delta: string }>;

function isDelta(part: LanguageModelV4StreamPart): part is Delta {
  return 'delta' in part;
}

/** The stream that carries the same response, with its text cut into words. */
function toStreamParts({
  content,
  finishReason: reason,
  usage,
  response,
  warnings,
}: Response): readonly LanguageModelV4StreamPart[] {
  return [
    { type: 'stream-start', warnings },
    { type: 'response-metadata', ...response },
    ...content.flatMap((part, index) => toParts(part, String(index))),
    { type: 'finish', usage, finishReason: reason },
  ];
}

function toParts(content: LanguageModelV4Content, id: string): readonly LanguageModelV4StreamPart[] {
  switch (content.type) {
    case 'text':
      return [
        { type: 'text-start', id },
        ...words(content.text).map((delta) => ({ type: 'text-delta', id, delta }) as const),
        { type: 'text-end', id },
      ];
    case 'reasoning':
      return [
        { type: 'reasoning-start', id },
        ...words(content.text).map((delta) => ({ type: 'reasoning-delta', id, delta }) as const),
        { type: 'reasoning-end', id },
      ];
    case 'tool-call': {
      const { toolCallId, toolName, input } = content;
      return [
        { type: 'tool-input-start', id: toolCallId, toolName },
        { type: 'tool-input-delta', id: toolCallId, delta: input },
        { type: 'tool-input-end', id: toolCallId },
        content,
      ];
    }
    default:
      return [content];
  }
}

function words(text: string): readonly string[] {
  return text.match(/\s+\S*|\S+/g) ?? [];
}

interface Pace {
  readonly delayMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Hands out a part whenever one is asked for; nothing is queued, so an abort is seen at once. */
function streamOf(
  parts: readonly LanguageModelV4StreamPart[],
  { delayMs, signal }: Pace,
): ReadableStream<LanguageModelV4StreamPart> {
  const rest = parts.values();
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        const { value: part } = rest.next();
        await pause(part !== undefined && isDelta(part) ? delayMs : 0, signal);
        if (part === undefined) controller.close();
        else controller.enqueue(part);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Waits, or rejects with the reason of the signal as soon as it fires. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (milliseconds === 0) return;
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
