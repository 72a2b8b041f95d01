import { setTimeout } from 'node:timers/promises';
import { DriverError, InferenceResponse, type InferenceResponseInit } from '@holdfast/core/driver';
import { failing, inferring, throwing, type Defect } from './driver-parts.ts';

/** Returns the part of a response that an error carries. */
function partialOf(error: Readonly<Record<string, unknown>>): InferenceResponseInit | undefined {
  const { partialResponse } = error;
  return typeof partialResponse === 'object' && partialResponse !== null ? { ...partialResponse } : undefined;
}

/** Handles errors that are no aborts. */
const failingAlone = (handle: Parameters<typeof failing>[0]): Defect =>
  failing((error, call) => {
    if (call.signal.aborted) throw error;
    return handle(error, call);
  });

const errors: Readonly<Record<string, Defect>> = {
  'responds to a refused call': failingAlone(() => ({ text: 'Hi.' })),
  'returns the error as text': failingAlone(({ message }) => ({ text: message })),
  'throws errors without a code': failingAlone((error) => {
    throw new Error('No.', { cause: error });
  }),
  'throws every error as unknown': failingAlone(() => {
    throw new DriverError('unknown', 'It failed.');
  }),
  'throws every error as one of the network': failingAlone((error) => {
    throw Object.assign(new DriverError('network', 'It failed.'), {
      partialResponse: error['partialResponse'],
    });
  }),
  'takes a spent quota for a rate limit': failingAlone((error) => {
    throw error['kind'] === 'quotaExceeded' ? new DriverError('rateLimited', 'Too many calls.') : error;
  }),
  'takes every 400 for an invalid request': failingAlone((error) => {
    const isOther = error['kind'] === 'contextTooLong' || error['kind'] === 'contentFiltered';
    throw isOther ? new DriverError('invalidRequest', 'The request is not valid.') : error;
  }),
  'marks every error as final': throwing(() => ({ isRetryable: false })),
  'marks every error as retryable': throwing(() => ({ isRetryable: true })),
  'loses the pause of the provider': throwing(() => ({ retryAfterSeconds: undefined })),
  'passes the pause on in milliseconds': throwing((error) => ({
    retryAfterSeconds:
      Number(Object.entries(error).find(([name]) => name === 'retryAfterSeconds')?.[1]) * 1_000,
  })),
  'waits for the pause of the provider': failing(async (error, { again, signal }) => {
    const seconds = Number(error['retryAfterSeconds'] ?? 0);
    if (signal.aborted || seconds === 0) throw error;
    await setTimeout(seconds * 1_000, undefined, { signal });
    return again();
  }),
  'repeats a refused call': failingAlone((error, { again }) => {
    if (error['isRetryable'] !== false) throw error;
    return again();
  }),
  'repeats a call again and again': failingAlone(async (error, { again }) => {
    let last: unknown = error;
    for (let attempt = 0; attempt < 8; attempt++) {
      try {
        return await again();
      } catch (failure) {
        last = failure;
      }
    }
    throw last;
  }),
  'writes its key into messages': throwing((error, { secrets }) => {
    return { message: `${error.message} The key is ${secrets.join(' ')}.` };
  }),
  'writes its headers into the cause': throwing((_, { secrets }) => {
    return { cause: new Error('Refused.', { cause: { headers: secrets } }) };
  }),
};

const interruptions: Readonly<Record<string, Defect>> = {
  'reports an interrupted response as finished': failingAlone((error) => {
    const partial = partialOf(error);
    if (partial === undefined) throw error;
    return { ...partial, finishReason: 'stop' };
  }),
  'reports an interrupted response as truncated': failingAlone((error) => {
    const partial = partialOf(error);
    if (partial === undefined) throw error;
    return { ...partial, finishReason: 'length' };
  }),
  'loses partial responses': throwing(() => ({ partialResponse: undefined })),
  'loses the usage of partial responses': throwing((error) => {
    const partial = partialOf({ ...error });
    return { usage: undefined, partialResponse: partial && { ...partial, usage: {} } };
  }),
  'repeats an interrupted call': failingAlone((error, { again }) => {
    if (error['partialResponse'] === undefined) throw error;
    return again();
  }),
  'marks interrupted calls as final': throwing((error) =>
    partialOf({ ...error }) ? { isRetryable: false } : {},
  ),
  'fails after an error': (sound) => {
    let hasFailed = false;
    return {
      ...sound,
      async infer(request, options) {
        if (hasFailed) throw new DriverError('unknown', 'The connection is closed.');
        try {
          return await sound.infer(request, options);
        } catch (error) {
          hasFailed = true;
          throw error;
        }
      },
    };
  },
};

const aborts: Readonly<Record<string, Defect>> = {
  'returns an aborted response as finished': failing((error, { signal }) => {
    if (!signal.aborted) throw error;
    return { ...(partialOf(error) ?? { text: '' }), finishReason: 'stop' };
  }),
  'sends a call whose signal is aborted': inferring((infer, request, { signal, onDelta }) => {
    const own = signal.aborted ? new AbortController().signal : signal;
    return infer(request, { signal: own, onDelta });
  }),
  'repeats an aborted call': inferring(async (infer, request, { signal, onDelta }) => {
    try {
      return await infer(request, { signal, onDelta });
    } catch (error) {
      if (!signal.aborted) throw error;
      return infer(request, { signal: new AbortController().signal, onDelta });
    }
  }),
  'loses what had arrived before an abort': inferring(async (infer, request, options) => {
    try {
      const response = InferenceResponse.of(await infer(request, options));
      return response.finishReason === 'aborted' ? { content: [], finishReason: 'aborted' } : response;
    } catch (error) {
      throw options.signal.aborted ? options.signal.reason : error;
    }
  }),
  'leaves the connection of an aborted call open': inferring((infer, request, { signal, onDelta }) => {
    signal.throwIfAborted();
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    const answered = infer(request, { signal: new AbortController().signal, onDelta });
    return Promise.race([answered, stopped]);
  }),
};

/** Defects in how a driver fails, and in how it ends. */
export const failingDefects: Readonly<Record<string, Defect>> = { ...errors, ...interruptions, ...aborts };
