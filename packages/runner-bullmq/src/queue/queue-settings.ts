import { HoldfastError, type Instant } from '@holdfast/core';
import type { GroupConcurrency } from '@holdfast/core/engine';
import type { BullmqLaneLimits } from '../layout/lane-limits.ts';
import type { EngineScripts, LimitedLane } from '../scripts/engine-scripts.ts';
import type { EngineClient } from '../server/connection.ts';

/** The settings that all workers of a queue should have in common. */
export interface SharedSettings {
  readonly lanes: Readonly<Record<string, BullmqLaneLimits>>;
  readonly groupConcurrency?: GroupConcurrency | undefined;
  readonly storeName?: string | undefined;
}

/** The key of the settings of a queue, and the names of the queue in messages. */
export interface QueueLocation {
  readonly key: string;
  readonly name: string;
  readonly prefix: string;
}

/** A worker that writes other keys or jobs must not share a queue with this release. */
const LAYOUT = '1';

const ADVICE: Readonly<Record<string, string>> = {
  lanes: 'The limits of the worker that started last hold for all. Pass the same to all workers.',
  groupConcurrency: 'Each worker counts with its own. Pass the same to all workers.',
  storeName: 'Engines on one queue need one session store. Use another name or prefix for one of them.',
};

/** The settings of a queue, which its workers compare. */
export class QueueSettings {
  private readonly client: EngineClient;
  private readonly location: QueueLocation;
  private readonly own: Readonly<Record<string, string>>;
  private readonly scripts: EngineScripts;
  private readonly settings: SharedSettings;
  private startedAt: Instant | undefined;
  private formerLanes: readonly string[] = [];

  constructor(
    client: EngineClient,
    scripts: EngineScripts,
    location: QueueLocation,
    settings: SharedSettings,
  ) {
    this.client = client;
    this.scripts = scripts;
    this.settings = settings;
    this.location = location;
    this.own = textsOf(settings);
  }

  /** @throws HoldfastError `QUEUE_UNSUITABLE` for a queue that a release with another layout uses. */
  async checkLayout(): Promise<void> {
    this.compareLayout(await this.client.hget(this.location.key, 'layout'));
  }

  /**
   * Returns a warning for each setting that differs from that of the worker that started last.
   * @throws HoldfastError `QUEUE_UNSUITABLE`, as `checkLayout`.
   */
  async compare(): Promise<readonly string[]> {
    return this.differences(await this.read());
  }

  /** Sets the settings and the limits of a worker that starts. They hold for all workers. Returns and throws as `compare`. */
  async start(): Promise<readonly string[]> {
    const stored = await this.read();
    const lanes = JSON.parse(stored['lanes'] ?? '{}') as object;
    this.formerLanes = Object.keys(lanes).filter((lane) => !Object.hasOwn(this.settings.lanes, lane));
    this.startedAt = await this.share(undefined);
    return this.differences(stored);
  }

  /** Sets them again when the server has lost its data, unless a worker that started later has set its own. */
  async restore(): Promise<void> {
    if (this.startedAt !== undefined) await this.share(this.startedAt);
  }

  /** A lane that has limits from the last worker, and none from this one, has none then. */
  private share(startedAt: Instant | undefined): Promise<Instant> {
    const own = Object.entries(this.settings.lanes);
    const former = this.formerLanes.map((lane): LimitedLane => [lane, {}]);
    const fields = Object.entries({ layout: LAYOUT, ...this.own }).flat();
    return this.scripts.shareSettings([...own, ...former], fields, startedAt);
  }

  private async read(): Promise<Readonly<Record<string, string>>> {
    const stored = await this.client.hgetall(this.location.key);
    this.compareLayout(stored['layout'] ?? null);
    return stored;
  }

  private differences(stored: Readonly<Record<string, string>>): readonly string[] {
    const { own } = this;
    return Object.keys(own).flatMap((member) => {
      const text = stored[member];
      if (text === undefined || text === own[member]) return [];
      return `The last worker that started on the queue "${this.location.name}" has ${member} ${text}, and this one has ${own[member]}. ${ADVICE[member] ?? ''}`;
    });
  }

  private compareLayout(layout: string | null): void {
    if (layout === null || layout === LAYOUT) return;
    const { name, prefix } = this.location;
    throw new HoldfastError(
      'QUEUE_UNSUITABLE',
      `The queue "${name}" under the prefix "${prefix}" has the layout ${layout}, and this release has the layout ${LAYOUT}. Use another name or prefix.`,
    );
  }
}

/** A function cannot be compared. */
function textsOf({ lanes, groupConcurrency, storeName }: SharedSettings): Record<string, string> {
  const sorted = Object.entries(lanes).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const shown = typeof groupConcurrency === 'function' ? 'a function' : String(groupConcurrency ?? 'none');
  const limits = { lanes: JSON.stringify(Object.fromEntries(sorted)), groupConcurrency: shown };
  return storeName === undefined ? limits : { ...limits, storeName };
}
