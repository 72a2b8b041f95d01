import type { ClaimOptions } from '../session-store.ts';

/**
 * When a worker works on a suspect session: `accept`: always. `alone`: only when it works on no other session. `refuse`:
 * never.
 */
export type SuspectPolicy = 'accept' | 'alone' | 'refuse';

/** Tells the store that the worker of a session now works on other sessions too. */
type Share = () => Promise<unknown>;

/** A place for the work on one session. */
export interface WorkSlot extends Required<Pick<ClaimOptions, 'ifSuspect'>> {
  /** Reports a claim. `share` is absent when the claim does not say that its worker works on no other session. */
  readonly claimed: (share?: Share) => void;
  /** Gives the place back. A second call does nothing. */
  readonly leave: () => void;
}

/**
 * The sessions that a runtime works on at the same time. The death of a process counts as an attempt only of a suspect
 * session that the process worked on alone.
 */
export class WorkSlots {
  private count = 0;
  /** Resolves with the `share` of a session that is worked on alone. */
  private alone: Promise<Share | undefined> | undefined;

  /** Takes a place. A session that was worked on alone is no longer so, and the store knows it when this resolves. */
  async enter(policy: SuspectPolicy): Promise<WorkSlot> {
    const isFirst = this.count++ === 0;
    const claim = Promise.withResolvers<Share | undefined>();
    if (!isFirst) await this.shareFirst();
    else if (policy !== 'refuse') this.alone = claim.promise;
    return { ifSuspect: ifSuspect(policy, isFirst), claimed: claim.resolve, leave: this.leaveOnce(claim) };
  }

  private async shareFirst(): Promise<void> {
    const { alone } = this;
    this.alone = undefined;
    const share = await alone;
    await share?.();
  }

  private leaveOnce({ promise, resolve }: PromiseWithResolvers<Share | undefined>): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.count--;
      resolve(undefined);
      if (this.alone === promise) this.alone = undefined;
    };
  }
}

function ifSuspect(policy: SuspectPolicy, isAlone: boolean): SuspectPolicy {
  if (policy === 'refuse') return 'refuse';
  if (isAlone) return 'alone';
  return policy === 'accept' ? 'accept' : 'refuse';
}
