/**
 * Does work inside a wrapper, and returns the result of the work itself: the wrapper cannot change it. The work starts
 * without the wrapper when the wrapper fails first, or has not called `once` by the next timer.
 */
export function workAround<T>(
  work: () => PromiseLike<T>,
  wrap: (once: () => Promise<T>) => unknown,
): Promise<T> {
  let started: Promise<T> | undefined;
  const once = (): Promise<T> => (started ??= Promise.resolve(workOf(work)));
  return new Promise((resolve, reject) => {
    const ownOnce = (): Promise<T> => {
      const result = once();
      result.then(resolve, reject);
      return result;
    };
    const fallBack = (): void => void (started ?? ownOnce());
    try {
      Promise.resolve(wrap(ownOnce)).then(fallBack, fallBack);
    } catch {
      fallBack();
    }
    if (started === undefined) setTimeout(fallBack, 0);
  });
}

async function workOf<T>(work: () => PromiseLike<T>): Promise<T> {
  return work();
}
