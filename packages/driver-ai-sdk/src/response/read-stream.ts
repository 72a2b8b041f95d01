import { InvalidResponseDataError, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { unlessAborted } from './abort.ts';

/** The end of a stream of parts. */
export type StreamEnd =
  | { readonly type: 'ended' }
  | { readonly type: 'aborted' }
  | { readonly type: 'failed'; readonly error: unknown; readonly finish?: FinishPart | undefined };

type FinishPart = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/**
 * Calls `visit` with every part until the stream ends, fails or is aborted. While a promise of `visit` is pending, no part
 * is read. An `error` part is a failure. Always cancels the stream at the end, also when `visit` throws.
 */
export async function readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  visit: (part: LanguageModelV4StreamPart) => Promise<void> | undefined,
): Promise<StreamEnd> {
  const reader = stream.getReader();
  // `cancel` ends a waiting read. An error of the source after that is ignored.
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    while (!signal.aborted) {
      const read = await reader.read().catch((error: unknown) => ({ error }));
      if (signal.aborted) break;
      if ('error' in read) return { type: 'failed', error: read.error };
      if (read.done) return { type: 'ended' };
      if (read.value.type === 'error') {
        const end = endOf(read.value.error);
        return end.type === 'failed' ? { ...end, finish: await finishAfter(reader) } : end;
      }
      const pause = visit(read.value);
      if (pause) await unlessAborted(pause, signal).catch(() => undefined);
    }
    return { type: 'aborted' };
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** How long a stream may take to report its usage after an error. */
const USAGE_MS = 1_000;

/** Returns the `finish` part that can follow an error: it has the usage of the failed response, which the provider bills. */
async function finishAfter(
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
): Promise<FinishPart | undefined> {
  const limit = AbortSignal.timeout(USAGE_MS);
  for (;;) {
    const read = await unlessAborted(reader.read(), limit).catch(() => undefined);
    if (read === undefined || read.done) return undefined;
    if (read.value.type === 'finish') return read.value;
  }
}

/** The end that an `error` part reports. The package for compatible servers reports a stream without a finish so. */
function endOf(error: unknown): StreamEnd {
  const hasEnded = InvalidResponseDataError.isInstance(error) && error.data === undefined;
  return hasEnded ? { type: 'ended' } : { type: 'failed', error };
}
