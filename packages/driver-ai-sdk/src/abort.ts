/**
 * The promise, or a rejection with the signal's reason if that comes first. `onLate` is given a value that came
 * after the abort, to let go of it.
 */
export function unlessAborted<T>(
  work: PromiseLike<T>,
  signal: AbortSignal,
  onLate: (value: T) => void = () => undefined,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => signal.removeEventListener('abort', stop);
    const stop = (): void => {
      reject(signal.reason as Error);
      work.then(onLate, () => undefined);
    };
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(
      (value) => (leave(), resolve(value)),
      (error: unknown) => (leave(), reject(error as Error)),
    );
  });
}
