import { checkArgument, mustBe } from '../../arguments.ts';
import { hasErrorCode, HoldfastError } from '../../errors.ts';

/**
 * The meaning of an abort. `cancel`: the execution ends `stopped`. `yield`: the process must exit, as in a deploy; the
 * execution stays `inProgress`, and another process resumes it. `lost`: another worker has the session; the run saves
 * nothing more.
 */
export type AbortKind = 'cancel' | 'yield' | 'lost';

const KIND = mustBe.oneOf(['cancel', 'yield', 'lost'] satisfies AbortKind[]);

/**
 * The reason to pass to an `AbortController` when the abort is not a plain cancel.
 * @example controller.abort(new RunAbort('yield'));
 */
export class RunAbort extends HoldfastError {
  readonly kind: AbortKind;

  /** @throws RangeError `ARGUMENT_INVALID` for an unknown kind, because a misspelt kind would cancel. */
  constructor(kind: AbortKind, message = `The run was aborted (${kind}).`) {
    checkArgument('kind of RunAbort', kind, KIND);
    super('RUN_ABORTED', message, { data: { kind } });
    this.kind = kind;
  }
}

/** Thrown by a resumable tool that must wait: its call stays open with its progress, and the execution is suspended. */
export class CallSuspended extends Error {}

/** The kind of an abort; `undefined` before an abort. A reason that is not a `RunAbort` means `cancel`. */
export function abortKind(signal: AbortSignal): AbortKind | undefined {
  if (!signal.aborted) return undefined;
  if (!hasErrorCode(signal.reason, 'RUN_ABORTED')) return 'cancel';
  const { kind } = signal.reason as RunAbort;
  return kind === 'yield' || kind === 'lost' ? kind : 'cancel';
}

/** The message of the abort, from the caller's `RunAbort`. */
export function abortMessage({ reason }: AbortSignal): string {
  return hasErrorCode(reason, 'RUN_ABORTED') ? (reason as RunAbort).message : 'The run was aborted.';
}

const NEVER = Symbol('never');

/**
 * Creates a signal that never aborts. Each run creates its own, because Cloudflare Workers create no signal outside of
 * a request, and no request may use the signal of another one.
 */
export function neverSignal(): AbortSignal {
  return Object.assign(new AbortController().signal, { [NEVER]: true });
}

/** False for a signal of `neverSignal()`, which needs no listener. */
export function canAbort(signal: AbortSignal): boolean {
  return !(NEVER in signal);
}

/** A signal that aborts with either signal. */
export function eitherSignal(one: AbortSignal, other: AbortSignal): AbortSignal {
  if (!canAbort(one) || one === other) return other;
  return canAbort(other) ? AbortSignal.any([one, other]) : one;
}

/** Returns the promise, or a rejection with the signal's reason if the signal aborts first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (!canAbort(signal)) return promise;
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** A signal that follows another signal in part, until it is released. */
export interface HeldSignal {
  readonly signal: AbortSignal;
  release(): void;
}

/** The signal for tools: it aborts with the signal of the run, except on `yield`, when running tools may finish. */
export function holdOnYield(runSignal: AbortSignal): HeldSignal {
  if (!canAbort(runSignal)) return { signal: runSignal, release: () => undefined };
  const controller = new AbortController();
  const follow = (): void => {
    if (abortKind(runSignal) !== 'yield') controller.abort(runSignal.reason);
  };
  if (runSignal.aborted) follow();
  runSignal.addEventListener('abort', follow, { once: true });
  return { signal: controller.signal, release: () => runSignal.removeEventListener('abort', follow) };
}
