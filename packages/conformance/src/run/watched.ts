interface Watch {
  /** Receives the promise of each operation. Its result takes the place of the promise. */
  readonly during: <T>(operation: string, result: PromiseLike<T>) => Promise<T>;
  /** The names of objects that operations return, by the name of the operation. They are watched too. */
  readonly results: Readonly<Record<string, string>>;
}

type Method = (...args: unknown[]) => unknown;

/** Wraps an object to watch its asynchronous methods. The object may be frozen, and have private fields. */
export function watched<T extends object>(subject: T, name: string, watch: Watch): T {
  // The target of a proxy limits what its traps may return. This one has no members of its own.
  const target = Object.create(Object.getPrototypeOf(subject) as object | null) as T;
  return new Proxy(target, {
    get: (_, key) => {
      const member: unknown = Reflect.get(subject, key);
      return isMethod(member) && typeof key === 'string'
        ? (...args: unknown[]) => observed(member.apply(subject, args), name, key, watch)
        : member;
    },
    has: (_, key) => Reflect.has(subject, key),
    set: (_, key, value) => Reflect.set(subject, key, value),
  });
}

function observed(result: unknown, name: string, operation: string, watch: Watch): unknown {
  if (!isPromise(result)) return result;
  const kind = watch.results[operation];
  const watching =
    kind === undefined ? result : result.then((value) => watched(value as object, kind, watch));
  return watch.during(`${name}.${operation}`, watching);
}

function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
