import {
  AgentSession,
  hasErrorCode,
  RunAbort,
  SessionConflictError,
  type Clock,
  type Instant,
  type SessionBusyError,
  type SessionStore,
} from '@holdfast/core';
import {
  callAfter,
  type Advance,
  type AdvanceOptions,
  type AdvanceResult,
  type ExecutionEngine,
} from '@holdfast/core/engine';

type Claimed = Awaited<ReturnType<SessionStore['claim']>>;
type Waitings = NonNullable<Parameters<AgentSession['state']['withExecutionStatus']>[2]>;

/** A session whose advance threw is due again after this time. */
const FAILURE_PAUSE = 60_000;
const INPUT: Waitings = [{ type: 'input' }];

/** A lease of a case that waits until it ends. */
export const SHORT_LEASE_SECONDS = 2;

/**
 * Makes the sessions of the engine cases real: a wake-up is an inbox item, an instant is what the execution waits for, an
 * advance claims the session, and its result is saved. It does with an advance of a case what `SessionRuntime` does with
 * the work on a session.
 */
export class ScriptedSessions {
  private readonly store: SessionStore;
  private readonly clock: Clock;
  private readonly leaseSeconds: number;
  private readonly suspects = new Set<string>();

  constructor(store: SessionStore, clock: Clock, leaseSeconds: number) {
    this.store = store;
    this.clock = clock;
    this.leaseSeconds = leaseSeconds;
  }

  /** An engine for the cases, on an engine for the store of these sessions. */
  on(engine: ExecutionEngine): ExecutionEngine {
    return {
      wake: async (sessionId, options = {}) => {
        await this.enqueue(sessionId, options.at);
        await engine.wake(sessionId, options);
      },
      serve: (advance, options = {}) => {
        const { isolated } = options;
        return engine.serve(this.advanceBy(advance), {
          ...options,
          isolated: isolated && this.advanceBy(isolated),
        });
      },
    };
  }

  /** Makes a session due. An item with an instant makes its next advance wait for it. */
  private async enqueue(sessionId: string, at?: Instant): Promise<void> {
    const item = { id: crypto.randomUUID(), content: { at: at ?? null } };
    await this.store.enqueue(sessionId, item).catch(async (error: unknown) => {
      if (!hasErrorCode(error, 'SESSION_NOT_FOUND')) throw error;
      const definition = { name: 'scripted' };
      const session = AgentSession.create({ sessionId, definition, clock: this.clock });
      await this.store.create(session).catch(ignoreConflict);
      await this.store.enqueue(sessionId, item);
    });
  }

  private advanceBy(advance: Advance): Advance {
    return async (sessionId, options = {}) => {
      if (this.suspects.has(sessionId) && options.suspects === 'refuse') return resultOf('isolate');
      const workerId = crypto.randomUUID();
      const { leaseSeconds } = this;
      const claimed = await this.store.claim(sessionId, { workerId, leaseSeconds }).catch(untilFree);
      return 'until' in claimed
        ? { outcome: { type: 'lost', ...claimed }, wake: [] }
        : this.workOn(claimed, advance, options);
    };
  }

  private async workOn(claimed: Claimed, advance: Advance, options: AdvanceOptions): Promise<AdvanceResult> {
    const { session, claim, inbox } = claimed;
    const now = this.clock.now();
    const instants = [...instantsOf(session), ...inbox.map(instantOf)];
    const later = instants.filter((at) => at > now);
    const isDue = later.length < instants.length || session.state.execution?.status === 'inProgress';
    try {
      if (!isDue) return await this.save(claimed, later, asleep(later));
      const result = await this.whileClaimed(claimed, options, (held) => advance(session.sessionId, held));
      for (const other of result.wake) await this.enqueue(other);
      const saved = await this.save(claimed, later, result);
      const isReleased = await this.store.release(claim, { onlyIfIdle: true });
      return isReleased || result.outcome.type === 'isolate'
        ? saved
        : { ...saved, outcome: { type: 'yield' } };
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_CONFLICT')) return resultOf('lost');
      await this.save(claimed, [...later, now + FAILURE_PAUSE], resultOf('suspended')).catch(ignoreConflict);
      throw error;
    } finally {
      await this.store.release(claim);
    }
  }

  /** Renews the claim during the work, and aborts the work when another worker has the session. */
  private async whileClaimed(
    { claim }: Claimed,
    options: AdvanceOptions,
    work: (options: AdvanceOptions) => Promise<AdvanceResult>,
  ): Promise<AdvanceResult> {
    const lost = new AbortController();
    const { signal = lost.signal } = options;
    const { leaseSeconds } = this;
    const renewLater = () => callAfter(this.clock, leaseSeconds * 250, renew);
    const renew = (): void => {
      cancel = renewLater();
      this.store.renew(claim, { leaseSeconds }).catch(() => lost.abort(new RunAbort('yield')));
    };
    let cancel = renewLater();
    try {
      return await work({ ...options, signal: AbortSignal.any([signal, lost.signal]) });
    } finally {
      cancel();
    }
  }

  /** Saves what the result requires, so that the store shows the session when it is due. */
  private async save(
    claimed: Claimed,
    later: readonly Instant[],
    result: AdvanceResult,
  ): Promise<AdvanceResult> {
    const { session, claim, inbox } = claimed;
    const { outcome } = result;
    if (outcome.type === 'isolate') this.suspects.add(session.sessionId);
    else this.suspects.delete(session.sessionId);
    if (outcome.type === 'isolate') return result; // the items stay: the session was not worked on
    const until = 'until' in outcome && outcome.until !== undefined ? [Math.trunc(outcome.until)] : [];
    const waiting = [...new Set([...later, ...until])].map((at) => ({ type: 'until' as const, until: at }));
    const running = session.state.withExecutionStarted(this.clock.now());
    const state =
      outcome.type === 'yield'
        ? running
        : running.withExecutionStatus('suspended', this.clock.now(), waiting.length > 0 ? waiting : INPUT);
    await this.store.save(session.withState(state), { epoch: claim.epoch, acknowledge: inbox });
    return result;
  }
}

const resultOf = (type: 'isolate' | 'lost' | 'suspended'): AdvanceResult => ({ outcome: { type }, wake: [] });

const asleep = (later: readonly Instant[]): AdvanceResult =>
  later.length === 0
    ? resultOf('suspended')
    : { outcome: { type: 'sleep', until: Math.min(...later) }, wake: [] };

/** The instants that the execution waits for. */
function instantsOf({ state }: AgentSession): readonly Instant[] {
  return (state.execution?.waiting ?? []).flatMap((one) => (one.type === 'until' ? [one.until] : []));
}

/** The instant of an item; the beginning of time for a wake-up without one. */
const instantOf = ({ content }: Claimed['inbox'][number]): Instant =>
  Math.trunc((content as { readonly at: Instant | null }).at ?? 0);

function untilFree(error: unknown): { readonly until: Instant } {
  if (hasErrorCode(error, 'SESSION_BUSY')) return { until: (error as SessionBusyError).until };
  throw error;
}

function ignoreConflict(error: unknown): void {
  if (!(error instanceof SessionConflictError)) throw error;
}
