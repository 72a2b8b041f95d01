import {
  MemorySessionChannel,
  type ChannelEntry,
  type ChannelNews,
  type PublishOptions,
  type SubscribeOptions,
} from '@holdfast/core/channel';

/**
 * The fate of a batch. `lost`: the channel drops it and resolves. `refused`: the channel drops it and rejects.
 * `unanswered`: it arrives, and the publisher takes it for dropped. `held`: it arrives after the batch behind it.
 */
export type Fate = 'arrives' | 'lost' | 'refused' | 'unanswered' | 'twice' | 'held' | 'gap' | 'tail lost';

/** A channel whose batches meet with fates, in turn; after the last fate, all arrive. */
export class FaultyChannel extends MemorySessionChannel {
  private readonly fates: Fate[];
  private readonly gaps = new Set<() => void>();
  private held: (() => Promise<void>)[] = [];

  constructor(fates: readonly Fate[]) {
    super();
    this.fates = [...fates];
  }

  /** From now on all batches arrive. Those that are held do not. */
  heal(): void {
    this.fates.length = 0;
    this.held = [];
  }

  override async publish(
    sessionId: string,
    batch: readonly ChannelEntry[],
    options?: PublishOptions,
  ): Promise<void> {
    const fate = this.fates.shift() ?? 'arrives';
    const arrive = (): Promise<void> => super.publish(sessionId, copied(batch), options);
    const late = this.held;
    this.held = fate === 'held' ? [arrive] : [];
    if (fate === 'tail lost') await super.publish(sessionId, [], { trim: true });
    if (['arrives', 'unanswered', 'twice', 'gap', 'tail lost'].includes(fate)) await arrive();
    if (fate === 'twice') await arrive();
    if (fate === 'gap') for (const report of this.gaps) report();
    for (const arriveLate of late) await arriveLate();
    if (fate === 'refused' || fate === 'unanswered') throw new Error(fate);
  }

  override async subscribe(
    sessionId: string,
    listener: (news: ChannelNews) => void,
    options: SubscribeOptions,
  ): Promise<void> {
    const report = (): void => {
      if (!options.signal.aborted) listener({ type: 'gap' });
    };
    this.gaps.add(report);
    return super.subscribe(sessionId, listener, options);
  }
}

/** As another process receives it. */
function copied(batch: readonly ChannelEntry[]): ChannelEntry[] {
  return JSON.parse(JSON.stringify(batch)) as ChannelEntry[];
}
