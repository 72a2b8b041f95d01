import type { Driver, InferenceResponseInit } from '@holdfast/core/driver';
import type { OpenAI } from 'openai';
import { driverErrorOf } from './openai-error.ts';
import { bodyOf } from './openai-request.ts';
import { ResponseReader } from './openai-response.ts';

export interface OpenAiClientDriverOptions {
  /** The client holds the key and the base URL. They are never stored. */
  readonly client: OpenAI;
  /** The model of a state that names none. */
  readonly model: string;
}

/**
 * A driver on the client library of OpenAI. It streams each response of the Responses API, and sends the whole
 * conversation with each call: OpenAI stores nothing. It repeats no call, because the loop does.
 */
export function openAiClientDriver({ client, model }: OpenAiClientDriverOptions): Driver {
  return {
    modelId: (config) => config?.model ?? model,
    async infer(request, { signal, onDelta }) {
      signal.throwIfAborted();
      const reader = new ResponseReader(onDelta);
      try {
        const stream = await client.responses.create(bodyOf(request, model), { signal, maxRetries: 0 });
        for await (const event of stream) reader.read(event);
        // After an abort, the stream of the client ends without an error.
        return signal.aborted ? abortedResponse(reader, signal) : reader.response();
      } catch (error) {
        if (signal.aborted) return abortedResponse(reader, signal);
        throw driverErrorOf(error, reader.partialResponse('error'));
      }
    },
  };
}

/** Returns the part of the response that had arrived. Throws the reason of the signal if nothing had arrived. */
function abortedResponse(reader: ResponseReader, signal: AbortSignal): InferenceResponseInit {
  const partial = reader.partialResponse('aborted');
  if (partial === undefined) throw signal.reason;
  return partial;
}
