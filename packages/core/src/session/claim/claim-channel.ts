import type { SessionChannel } from '../../channel/session-channel.ts';
import { SessionPublisher } from '../../channel/session-publisher.ts';
import type { Clock } from '../../clock.ts';
import type { AgentEventListener } from '../../loop/steps/events.ts';
import type { AgentSession } from '../session.ts';
import type { ClaimedSession } from '../session-claim.ts';

interface ChannelParts {
  readonly channel: SessionChannel | undefined;
  readonly clock: Clock;
}

/**
 * The channel of a claimed session: publishes what the worker does, and passes on notifications. Without a channel it
 * does nothing. No method waits for the channel, and none throws.
 */
export class ClaimChannel {
  private readonly publisher: SessionPublisher | undefined;
  private readonly hasDeltas: boolean;
  private readonly removeListener: () => void;

  /** @param onNotified receives each notification of the session */
  constructor({ session, claim }: ClaimedSession, { channel, clock }: ChannelParts, onNotified: () => void) {
    const { sessionId, incarnation, epoch } = claim;
    const { state, version } = session;
    this.publisher =
      channel && new SessionPublisher({ channel, clock, sessionId, incarnation, epoch }, { state, version });
    this.hasDeltas = channel?.capabilities.tail === 'deltas';
    this.removeListener = channel?.onNotification(sessionId, onNotified) ?? (() => undefined);
  }

  /** Returns the listener of a run: the given one, and the publisher. */
  listener(onEvent: AgentEventListener | undefined): AgentEventListener | undefined {
    const { publisher } = this;
    if (publisher === undefined || !this.hasDeltas) return onEvent;
    return (event) => {
      publisher.receive(event);
      return onEvent?.(event);
    };
  }

  /** Publishes a session that is about to be saved. */
  follow({ state }: AgentSession): void {
    this.publisher?.follow(state);
  }

  /** Publishes that a session was saved. */
  noteSaved({ state, version, status, updatedAt }: AgentSession): void {
    this.publisher?.noteSaved({ state, version, status, updatedAt });
  }

  /** Publishes the rest. The worker is about to release its claim. */
  flush(): void {
    this.publisher?.flush();
  }

  /** Ends the publication and the notifications. */
  close({ isFenced = false }: { readonly isFenced?: boolean } = {}): void {
    this.removeListener();
    if (isFenced) this.publisher?.stop();
    else this.publisher?.close();
  }
}
