import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** How a stream of parts ended. */
export type StreamEnd =
  | { readonly type: 'ended' }
  | { readonly type: 'aborted' }
  | { readonly type: 'failed'; readonly error: unknown };

/**
 * Hands every part to `visit` until the stream ends, fails or is aborted; an `error` part is a failure. The stream
 * is let go of in any case, also when `visit` throws.
 */
export async function readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  visit: (part: LanguageModelV4StreamPart) => void,
): Promise<StreamEnd> {
  const reader = stream.getReader();
  // Cancelling ends the read that waits. What the source makes of it no longer matters.
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    while (!signal.aborted) {
      const read = await reader.read().catch((error: unknown) => ({ error }));
      if (signal.aborted) break;
      if ('error' in read) return { type: 'failed', error: read.error };
      if (read.done) return { type: 'ended' };
      if (read.value.type === 'error') return { type: 'failed', error: read.value.error };
      visit(read.value);
    }
    return { type: 'aborted' };
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}
