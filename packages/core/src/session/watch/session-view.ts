import type { PartialResponse } from '../../channel/partial-response.ts';
import type { AgentSession } from '../session.ts';

/** A session as its worker has it now. Immutable: each change gives another view. */
export interface SessionView {
  /**
   * The session. Its `state` is the live state, which can be newer than the store; its `revision` and `status` are those
   * of the last save.
   */
  readonly session: AgentSession;
  /** The response that the model writes now, as far as it has arrived. */
  readonly partial: PartialResponse | undefined;
  /** True when the store has everything that the view shows. */
  readonly isSaved: boolean;
}
