import type { Instant } from '../../clock.ts';
import type { AgentEventListener } from '../../loop/steps/events.ts';
import { momentsOfWaiting, type Waiting } from '../../state/values/waiting.ts';
import type { AgentSession } from '../session.ts';

/**
 * The outcome of some work on a session. It determines the next action of the engine.
 *
 * - `finished`: the session has no work left. The engine does nothing.
 * - `yield`: the session has more work now. The engine wakes it again.
 * - `sleep`: the engine wakes the session at the instant `until`.
 * - `throttled`: the provider of the lane accepts no calls before `until`. The engine wakes the session then, and starts no
 *   session of the lane before. The pause holds for all workers of a shared queue.
 * - `suspended`: the session waits for a wake-up, such as the one after an approval. The engine does nothing.
 * - `isolate`: the last worker of the session died, perhaps because of it, and this process works on other sessions. The
 *   engine advances the session again while the process works on no other session, or in a process of its own.
 * - `lost`: another worker holds the session. The engine wakes it at `until`, when the claim of that worker ends at the
 *   latest. Without `until` the engine does nothing.
 */
export type AdvanceOutcome =
  | { readonly type: 'finished' | 'yield' | 'suspended' | 'isolate' }
  | { readonly type: 'lost'; readonly until?: Instant }
  | { readonly type: 'sleep'; readonly until: Instant }
  | { readonly type: 'throttled'; readonly until: Instant; readonly lane: string };

/** How an engine orders and limits the work on a session. */
export interface Schedule {
  /** Sessions of one lane share limits, such as those of one provider. */
  readonly lane?: string | undefined;
  /** Sessions of a higher priority start first within their lane; default 0. */
  readonly priority?: number | undefined;
  /** Groups of equal priority take turns within their lane, such as the owners of the sessions. */
  readonly group?: string | undefined;
}

/** The result of some work on a session. */
export interface AdvanceResult {
  readonly outcome: AdvanceOutcome;
  /** Sessions that wait for this one: the engine wakes them. */
  readonly wake: readonly string[];
  /** The agent of the session, and the schedule of the next work. Absent when the session could not be read. */
  readonly next?: Schedule & { readonly agentName: string };
  /** True when the store does not have the session: it was deleted, or it belongs to another store. */
  readonly isMissing?: boolean | undefined;
  /** The steps that the work has closed, without those of subagents. For the metrics of the engine. */
  readonly steps?: number | undefined;
  /** The error that ended the work. The failure is recorded in the session; `outcome` states when the engine tries it again. */
  readonly error?: unknown;
}

/** The limits of some work on a session. */
export interface AdvanceOptions {
  /**
   * With a `RunAbort('yield')` as its reason, running tools finish, the session is saved, and the outcome is `yield`. The
   * engine aborts it when its worker stops, and when the worker has lost its lock on the session.
   */
  readonly signal?: AbortSignal | undefined;
  /** The steps before the outcome `yield`, a whole number from 1, without the steps of subagents. Default: no limit. */
  readonly maxSteps?: number | undefined;
  /**
   * When to work on a session whose last worker died. `alone` (default): while the runtime works on no other session.
   * `refuse`: never. In both cases the outcome is `isolate` otherwise.
   */
  readonly suspects?: 'alone' | 'refuse' | undefined;
  /**
   * The part of the session's schedule that the engine does not know: the lane, the group, or both. When the session has a
   * lane or a group that the engine does not know, there is no work. The outcome is `yield`, `next` has the schedule, and the
   * engine wakes the session by it. Otherwise the work starts. Default: the work starts in any case.
   */
  readonly route?: 'lane' | 'group' | 'lane-and-group' | undefined;
  /**
   * Receives the events of the run, after the `onEvent` of the runtime. It receives no events of an `IsolatedProcess`: pass
   * `onEvent` to the runtime of that process.
   */
  readonly onEvent?: AgentEventListener | undefined;
}

/** Works on a session: claims it, takes steps, saves and releases it. `SessionRuntime.advance` has this type. */
export type Advance = (sessionId: string, options?: AdvanceOptions) => Promise<AdvanceResult>;

/**
 * Wakes sessions and calls `advance` for them: a queue, a workflow engine, a loop in this process. A wake-up names only
 * the session; the work follows from the session's state. An engine must not lose a wake-up. It may repeat one.
 *
 * An engine advances a session in one worker at a time. Workers that share a queue therefore lock a session, renew the lock
 * during the advance, and end it afterwards. When a worker dies, its lock ends, and another worker advances the session.
 * A worker that was frozen can lose its lock during an advance. It then aborts the signal of the advance, follows the
 * result as usual, and leaves the lock of the next worker unchanged. The claims of the store ensure that the late advance
 * saves nothing.
 */
export interface ExecutionEngine {
  /**
   * Requests work on a session, now or at the instant `at`. When the promise resolves, the engine has stored the wake-up
   * where its workers look for it: if that storage survives a process, so does the wake-up. The engine may merge several
   * wake-ups of one session that are due. It keeps each later instant. A wake-up during an advance of the session leads to
   * another advance.
   */
  wake(sessionId: string, options?: WakeOptions): Promise<void>;
  /** Starts the engine. It works until the caller calls `stop`. */
  serve(advance: Advance, options?: ServeOptions): Promise<EngineWorker>;
}

/** The time and the order of the work on a session. */
export interface WakeOptions extends Schedule {
  /** The engine advances the session at this instant, or as soon as a worker serves after it. Default: now. */
  readonly at?: Instant | undefined;
}

/** The options of `serve`. */
export interface ServeOptions {
  /** The number of sessions that the engine works on at the same time; default 8. */
  readonly concurrency?: number | undefined;
  /**
   * Receives each error that `advance` threw or returned. After an error that it threw, the session stays due: a sweep
   * wakes it, or the engine after a pause. `sessionId` is `undefined` for an error of the engine's queue. The engine
   * continues when `onError` throws.
   */
  readonly onError?: ((error: unknown, sessionId: string | undefined) => void) | undefined;
  /**
   * Advances one session at a time in a process of its own, such as `advance` of an `IsolatedProcess`. The engine calls it
   * for sessions with the outcome `isolate`. Without it, the engine tries such a session while it works on no other.
   */
  readonly isolated?: Advance | undefined;
}

/** A started engine. */
export interface EngineWorker {
  /**
   * Starts no more work and makes the current work yield. Resolves when the work has yielded, or after `withinSeconds`. A
   * tool that still runs then ends with the process. The next worker treats its call as a call in doubt.
   */
  stop(options?: { readonly withinSeconds?: number | undefined }): Promise<void>;
}

/** Returns the outcome for a session, by its state. `lane`: the lane that a rate limit pauses. */
export function advanceOutcomeOf({ state, status }: AgentSession, lane?: string): AdvanceOutcome {
  const { execution } = state;
  if (status !== 'active' || execution === undefined || execution.isTerminal) return { type: 'finished' };
  if (execution.status !== 'suspended') return { type: 'yield' };
  const moments = execution.waiting.flatMap(momentsOfWaiting);
  if (moments.length === 0) return { type: 'suspended' };
  const until = Math.min(...moments);
  const isThrottled = execution.waiting.some((waiting) => isRateLimit(waiting) && waiting.until === until);
  return isThrottled && lane !== undefined ? { type: 'throttled', until, lane } : { type: 'sleep', until };
}

function isRateLimit(waiting: Waiting): waiting is Extract<Waiting, { readonly type: 'retry' }> {
  return waiting.type === 'retry' && waiting.error.code === 'DRIVER_RATE_LIMITED';
}
