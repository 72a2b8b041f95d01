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

/** The saves of one piece of work, each based on the one before. */
export class SessionWriter {
  /** As the store answered it last. */
  base: AgentSession;
  private readonly epoch: number;
  private readonly parts: WriterParts;
  /** A save of which nobody knows whether it was done. */
  private ambiguousSave: { readonly session: AgentSession; readonly options: Options } | undefined;

  constructor({ session, claim }: ClaimedSession, parts: WriterParts) {
    this.base = session;
    this.epoch = claim.epoch;
    this.parts = parts;
  }

  /**
   * Saves. A save whose outcome is unknown goes first, under its own operation id: if it was done, it must not look like
   * the work of another writer. Its `afterSave` hook is called when it succeeds. @throws what the store throws at last.
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
 * Saves a session, again under the same operation id while the store does not answer, and reports what came of it.
 * @throws what the store throws at last.
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
