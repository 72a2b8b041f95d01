import {
  hasErrorCode,
  pendingApprovals,
  pendingQuestions,
  retry,
  type InboxContent,
  type SessionRuntime,
  type SessionStore,
} from '@holdfast/core';
import { answerTo } from './agent.ts';
import type { Faults } from './faults.ts';
import type { Journal } from './journal.ts';
import { failuresOf } from './watched-store.ts';

/** The sessions, and the runtime with which people decide. */
export interface PeopleParts {
  readonly store: SessionStore;
  readonly runtime: SessionRuntime;
  readonly journal: Journal;
  /** The faults of a session. Default: nothing happens. */
  readonly faultsOf?: ((sessionId: string) => Faults) | undefined;
  /** Wakes a session with a new item. Default: the session waits for a sweep. */
  readonly wake?: ((sessionId: string) => Promise<void>) | undefined;
}

/** The people who approve calls, answer questions and retry calls of the model. */
export class People {
  private readonly parts: PeopleParts;

  constructor(parts: PeopleParts) {
    this.parts = parts;
  }

  /** Reacts to every session that waits for a person. Returns the number of these sessions. */
  async attend(): Promise<number> {
    const { store } = this.parts;
    const approvals = await store.list({ waitingFor: 'approval', limit: 100 });
    const questions = await store.list({ waitingFor: 'answer', limit: 100 });
    const asking = [...approvals.sessions, ...questions.sessions];
    for (const { sessionId } of asking) await this.decide(sessionId);
    const { sessions: failing } = await store.list({ waitingFor: 'retry', limit: 100 });
    for (const { sessionId } of failing) await this.revive(sessionId);
    return asking.length + failing.length;
  }

  /** Approves or answers every waiting call: each request once, however many processes try. */
  async decide(sessionId: string): Promise<void> {
    const { state } = await this.parts.runtime.get(sessionId);
    for (const { id, approval } of pendingApprovals(state)) {
      const { requestedAt = 0 } = approval ?? {};
      const decision = { type: 'decision', toolExecutionId: id, decision: 'approved', requestedAt } as const;
      await this.enqueue(sessionId, decision, `${id}@${requestedAt}`);
    }
    for (const { id, call } of pendingQuestions(state)) {
      const value = answerTo(call);
      await this.enqueue(sessionId, { type: 'answer', toolExecutionId: id, value }, `${id} answered`);
    }
  }

  /**
   * Retries a call that waits for a person: by an item or by the action, as the outage demands. Returns false when no call
   * waits for a person.
   */
  async revive(sessionId: string): Promise<boolean> {
    const { runtime, journal, faultsOf } = this.parts;
    const faults = faultsOf?.(sessionId);
    const session = await runtime.get(sessionId);
    const failure = session.state.currentStep?.pendingRetry;
    if (failure === undefined || failure.retryAt !== undefined) return false;
    journal.write({ type: 'retried', sessionId, epoch: 0, failures: failuresOf(session) });
    await faults?.reach('before-retry');
    if (failure.error.code === 'DRIVER_AUTHENTICATION') await this.executeRetry(sessionId);
    else await this.enqueue(sessionId, { type: 'retry' }, `retry@${failure.at}`);
    await faults?.reach('after-retry');
    return true;
  }

  /** Executes `retry()`, unless a worker has claimed the session: before, or while this process was frozen. */
  private async executeRetry(sessionId: string): Promise<void> {
    const { runtime, wake } = this.parts;
    try {
      await runtime.execute(sessionId, retry(), { steps: wake ? 'later' : 'here' });
      await wake?.(sessionId);
    } catch (error) {
      if (!hasErrorCode(error, 'SESSION_BUSY') && !hasErrorCode(error, 'SESSION_CONFLICT')) throw error;
    }
  }

  private async enqueue(sessionId: string, content: InboxContent, id: string): Promise<void> {
    const isNew = await this.parts.runtime.enqueue(sessionId, content, { id });
    if (isNew) await this.parts.wake?.(sessionId);
  }
}
