import { systemClock } from '../../clock.ts';
import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { isUnreadableError } from '../session-errors.ts';
import type { DuePage, DueSession, SessionDirectory } from '../session-directory.ts';
import type { ExecutionEngine } from './engine.ts';
import { UnreadablePauses } from './unreadable-pauses.ts';

/** How a sweep looks for sessions. */
export interface SweepOptions {
  /** Wakes only sessions that have been due for so many seconds; default 0. */
  readonly dueForSeconds?: number | undefined;
  /**
   * Seconds in which no sweep wakes the same session again, unless a worker claims or saves it; default 60. For an unreadable
   * session, the first pause of the sweeps of this process, which doubles up to an hour.
   */
  readonly againAfterSeconds?: number | undefined;
  /** How many sessions to wake at most, without unreadable ones; default no limit. */
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
  /** Sessions that this release cannot read, among those woken: the worker that gets one reports the error. */
  readonly unreadable: number;
}

export const DIRECTORY = mustBe.objectWith('a session store of all owners, with due() and takeDue()', [
  'due',
  'takeDue',
]);
const USE = 'as in sweep(store, engine)';
const STORE = { ...DIRECTORY, expected: `${DIRECTORY.expected}, ${USE}` };
const ENGINE = mustBe.objectWith(`an engine with wake(), ${USE}`, ['wake']);
const checkOptions = optionsCheck<SweepOptions>('sweep', {
  dueForSeconds: mustBe.number(0, Number.MAX_VALUE),
  againAfterSeconds: mustBe.seconds,
  limit: mustBe.wholeNumber(1),
  signal: mustBe.signal,
});

/** The pauses of unreadable sessions, by engine. */
const pausesOf = new WeakMap<object, UnreadablePauses>();

/** The sweeps in progress, by engine and store. */
const inProgress = new WeakMap<object, Map<SessionDirectory, Promise<SweepResult>>>();

/**
 * Wakes the sessions that are due: those whose wake-up was lost, and those of workers that died. Run it when a process
 * starts, and then every minute or so, in any number of processes: of several sweeps, one wakes a session. A call during a
 * sweep of the same store and engine returns the result of that sweep.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit; the errors of the
 * store and the engine.
 */
export async function sweep(
  store: SessionDirectory,
  engine: Pick<ExecutionEngine, 'wake'>,
  options: SweepOptions = {},
): Promise<SweepResult> {
  checkArgument('store of sweep', store, STORE);
  checkArgument('engine of sweep', engine, ENGINE);
  checkOptions(options);
  const sweeps = inProgress.get(engine) ?? new Map<SessionDirectory, Promise<SweepResult>>();
  inProgress.set(engine, sweeps);
  const running = sweeps.get(store);
  if (running) return running;
  const started = sweepOnce(store, engine, options).finally(() => sweeps.delete(store));
  sweeps.set(store, started);
  return started;
}

async function sweepOnce(
  store: SessionDirectory,
  engine: Pick<ExecutionEngine, 'wake'>,
  options: SweepOptions,
): Promise<SweepResult> {
  const { limit = Infinity, againAfterSeconds = 60, signal } = options;
  const result = { woken: 0, skipped: 0, unreadable: 0 };
  const pauses = pausesOf.get(engine) ?? new UnreadablePauses();
  pausesOf.set(engine, pauses);
  const wakeUnreadable = async (sessionId: string): Promise<void> => {
    const now = systemClock.now();
    if (pauses.isPaused(sessionId, now)) return;
    pauses.begin(sessionId, now, againAfterSeconds);
    await engine.wake(sessionId);
    result.unreadable++;
  };
  const isOver = (): boolean => signal?.aborted === true || result.woken >= limit;
  for await (const page of duePages(store, options)) {
    for (const { sessionId } of page.unreadable) if (!isOver()) await wakeUnreadable(sessionId);
    for (const due of page.sessions) {
      if (isOver()) break;
      const taken = await takeSession(store, due, againAfterSeconds);
      if (taken === 'unreadable') await wakeUnreadable(due.sessionId);
      else if (taken) {
        await engine.wake(due.sessionId);
        result.woken++;
      } else result.skipped++;
    }
    if (isOver()) break;
  }
  return { ...result, woken: result.woken + result.unreadable };
}

async function* duePages(
  store: SessionDirectory,
  { dueForSeconds = 0 }: SweepOptions,
): AsyncGenerator<DuePage, undefined> {
  let cursor: string | undefined;
  do {
    const page = await store.due({ cursor, limit: 100, dueForSeconds });
    yield page;
    ({ cursor } = page);
  } while (cursor !== undefined);
}

/** Takes a due session. No caller can take an unreadable one. */
export async function takeSession(
  store: SessionDirectory,
  due: DueSession,
  seconds: number,
): Promise<boolean | 'unreadable'> {
  try {
    return await store.takeDue(due, seconds);
  } catch (error) {
    if (isUnreadableError(error)) return 'unreadable';
    throw error;
  }
}
