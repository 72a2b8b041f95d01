/** The run of a request, for a stop: by the message of the user in it, or by the message of the response. */
export type RunName = { readonly sentId: string } | { readonly messageId: string | undefined };

/** The end of a request: the server has it, has refused it, or may have it, because the page tries no longer. */
type Outcome = 'taken' | 'refused' | 'withdrawn';

/** A request of the page until the server has it. */
export class Sending {
  readonly run: RunName;
  /** The stop of the run, once the user has asked for it. */
  stop: Promise<boolean> | undefined;
  private readonly withdrawal = new AbortController();
  private readonly abortion = new AbortController();
  private readonly end = Promise.withResolvers<Outcome>();

  constructor(run: RunName) {
    this.run = run;
  }

  /** Aborts when the page tries no longer. An attempt that is under way continues to its end. */
  get withdrawn(): AbortSignal {
    return this.withdrawal.signal;
  }

  /** Aborts an attempt that is under way. */
  get aborted(): AbortSignal {
    return this.abortion.signal;
  }

  get outcome(): Promise<Outcome> {
    return this.end.promise;
  }

  withdraw(): void {
    this.withdrawal.abort();
  }

  abort(): void {
    this.withdraw();
    this.abortion.abort();
  }

  settle(outcome: Outcome): void {
    this.end.resolve(outcome);
  }
}

/** Returns the value of a promise. @throws the reason of the signal when it aborts before. */
export async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
