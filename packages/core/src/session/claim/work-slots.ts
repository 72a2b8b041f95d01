import type { ClaimOptions } from '../session-claim.ts';

/**
 * When a worker works on a suspect session: `accept`: always. `alone`: only when it works on no other session. `refuse`:
 * never.
 */
export type SuspectPolicy = 'accept' | 'alone' | 'refuse';

/** Tells the store that the worker of a session now works on other sessions too. */
type Share = () => Promise<unknown>;

/** A place for the work on one session. */
export interface WorkSlot extends Required<Pick<ClaimOptions, 'ifSuspect'>> {
  /**
   * Reports a claim, before any work under it. `share` is absent when the claim does not say that its worker works on no
   * other session. Resolves when the store knows of the session that is no longer worked on alone.
   */
  readonly claimed: (share?: Share) => Promise<void>;
  readonly leave: () => void;
}

/** The session that was the first in an idle runtime. */
interface FirstSession {
  /** Resolves with its `share`, or with `undefined` when it is not worked on alone. */
  readonly claim: Promise<Share | undefined>;
  /** Resolves when it is shared. Absent while it is worked on alone. */
  shared?: Promise<unknown>;
}

/**
 * The sessions that a runtime works on at the same time. The death of a process counts as an attempt only of a suspect
 * session that the process worked on alone.
 */
export class WorkSlots {
  private count = 0;
  private readonly claimedIds = new Set<{ readonly sessionId: string }>();
  private first: FirstSession | undefined;

  get sessionIds(): readonly string[] {
    return [...this.claimedIds].map(({ sessionId }) => sessionId);
  }

  enter(policy: SuspectPolicy, sessionId: string): WorkSlot {
    const place = { sessionId };
    const isFirst = this.count++ === 0;
    const { promise, resolve } = Promise.withResolvers<Share | undefined>();
    const entered: FirstSession = { claim: promise };
    if (isFirst && policy !== 'refuse') this.first = entered;
    let hasLeft = false;
    const leave = (): void => {
      if (hasLeft) return;
      hasLeft = true;
      this.count--;
      resolve(undefined);
      this.claimedIds.delete(place);
      if (this.first === entered) this.first = undefined;
    };
    const claimed = async (share?: Share): Promise<void> => {
      resolve(share);
      this.claimedIds.add(place);
      if (!isFirst) await this.shareFirst();
    };
    return { ifSuspect: claimOptionFor(policy, isFirst), claimed, leave };
  }

  /** Shares the first session once. A claim that fails shares nothing: its session takes no part in the work. */
  private async shareFirst(): Promise<void> {
    const { first } = this;
    if (first) await (first.shared ??= first.claim.then((share) => share?.()));
  }
}

/** The option of the claim: whether the worker is alone decides what the policy means. */
function claimOptionFor(policy: SuspectPolicy, isAlone: boolean): WorkSlot['ifSuspect'] {
  if (policy === 'refuse') return 'refuse';
  if (isAlone) return 'alone';
  return policy === 'accept' ? 'accept' : 'refuse';
}
