import { shortened } from './failures.ts';
import type { Closable } from './harness.ts';
import { watched } from './watched.ts';

/** The real timers, also when a test runner replaces the global ones later. */
const setTimeout = globalThis.setTimeout;
const clearTimeout = globalThis.clearTimeout;

/** The number of seconds that an unfinished case waits at most until its subjects are closed. */
const CLOSING_SECONDS = 5;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const ADVICE =
  'Look for a promise that never resolves, a connection that is not returned to its pool, and a lock that is not ' +
  'released. If the storage or the machine is slow, set limitSeconds of the harness.';

/**
 * Runs a case, and closes what it has created.
 * @throws Error when the case fails, or is unfinished after this number of seconds
 */
export async function runCase<T>(
  name: string,
  limitSeconds: number,
  act: (run: CaseRun) => Promise<T>,
): Promise<T> {
  const run = new CaseRun();
  const work = closingAfter(act(run), run);
  if (await isSettledWithin(limitSeconds, work)) return work;
  const message = `"${name}" is unfinished after ${limitSeconds} seconds, ${run.progress()}. ${ADVICE}`;
  await isSettledWithin(Math.min(limitSeconds, CLOSING_SECONDS), run.close());
  throw new Error(message);
}

/** Closes the subjects of a case after its work. Rejects with the error of the work, or else of the closing. */
async function closingAfter<T>(work: Promise<T>, run: CaseRun): Promise<T> {
  const [worked] = await Promise.allSettled([work]);
  const [closed] = await Promise.allSettled([run.close()]);
  if (worked.status === 'rejected') throw shortened(worked.reason);
  if (closed.status === 'rejected') throw closed.reason;
  return worked.value;
}

/** One run of a case. It knows the operations in progress, and closes what the harness has created. */
export class CaseRun {
  private readonly operations = new Set<{ readonly name: string }>();
  private readonly closings: (() => Promise<void>)[] = [];
  private isClosed = false;

  /**
   * Wraps a function of the harness that creates subjects, so that the run watches and closes them.
   * @param name the name of the function in the harness
   * @param kind the member of a created object that holds the subject
   * @param results the names of subjects that operations return, by the name of the operation
   */
  creating<Kind extends string, Args extends unknown[], Created extends Closable & Record<Kind, object>>(
    name: string,
    kind: Kind,
    create: (...args: Args) => Promise<Created>,
    results: Readonly<Record<string, string>> = {},
  ): (...args: Args) => Promise<Created> {
    return async (...args) => {
      const created = await this.during(`harness.${name}`, create(...args));
      const close = once(() => this.during(`close of the ${kind}`, created.close()));
      this.onClose(close);
      const during = this.during.bind(this);
      return { ...created, [kind]: watched(created[kind], kind, { during, results }), close };
    };
  }

  /** Calls a function when the run closes its subjects, or at once if the run has closed them. */
  onClose(act: () => Promise<void>): void {
    this.closings.push(act);
    if (this.isClosed) void act().catch(() => undefined); // the case has failed before
  }

  /** Closes the subjects, the last one first. A failing `close` does not keep the other subjects open. */
  async close(): Promise<void> {
    this.isClosed = true;
    const errors: unknown[] = [];
    for (const close of this.closings.toReversed()) await close().catch((error) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  }

  /** Describes the operations in progress. */
  progress(): string {
    const names = new Set([...this.operations].map(({ name }) => name));
    return names.size > 0 ? `during ${[...names].join(', ')}` : 'between operations of its subject';
  }

  /** Awaits the result of an operation, which `progress` names until then. */
  async during<T>(name: string, result: T | PromiseLike<T>): Promise<T> {
    const operation = { name };
    this.operations.add(operation);
    try {
      return await result;
    } finally {
      this.operations.delete(operation);
    }
  }
}

function once(act: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= act());
}

/**
 * Returns whether the work settles within this number of seconds. The timer runs as long as the case: without it, a
 * process with no other work would end before the limit, without a message.
 */
async function isSettledWithin(seconds: number, work: Promise<unknown>): Promise<boolean> {
  const limit = Promise.withResolvers<boolean>();
  const milliseconds = Math.min(seconds * 1_000, MAX_TIMEOUT_MS);
  const timer = setTimeout(() => limit.resolve(false), milliseconds);
  const settled = work.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, limit.promise]).finally(() => clearTimeout(timer));
}
