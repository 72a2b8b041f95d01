/**
 * The promise, or a rejection with the signal's reason if that comes first. `onLate` is given a value that came
 * after the abort, to let go of it.
 */
export async function unlessAborted<T>(
  work: PromiseLike<T>,
  signal: AbortSignal,
  onLate: (value: T) => void = () => undefined,
): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      reject(signal.reason as Error);
      work.then(onLate, () => undefined);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
