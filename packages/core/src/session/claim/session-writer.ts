import { pause, type Clock, type Instant } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import { backoff, jitterOf } from '../../backoff.ts';
import { isUnreachable, StoreClosedError, type SessionConflictError } from '../session-errors.ts';
import { callHookAfterWrite, type SessionEvent, type SessionHooks } from '../session-events.ts';
import type { AgentSession } from '../session.ts';
import type { SaveOptions, SessionStore } from '../session-store.ts';
import type { ClaimedSession, InboxItemRef } from '../session-claim.ts';

export interface SaveParts {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly report: (event: SessionEvent) => void;
}

/** The parts of a runtime that the saves under a claim need. */
export interface WriterParts extends SaveParts {
  readonly hooks: SessionHooks;
}

/** The claim under which a save is repeated until its lease ends. */
export interface SaveLease {
  /** When the lease ends, by the clock of this process. */
  endsAt(): Instant;
  /** Returns the error after which another worker may have the session; `undefined` before. */
  failure(): { readonly error: unknown } | undefined;
}

/** The number of attempts at a save without a lease, and the least number under one. */
const ATTEMPTS = 3;
/** The pauses between two attempts. Jitter makes them shorter. */
const PAUSES_MS = { first: 100, longest: 2_000 };

type Options = SaveOptions & { readonly operationId: string };

/** Does the saves under one claim, each based on the save before. */
export class SessionWriter {
  /** The session as the store last returned it. */
  base: AgentSession;
  private readonly epoch: number;
  private readonly parts: WriterParts;
  /** A save that may have been done: the store did not reply. */
  private ambiguousSave: { readonly session: AgentSession; readonly options: Options } | undefined;

  constructor({ session, claim }: ClaimedSession, parts: WriterParts) {
    this.base = session;
    this.epoch = claim.epoch;
    this.parts = parts;
  }

  /**
   * Saves a session. It first repeats an ambiguous save, under the operation id of that save: a save that was done must
   * not look like the save of another writer. When the repeated save succeeds, its `afterSave` hook is called.
   * @throws the error of the store at the last attempt.
   */
  async write(
    session: AgentSession,
    acknowledge: readonly InboxItemRef[],
    lease?: SaveLease,
    checkpoint?: string,
  ): Promise<AgentSession> {
    const { ambiguousSave } = this;
    if (ambiguousSave) {
      const settled = await this.settle(ambiguousSave.session, ambiguousSave.options, lease);
      await callHookAfterWrite(this.parts, 'afterSave', settled);
    }
    const { revision, updatedAt } = this.base;
    const next = ambiguousSave ? session.basedOn(revision, updatedAt) : session;
    const operationId = this.parts.clock.newId();
    const options = { base: this.base, operationId, epoch: this.epoch, acknowledge, checkpoint };
    return this.settle(next, options, lease);
  }

  private async settle(session: AgentSession, options: Options, lease?: SaveLease): Promise<AgentSession> {
    try {
      this.base = await saveSession(session, options, this.parts, lease);
      this.ambiguousSave = undefined;
      return this.base;
    } catch (error) {
      this.ambiguousSave = isUnreachable(error) ? { session, options } : undefined;
      throw error;
    }
  }
}

/**
 * Saves a session and reports the result. While the store is unavailable or throttled, it repeats the save under the
 * same operation id: three attempts in all, and under a lease until the lease ends that was valid at the first failure.
 * Until then no other worker can have the session, and only this process knows what to save.
 * @throws the error of the last attempt, or the error after which another worker may have the session.
 */
export async function saveSession(
  session: AgentSession,
  options: Options,
  parts: SaveParts,
  lease?: SaveLease,
): Promise<AgentSession> {
  const { clock } = parts;
  let window: { readonly from: Instant; readonly to: Instant } | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptSave(session, options, parts);
    } catch (error) {
      if (!isUnreachable(error) || error instanceof StoreClosedError) throw error;
      const now = clock.now();
      window ??= { from: now, to: lease?.endsAt() ?? now };
      const delay = backoff(PAUSES_MS, attempt) * jitterOf(options.operationId, attempt);
      const isLeaseOver = now < window.from || now + delay >= window.to; // the clock may have gone back
      if (isLeaseOver && attempt >= ATTEMPTS) throw error;
      await pause(clock, delay);
      const failure = lease?.failure();
      if (failure) throw failure.error as Error;
    }
  }
}

async function attemptSave(
  session: AgentSession,
  options: Options,
  { store, report }: SaveParts,
): Promise<AgentSession> {
  try {
    const saved = await store.save(session, options);
    report({ type: 'session-saved', session: saved });
    return saved;
  } catch (error) {
    if (hasErrorCode(error, 'SESSION_CONFLICT'))
      report({ type: 'session-conflict', session, error: error as SessionConflictError });
    throw error;
  }
}
