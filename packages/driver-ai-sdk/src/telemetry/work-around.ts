/**
 * Does work inside a wrapper, and returns the result of the work itself: the wrapper cannot change it. The work starts
 * without the wrapper when the wrapper fails first, or has not called `once` by the next timer.
 */
export function workAround<T>(
  work: () => PromiseLike<T>,
  wrap: (once: () => Promise<T>) => unknown,
): Promise<T> {
  let started: Promise<T> | undefined;
  return new Promise((resolve, reject) => {
    const once = (): Promise<T> => {
      started ??= workOf(work);
      started.then(resolve, reject);
      return started;
    };
    const fallBack = (): void => void (started ?? once());
    try {
      Promise.resolve(wrap(once)).then(fallBack, fallBack);
    } catch {
      fallBack();
    }
    if (started === undefined) setTimeout(fallBack, 0);
  });
}

async function workOf<T>(work: () => PromiseLike<T>): Promise<T> {
  return work();
}
