import { callAfter, type Clock, type Instant } from '../clock.ts';
import type { AgentEvent } from '../loop/steps/events.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { ChannelChange, ChannelEntry } from './channel-entry.ts';
import { expectedResponse, type ResponseName } from './partial-response.ts';
import { PartialResponseWriter } from './partial-response-writer.ts';
import type { SessionChannel } from './session-channel.ts';
import { StatePatchWriter } from './state-patch.ts';

/** The claim under which a worker publishes, and its channel. */
export interface PublisherParts {
  readonly channel: SessionChannel;
  readonly clock: Clock;
  readonly sessionId: string;
  readonly incarnation: string;
  readonly epoch: number;
}

export interface SavedState {
  readonly state: AgentState;
  readonly version: number;
  readonly status: string;
  readonly updatedAt: Instant;
}

/** The time between two batches, and before the first batch after a failed one. */
const BATCH_PAUSE_MS = 50;
const FAILURE_PAUSE_MS = 1_000;
/** The number of entries after which a series is repeated, so that the tail of a long step stays short. */
const LONGEST_SERIES = 1_000;

/**
 * Publishes what a worker does to a session. It holds the live state and what was published, and each batch is the
 * difference: while the channel does not reply, nothing is queued. No call waits for the channel, and none throws.
 */
export class SessionPublisher {
  private readonly parts: PublisherParts;
  private readonly writer: StatePatchWriter;
  private readonly response = new PartialResponseWriter();
  private base: Pick<SavedState, 'state' | 'version'>;
  private live: AgentState;
  /** The name of the response that the model writes in the live state. */
  private expected: ResponseName | undefined;
  /** The last save that was not published. */
  private saved: SavedState | undefined;
  private series = 0;
  private n = 0;
  /** True when entries were dropped, so that the next batch begins a series. */
  private mustRepeat = false;
  private cancelTimer: (() => void) | undefined;
  private isBusy = false;
  /** True when a response has begun while a batch is on its way: the next batch follows at once. */
  private isUrgent = false;
  private isClosed = false;
  private isStopped = false;

  /** @param base the session as the store returned it with the claim */
  constructor(parts: PublisherParts, base: Pick<SavedState, 'state' | 'version'>) {
    this.parts = parts;
    this.base = base;
    this.live = base.state;
    this.expected = expectedResponse(base.state);
    this.writer = new StatePatchWriter(base.state);
  }

  /** Publishes the state after an event, and a delta: the first one of a response at once. */
  receive(event: AgentEvent): void {
    this.moveTo(event.state);
    const { expected } = this;
    const isFirst = event.type === 'inference-delta' && expected && this.response.add(expected, event.delta);
    if (isFirst) this.flush();
    else this.schedule(BATCH_PAUSE_MS);
  }

  /** Publishes a state that is about to be saved: it can be newer than the last event. */
  follow(state: AgentState): void {
    if (state.updatedAt >= this.live.updatedAt) this.moveTo(state);
  }

  /** Publishes that a state was saved. */
  noteSaved(saved: SavedState): void {
    this.saved = saved;
    this.schedule(BATCH_PAUSE_MS);
  }

  /** Publishes the rest at once. The worker is about to release its claim. */
  close(): void {
    this.isClosed = true;
    this.response.clear(); // the next worker calls the model again
    this.flush();
  }

  /** Publishes no more: another worker may have the session. */
  stop(): void {
    this.isStopped = true;
    this.cancelTimer?.();
  }

  /** The deltas of a response have the same state, so the name of the response is read once. */
  private moveTo(state: AgentState): void {
    if (state === this.live) return;
    this.live = state;
    this.expected = expectedResponse(state);
  }

  private schedule(milliseconds: number): void {
    if (this.cancelTimer || this.isBusy || this.isStopped) return;
    this.cancelTimer = callAfter(this.parts.clock, milliseconds, () => this.flush());
  }

  /** Publishes what is new, unless a batch is on its way: then right after it. */
  flush(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.isUrgent = this.isBusy;
    if (!this.isBusy && !this.isStopped) void this.publish();
  }

  /** Publishes a batch, if there is news. A batch that fails may be lost. */
  private async publish(): Promise<void> {
    const { channel, sessionId } = this.parts;
    let isPublished = false;
    try {
      const { batch, trim } = this.nextBatch();
      if (batch.length === 0) return;
      this.isBusy = true;
      await channel.publish(sessionId, batch, { trim });
      isPublished = true;
    } catch {
      this.mustRepeat = true;
    }
    this.isBusy = false;
    this.continueAfter(isPublished);
  }

  private continueAfter(isPublished: boolean): void {
    if (!isPublished && this.isClosed) this.stop();
    else if (isPublished && (this.isClosed || this.isUrgent)) this.flush();
    else this.schedule(isPublished ? BATCH_PAUSE_MS : FAILURE_PAUSE_MS);
  }

  /** Returns the difference between what was published and the present. */
  private nextBatch(): { readonly batch: readonly ChannelEntry[]; readonly trim: boolean } {
    const { saved } = this;
    const batch: ChannelEntry[] = [];
    const isRepeated = this.mustRepeat || this.n >= LONGEST_SERIES;
    if (isRepeated) this.beginSeries(this.base);
    this.mustRepeat = false;
    if (saved) {
      if (isRepeated || !this.hasDeltas) this.n = 1; // readers that miss the entry 0 load the saved session
      else this.pushState(batch, saved.state);
      const { version, status, updatedAt: at } = saved;
      batch.push(this.entry({ type: 'saved', version, status, at }));
      this.beginSeries(saved);
    }
    if (this.hasDeltas) {
      this.pushState(batch, this.live);
      this.pushPartial(batch);
    }
    return { batch, trim: isRepeated || saved !== undefined };
  }

  private get hasDeltas(): boolean {
    return this.parts.channel.capabilities.tail === 'deltas';
  }

  private beginSeries(base: Pick<SavedState, 'state' | 'version'>): void {
    this.base = base;
    this.saved = undefined;
    this.series++;
    this.n = 0;
    this.writer.restart(base.state);
    this.response.restart();
  }

  private pushState(batch: ChannelEntry[], state: AgentState): void {
    const patch = this.writer.write(state);
    if (patch) batch.push(this.entry({ type: 'state', patch }));
  }

  private pushPartial(batch: ChannelEntry[]): void {
    const { expected } = this;
    const deltas = this.response.write(expected);
    if (expected === undefined) return;
    const { stepId, attempt } = expected;
    for (const delta of deltas) batch.push(this.entry({ type: 'delta', stepId, attempt, delta }));
  }

  private entry(change: ChannelChange): ChannelEntry {
    const { incarnation, epoch } = this.parts;
    const { series } = this;
    const { version: base } = this.base;
    const executionId = this.live.execution?.executionId;
    const position = { incarnation, epoch, series, n: this.n++, base };
    return Object.freeze({ ...position, ...(executionId && { executionId }), change });
  }
}
