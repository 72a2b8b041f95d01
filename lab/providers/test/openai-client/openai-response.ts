import type { FinishReason } from '@holdfast/core';
import {
  DriverError,
  type AssistantPart,
  type InferenceOptions,
  type InferenceResponseInit,
  type UsageFields,
} from '@holdfast/core/driver';
import { APIError } from 'openai';
import type { Responses } from 'openai/resources/responses/responses';

const FINISH: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'length',
  content_filter: 'content-filter',
};

/** Reads the events of one response, and passes its pieces to the listener. */
export class ResponseReader {
  private readonly onDelta: InferenceOptions['onDelta'];
  /** The response as the newest event has it. Its content is complete in the last event. */
  private latest: Responses.Response | undefined;
  private isFinished = false;
  private readonly written = { text: '', reasoning: '' };
  /** The names of the calls, by the ids of their items. */
  private readonly calls = new Map<string | undefined, Responses.ResponseFunctionToolCall>();

  constructor(onDelta: InferenceOptions['onDelta']) {
    this.onDelta = onDelta;
  }

  /** Reads one event. @throws APIError for an error in the stream */
  read(event: Responses.ResponseStreamEvent): void {
    if ('response' in event) this.latest = event.response;
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.write('text', event.item_id, event.delta);
      case 'response.reasoning_summary_text.delta':
        return this.write('reasoning', event.item_id, event.delta);
      case 'response.output_item.added':
        if (event.item.type === 'function_call') this.calls.set(event.item.id, event.item);
        return undefined;
      case 'response.function_call_arguments.delta':
        return this.writeArguments(event);
      case 'response.completed':
      case 'response.incomplete':
        this.isFinished = true;
        return undefined;
      case 'error':
        throw streamError(event.code);
      case 'response.failed':
        throw streamError(event.response.error?.code);
      default:
        return undefined;
    }
  }

  /** Returns the response. @throws DriverError `DRIVER_NETWORK` if the stream ended before the response */
  response(): InferenceResponseInit {
    if (!this.latest || !this.isFinished) throw this.unfinished();
    const { output, status, incomplete_details: incomplete } = this.latest;
    const content = output.flatMap(partsOf);
    const rawFinishReason = incomplete?.reason ?? status ?? 'completed';
    const isCalling = content.some(({ type }) => type === 'tool-call');
    const complete = isCalling ? 'tool-calls' : 'stop';
    const finishReason = rawFinishReason === 'completed' ? complete : (FINISH[rawFinishReason] ?? 'other');
    return { ...this.facts(), content, finishReason, rawFinishReason };
  }

  /**
   * Returns the texts that have arrived of a response that broke off, if there are any. Calls may be incomplete, and
   * OpenAI accepts no reasoning item without the item that follows it.
   */
  partialResponse(finishReason: FinishReason): InferenceResponseInit | undefined {
    const content = (['reasoning', 'text'] as const).flatMap((type) => {
      const text = this.written[type];
      return text === '' ? [] : [{ type, text }];
    });
    return content.length === 0 ? undefined : { ...this.facts(), content, finishReason };
  }

  private write(type: 'text' | 'reasoning', id: string, text: string): void {
    this.written[type] += text;
    this.onDelta?.({ type, id, text });
  }

  private writeArguments({ item_id, delta }: Responses.ResponseFunctionCallArgumentsDeltaEvent): void {
    const call = this.calls.get(item_id);
    if (call) this.onDelta?.({ type: 'tool-input', id: call.call_id, toolName: call.name, text: delta });
  }

  private facts(): InferenceResponseInit {
    if (!this.latest) return {};
    const { id, model, usage } = this.latest;
    return { responseId: id, modelId: model, ...(usage && { usage: usageOf(usage) }) };
  }

  private unfinished(): DriverError {
    const partialResponse = this.partialResponse('error');
    return new DriverError('network', 'The response of OpenAI ended before it was complete.', {
      partialResponse,
    });
  }
}

/** An error as the client throws it for a refused call. */
function streamError(code: string | null | undefined): APIError {
  return new APIError(undefined, { code }, undefined, undefined);
}

function usageOf(usage: Responses.ResponseUsage): UsageFields {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.input_tokens_details?.cached_tokens,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens,
  };
}

function partsOf(item: Responses.ResponseOutputItem): readonly AssistantPart[] {
  switch (item.type) {
    case 'message':
      return item.content.map((part) => {
        return { type: 'text', text: part.type === 'output_text' ? part.text : part.refusal };
      });
    case 'reasoning':
      return [reasoningOf(item)];
    case 'function_call':
      return [callOf(item)];
    default:
      return [];
  }
}

/** Keeps the encrypted content, which OpenAI needs back with the next call. */
function reasoningOf({
  id,
  summary,
  encrypted_content: encrypted,
}: Responses.ResponseReasoningItem): AssistantPart {
  const text = summary.map((part) => part.text).join('\n\n');
  if (!encrypted) return { type: 'reasoning', text };
  const openai = { itemId: id, reasoningEncryptedContent: encrypted };
  return { type: 'reasoning', text, providerOptions: { openai } };
}

function callOf({ call_id, name, arguments: text }: Responses.ResponseFunctionToolCall): AssistantPart {
  const call = { type: 'tool-call', toolCallId: call_id, toolName: name } as const;
  try {
    return { ...call, input: JSON.parse(text) };
  } catch {
    return { ...call, input: text, invalid: 'The arguments are not valid JSON.' };
  }
}
