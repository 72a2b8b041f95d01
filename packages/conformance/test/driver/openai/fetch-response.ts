import type { FinishReason } from '@holdfast/core';
import type {
  AssistantPart,
  InferenceDelta,
  InferenceResponseInit,
  UsageFields,
} from '@holdfast/core/driver';
import { interruptionOf, kindOfCode } from './fetch-error.ts';
import type { FetchDefect } from './fetch-defects.ts';

interface CallDelta {
  readonly index?: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

interface Delta {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly CallDelta[];
}

interface OpenAiUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number };
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number };
}

/** A response, or an event of a streamed one. */
export interface OpenAiResponse {
  readonly id?: string;
  readonly model?: string;
  readonly choices?: readonly {
    readonly message?: Delta;
    readonly delta?: Delta;
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: OpenAiUsage | null;
  readonly error?: { readonly code?: string | null };
}

const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'content-filter',
};

interface Call {
  readonly id: string;
  readonly name: string;
  text: string;
}

/** Collects the pieces of a response. */
export class CollectedResponse {
  private readonly defects: ReadonlySet<FetchDefect>;
  private text = '';
  private reasoning = '';
  private readonly calls: Call[] = [];
  private facts: Partial<InferenceResponseInit> = {};
  private finish: string | undefined;

  constructor(defects: ReadonlySet<FetchDefect>) {
    this.defects = defects;
  }

  get isFinished(): boolean {
    return this.finish !== undefined;
  }

  /** Adds a piece. Returns its deltas for the listener. @throws DriverError for an error in the stream. */
  add({ id, model, choices = [], usage, error }: OpenAiResponse): readonly InferenceDelta[] {
    if (error && !this.defects.has('ignores errors in a stream'))
      throw interruptionOf(kindOfCode(error.code ?? ''), this.partial());
    if (usage) this.facts = { ...this.facts, usage: usageOf(usage) };
    if (id !== undefined) this.facts = { ...this.facts, responseId: id, modelId: model };
    return choices.flatMap(({ delta, message, finish_reason: finish }) => {
      this.finish = finish ?? this.finish;
      return this.grow(delta ?? message ?? {});
    });
  }

  /** Returns the response. `finish` stands for an absent finish reason. */
  complete(finish = 'stop'): InferenceResponseInit {
    const rawFinishReason = this.finish ?? finish;
    const content = [...this.written(), ...this.calls.map(partOf)];
    return { ...this.facts, content, rawFinishReason, finishReason: FINISH[rawFinishReason] ?? 'other' };
  }

  /** Returns what has arrived of an interrupted response, without calls: they may be incomplete. */
  partial(finishReason: FinishReason = 'error'): InferenceResponseInit | undefined {
    const content = this.written();
    if (this.defects.has('returns open calls')) content.push(...this.calls.map(openPartOf));
    return content.length === 0 ? undefined : { ...this.facts, content, finishReason };
  }

  private written(): AssistantPart[] {
    const { text, reasoning } = this;
    return [
      ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning } as const]),
      ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ];
  }

  private grow(delta: Delta): readonly InferenceDelta[] {
    const { content, reasoning_content: reasoning = '', tool_calls: calls = [] } = delta;
    this.text += content ?? '';
    this.reasoning += reasoning;
    return [
      ...(reasoning === '' ? [] : [{ type: 'reasoning', id: 'reasoning', text: reasoning } as const]),
      ...(content ? [{ type: 'text', id: 'text', text: content } as const] : []),
      ...calls.flatMap((call) => this.growCall(call)),
    ];
  }

  private growCall({
    index,
    id,
    function: { name, arguments: text = '' } = {},
  }: CallDelta): readonly InferenceDelta[] {
    if (id !== undefined && name !== undefined) this.calls.push({ id, name, text: '' });
    const at = this.defects.has('ignores the index of calls') ? -1 : (index ?? -1);
    const call = this.calls.at(at);
    if (call === undefined || text === '') return [];
    call.text += text;
    return [{ type: 'tool-input', id: call.id, toolName: call.name, text }];
  }
}

function usageOf({ prompt_tokens, completion_tokens, ...details }: OpenAiUsage): UsageFields {
  return {
    inputTokens: prompt_tokens,
    outputTokens: completion_tokens,
    cacheReadTokens: details.prompt_tokens_details?.cached_tokens,
    reasoningTokens: details.completion_tokens_details?.reasoning_tokens,
  };
}

function partOf({ id: toolCallId, name: toolName, text }: Call): AssistantPart {
  const call = { type: 'tool-call', toolCallId, toolName } as const;
  try {
    return { ...call, input: JSON.parse(text) };
  } catch {
    return { ...call, input: text, invalid: 'The arguments are not valid JSON.' };
  }
}

const openPartOf = ({ id: toolCallId, name: toolName }: Call): AssistantPart => {
  return { type: 'tool-call', toolCallId, toolName, input: {} };
};
