import { checkArgument, mustBe } from '../../arguments.ts';
import type { Instant } from '../../clock.ts';
import type { AgentSession } from '../session.ts';
import type { SessionStore } from '../session-store.ts';

/**
 * What is to become of a session after some work on it. `finished`: nothing is left to do. `yield`: there is more to do
 * now. `sleep`: at that moment. `suspended`: it waits for a wake-up, such as an approval. `lost`: another worker has it.
 */
export type AdvanceOutcome =
  | { readonly type: 'finished' | 'yield' | 'suspended' | 'lost' }
  | { readonly type: 'sleep'; readonly until: Instant };

/** What came of some work on a session. */
export interface AdvanceResult {
  /** What is to become of it. */
  readonly outcome: AdvanceOutcome;
  /** Sessions that wait for this one. */
  readonly wake: readonly string[];
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
  /** Has a session looked at, now or at a moment. Kept when this resolves; wake-ups of one session may become one. */
  wake(sessionId: string, options?: { readonly at?: Instant | undefined }): Promise<void>;
  /** Begins to work, until it is stopped. */
  serve(advance: Advance, options?: { readonly concurrency?: number | undefined }): Promise<EngineWorker>;
}

/** An engine at work. */
export interface EngineWorker {
  /**
   * Takes no more work, has what is under way yield, and resolves when it has, or after so many seconds: what a tool does
   * then is left to the end of the process, and whoever takes over treats it as a call that a dead process left.
   */
  stop(options?: { readonly withinSeconds?: number | undefined }): Promise<void>;
}

/** What is to become of a session, by its state alone. */
export function advanceOutcomeOf({ state, status }: AgentSession): AdvanceOutcome {
  const { execution } = state;
  if (status !== 'active' || execution === undefined || execution.isTerminal) return { type: 'finished' };
  if (execution.status !== 'suspended') return { type: 'yield' };
  const moments = execution.waiting.flatMap((waiting) => (waiting.type === 'until' ? [waiting.until] : []));
  return moments.length === 0 ? { type: 'suspended' } : { type: 'sleep', until: Math.min(...moments) };
}

const STORE = mustBe.objectWith('a session store, as in sweep(store, engine)', ['due']);
const ENGINE = mustBe.objectWith('an engine with wake(), as in sweep(store, engine)', ['wake']);

/**
 * Wakes every session that is due: those whose wake-up was lost, and those of workers that died. Run it now and then,
 * anywhere. How many it woke.
 * @throws TypeError `ARGUMENT_INVALID` for what is not a store or an engine; what they throw.
 */
export async function sweep(store: SessionStore, engine: Pick<ExecutionEngine, 'wake'>): Promise<number> {
  checkArgument('store of sweep', store, STORE);
  checkArgument('engine of sweep', engine, ENGINE);
  let woken = 0;
  let cursor: string | undefined;
  do {
    const page = await store.due({ cursor, limit: 100 });
    for (const { sessionId } of page.sessions) await engine.wake(sessionId);
    woken += page.sessions.length;
    ({ cursor } = page);
  } while (cursor !== undefined);
  return woken;
}
