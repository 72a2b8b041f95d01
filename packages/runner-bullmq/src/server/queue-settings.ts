import { HoldfastError } from '@holdfast/core';
import type { GroupConcurrency } from '@holdfast/core/engine';
import type { BullmqLaneLimits } from '../queue/lane-limits.ts';
import type { EngineClient } from './connection.ts';

/** The limits that all workers of a queue should have. */
export interface QueueSettings {
  readonly lanes: Readonly<Record<string, BullmqLaneLimits>>;
  readonly groupConcurrency: GroupConcurrency | undefined;
}

/** A worker that writes other keys or jobs must not share a queue with this release. */
const LAYOUT = '1';

/**
 * Stores the settings of a worker that starts, and returns a warning for each that differs from those of the last one.
 * @throws HoldfastError `QUEUE_UNSUITABLE` for a queue that a release with another layout uses.
 */
export async function shareSettings(
  client: EngineClient,
  { key, name, prefix }: { readonly key: string; readonly name: string; readonly prefix: string },
  settings: QueueSettings,
): Promise<readonly string[]> {
  const stored = await client.hgetall(key);
  const { layout = LAYOUT } = stored;
  if (layout !== LAYOUT) {
    throw new HoldfastError(
      'QUEUE_UNSUITABLE',
      `The queue "${name}" under the prefix "${prefix}" has the layout ${layout}, and this release has the layout ${LAYOUT}. Use another name or prefix.`,
    );
  }
  const own = textsOf(settings);
  await client.hset(key, { layout: LAYOUT, ...own });
  const differing = Object.keys(own).filter((member) => (stored[member] ?? own[member]) !== own[member]);
  return differing.map(
    (member) =>
      `The last worker that started on the queue "${name}" has ${member} ${stored[member]}, and this one has ${own[member]}. ${ADVICE[member] ?? ''}`,
  );
}

const ADVICE: Readonly<Record<string, string>> = {
  lanes: 'The limits of the worker that started last hold for all. Pass the same to all workers.',
  groupConcurrency: 'Each worker counts with its own. Pass the same to all workers.',
};

/** A function cannot be compared. */
function textsOf({ lanes, groupConcurrency }: QueueSettings): Record<string, string> {
  const sorted = Object.entries(lanes).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const shown = typeof groupConcurrency === 'function' ? 'a function' : String(groupConcurrency ?? 'none');
  return { lanes: JSON.stringify(Object.fromEntries(sorted)), groupConcurrency: shown };
}
