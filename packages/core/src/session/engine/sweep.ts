import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { hasErrorCode } from '../../errors.ts';
import type { DueSession, SessionStore } from '../session-store.ts';
import type { ExecutionEngine } from './engine.ts';

/** How a sweep looks for sessions. */
export interface SweepOptions {
  /** Wakes only sessions that have been due for so many seconds; default 0. */
  readonly dueForSeconds?: number | undefined;
  /** Seconds in which no sweep wakes the same session again, unless a worker claims or saves it; default 60. */
  readonly againAfterSeconds?: number | undefined;
  /** How many sessions to wake at most; default no limit. */
  readonly limit?: number | undefined;
  /** Ends the sweep before the next session. */
  readonly signal?: AbortSignal | undefined;
}

/** The sessions that a sweep found. */
export interface SweepResult {
  /** Sessions that this sweep woke. */
  readonly woken: number;
  /** Sessions that another sweep woke first, or that are not due any more. */
  readonly skipped: number;
  /** Sessions that this release cannot read, among those woken: their workers report the error. */
  readonly unreadable: number;
}

const STORE = mustBe.objectWith('a session store, as in sweep(store, engine)', ['due', 'takeDue']);
const ENGINE = mustBe.objectWith('an engine with wake(), as in sweep(store, engine)', ['wake']);
const checkOptions = optionsCheck<SweepOptions>('sweep', {
  dueForSeconds: mustBe.number(0, Number.MAX_VALUE),
  againAfterSeconds: mustBe.seconds,
  limit: mustBe.wholeNumber(1),
  signal: mustBe.signal,
});

/** The sweeps in progress, by engine and store. */
const inProgress = new WeakMap<object, Map<SessionStore, Promise<SweepResult>>>();

/**
 * Wakes the sessions that are due: those whose wake-up was lost, and those of workers that died. Run it when a process
 * starts, and then every minute or so, in any number of processes: of several sweeps, one wakes a session. A call during a
 * sweep of the same store and engine returns the result of that sweep.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit; the errors of the
 * store and the engine.
 */
export async function sweep(
  store: SessionStore,
  engine: Pick<ExecutionEngine, 'wake'>,
  options: SweepOptions = {},
): Promise<SweepResult> {
  checkArgument('store of sweep', store, STORE);
  checkArgument('engine of sweep', engine, ENGINE);
  checkOptions(options);
  const sweeps = inProgress.get(engine) ?? new Map<SessionStore, Promise<SweepResult>>();
  inProgress.set(engine, sweeps);
  const running = sweeps.get(store);
  if (running) return running;
  const started = sweepOnce(store, engine, options).finally(() => sweeps.delete(store));
  sweeps.set(store, started);
  return started;
}

async function sweepOnce(
  store: SessionStore,
  engine: Pick<ExecutionEngine, 'wake'>,
  options: SweepOptions,
): Promise<SweepResult> {
  const { limit = Infinity, againAfterSeconds = 60, signal } = options;
  const result = { woken: 0, skipped: 0, unreadable: 0 };
  for await (const due of dueSessions(store, options)) {
    if (signal?.aborted || result.woken >= limit) break;
    const taken = await takeSession(store, due, againAfterSeconds);
    if (taken === 'unreadable') result.unreadable++;
    if (taken === false) result.skipped++;
    else {
      await engine.wake(due.sessionId);
      result.woken++;
    }
  }
  return result;
}

async function* dueSessions(
  store: SessionStore,
  { dueForSeconds = 0 }: SweepOptions,
): AsyncGenerator<DueSession, undefined> {
  let cursor: string | undefined;
  do {
    const page = await store.due({ cursor, limit: 100, dueForSeconds });
    yield* page.sessions;
    ({ cursor } = page);
  } while (cursor !== undefined);
}

/** Takes a due session. No caller can take an unreadable one: each wakes it, and its worker reports the error. */
export async function takeSession(
  store: SessionStore,
  due: DueSession,
  seconds: number,
): Promise<boolean | 'unreadable'> {
  try {
    return await store.takeDue(due, seconds);
  } catch (error) {
    if (hasErrorCode(error, 'STATE_FORMAT') || hasErrorCode(error, 'STATE_VERSION')) return 'unreadable';
    throw error;
  }
}
