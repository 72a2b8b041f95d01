import { checkArgument, mustBe } from '../../arguments.ts';
import { hasErrorCode, HoldfastError } from '../../errors.ts';

/**
 * What an abort is to mean. `cancel`: the execution ends `stopped`. `yield`: the process must go (a deploy);
 * the execution stays `inProgress` and another process takes it up. `lost`: another process has it already;
 * nothing more is written.
 */
export type AbortKind = 'cancel' | 'yield' | 'lost';

const KIND = mustBe.oneOf(['cancel', 'yield', 'lost'] satisfies AbortKind[]);

/**
 * The reason to give to an `AbortController` when the abort is not a plain cancel.
 * @example controller.abort(new RunAbort('yield'));
 */
export class RunAbort extends HoldfastError {
  readonly kind: AbortKind;

  /** @throws RangeError `ARGUMENT_INVALID` for an unknown kind: a word that is misspelt would cancel. */
  constructor(kind: AbortKind, message = `The run was aborted (${kind}).`) {
    checkArgument('kind of RunAbort', kind, KIND);
    super('RUN_ABORTED', message, { data: { kind } });
    this.kind = kind;
  }
}

/** Thrown by a resumable tool that waits for somebody: its call stays as it is, with its progress, and the run waits too. */
export class CallSuspended extends Error {}

/** What the abort means; `undefined` while there is none. A reason that is not a `RunAbort` means `cancel`. */
export function abortKind(signal: AbortSignal): AbortKind | undefined {
  if (!signal.aborted) return undefined;
  if (!hasErrorCode(signal.reason, 'RUN_ABORTED')) return 'cancel';
  const { kind } = signal.reason as RunAbort;
  return kind === 'yield' || kind === 'lost' ? kind : 'cancel';
}

/** Why the run was aborted, as the one who aborted it said. */
export function abortMessage({ reason }: AbortSignal): string {
  return hasErrorCode(reason, 'RUN_ABORTED') ? (reason as RunAbort).message : 'The run was aborted.';
}

/** The mark of a signal that never aborts. */
const NEVER = Symbol('never');

/**
 * Creates a signal that never aborts. Each run creates its own: Cloudflare Workers create no signal outside of a request,
 * and no request may use the signal of another one.
 */
export function neverSignal(): AbortSignal {
  return Object.assign(new AbortController().signal, { [NEVER]: true });
}

/** False for a signal of `neverSignal()`: nobody needs to listen to it. */
export function canAbort(signal: AbortSignal): boolean {
  return !(NEVER in signal);
}

/** The promise, or a rejection with the signal's reason if that comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (!canAbort(signal)) return promise;
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** A signal that follows another in part, until it is released. */
export interface HeldSignal {
  readonly signal: AbortSignal;
  release(): void;
}

/** A signal for tools: it aborts as the run's does, except for `yield`, in which running tools may finish. */
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
