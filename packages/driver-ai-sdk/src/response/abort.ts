/**
 * Settles like `work`, or rejects with the signal's reason if the signal aborts first. `onLate` receives a value that
 * arrives after the abort, to release it.
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
