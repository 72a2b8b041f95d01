import type { Clock } from '../../clock.ts';
import { pause } from '../../clock.ts';
import { hasErrorCode } from '../../errors.ts';
import type { SessionConflictError } from '../session-errors.ts';
import { isUnreachable } from '../session-errors.ts';
import type { SessionEvent, SessionHooks } from './session-events.ts';
import { callHookAfterWrite } from './session-events.ts';
import type { AgentSession } from '../session.ts';
import type { ClaimedSession, InboxItemRef, SaveOptions, SessionStore } from '../session-store.ts';

interface WriteParts {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly report: (event: SessionEvent) => void;
}

interface WriterParts extends WriteParts {
  readonly hooks: SessionHooks;
}

const ATTEMPTS = 3;

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
  async write(session: AgentSession, acknowledge: readonly InboxItemRef[]): Promise<AgentSession> {
    const { ambiguousSave } = this;
    if (ambiguousSave) {
      const settled = await this.settle(ambiguousSave.session, ambiguousSave.options);
      await callHookAfterWrite(this.parts, 'afterSave', settled);
    }
    const { revision, updatedAt } = this.base;
    const next = ambiguousSave ? session.withRevision(revision, updatedAt) : session;
    const operationId = this.parts.clock.newId();
    return this.settle(next, { base: this.base, operationId, epoch: this.epoch, acknowledge });
  }

  private async settle(session: AgentSession, options: Options): Promise<AgentSession> {
    try {
      this.base = await writeSession(session, options, this.parts);
      this.ambiguousSave = undefined;
      return this.base;
    } catch (error) {
      this.ambiguousSave = isUnreachable(error) ? { session, options } : undefined;
      throw error;
    }
  }
}

/**
 * Saves a session and reports the result. While the store does not reply, it repeats the save under the same operation
 * id.
 * @throws the error of the store at the last attempt.
 */
export async function writeSession(
  session: AgentSession,
  options: Options,
  { store, clock, report }: WriteParts,
): Promise<AgentSession> {
  for (let attempt = 1; ; attempt++) {
    try {
      const saved = await store.save(session, options);
      report({ type: 'session-saved', session: saved });
      return saved;
    } catch (error) {
      if (hasErrorCode(error, 'SESSION_CONFLICT'))
        report({ type: 'session-conflict', session, error: error as SessionConflictError });
      if (attempt === ATTEMPTS || !isUnreachable(error)) throw error;
      await pause(clock, 100 * 4 ** (attempt - 1));
    }
  }
}
