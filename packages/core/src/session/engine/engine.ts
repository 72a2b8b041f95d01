import type { Instant } from '../../clock.ts';
import type { Waiting } from '../../state/execution/waiting.ts';
import { momentsOfWaiting } from '../../state/execution/waiting.ts';
import type { AgentSession } from '../session.ts';

/**
 * What the engine does with a session after some work on it.
 *
 * - `finished`: nothing. The session has no work left.
 * - `yield`: wakes it again. The session has more work now.
 * - `sleep`: wakes it at the moment `until`.
 * - `throttled`: the same, and starts no other session of the lane before: a provider takes no more calls.
 * - `suspended`: nothing. The session waits for a wake-up, such as the one after an approval.
 * - `lost`: wakes it at `until`, when the claim of the other worker ends at the latest; nothing without `until`.
 */
export type AdvanceOutcome =
  | { readonly type: 'finished' | 'yield' | 'suspended' }
  | { readonly type: 'lost'; readonly until?: Instant }
  | { readonly type: 'sleep'; readonly until: Instant }
  | { readonly type: 'throttled'; readonly until: Instant; readonly lane: string };

/** How an engine orders and limits the work on a session. */
export interface Schedule {
  /** Sessions of one lane share limits, such as those of one provider. */
  readonly lane?: string | undefined;
  /** Sessions of a higher priority start first within their lane; default 0. */
  readonly priority?: number | undefined;
}

/** The result of some work on a session. */
export interface AdvanceResult {
  readonly outcome: AdvanceOutcome;
  /** Sessions that wait for this one: the engine wakes them. */
  readonly wake: readonly string[];
  /** The agent of the session, and how to order the work that comes next. Absent when the session could not be read. */
  readonly next?: Schedule & { readonly agentName: string };
  /** The error that ended the work. The session has a failure recorded, and `outcome` says when it is tried again. */
  readonly error?: unknown;
}

/** How long to work on a session. */
export interface AdvanceOptions {
  /** A `RunAbort('yield')` as its reason lets tools end, saves, and answers `yield`. */
  readonly signal?: AbortSignal | undefined;
  /** Steps to take before it answers `yield`, a whole number from 1; those of subagents do not count. No limit when absent. */
  readonly maxSteps?: number | undefined;
}

/** Works on a session: claims, steps, saves, releases. `SessionRuntime.advance` is one. */
export type Advance = (sessionId: string, options?: AdvanceOptions) => Promise<AdvanceResult>;

/**
 * Sees to it that sessions are worked on: a queue, a workflow engine, a loop in this process. A wake-up says only "look
 * at this session": what to do follows from its state. An engine may lose nothing but may wake too often.
 */
export interface ExecutionEngine {
  /**
   * Has a session worked on, now or at the moment `at`. The wake-up is kept when this resolves. Several wake-ups of one
   * session may become one.
   */
  wake(sessionId: string, options?: WakeOptions): Promise<void>;
  /** Begins to work, until it is stopped. */
  serve(advance: Advance, options?: ServeOptions): Promise<EngineWorker>;
}

/** When and in which order a session is worked on. */
export interface WakeOptions extends Schedule {
  readonly at?: Instant | undefined;
}

/** How an engine works. */
export interface ServeOptions {
  /** How many sessions are worked on at the same time. */
  readonly concurrency?: number | undefined;
  /** Receives each error that `advance` threw or returned. The session stays due. */
  readonly onError?: ((error: unknown, sessionId: string) => void) | undefined;
}

/** An engine at work. */
export interface EngineWorker {
  /**
   * Takes no more work, has what is under way yield, and resolves when it has, or after so many seconds: what a tool does
   * then is left to the end of the process, and whoever takes over treats it as a call that a dead process left.
   */
  stop(options?: { readonly withinSeconds?: number | undefined }): Promise<void>;
}

/** The outcome for a session, by its state. `lane`: the lane that a rate limit holds up. */
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
