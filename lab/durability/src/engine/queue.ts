import type { BullmqEngine } from '@holdfast/runner-bullmq';

/** The times of the engine in tests, in seconds: short, so that another worker continues soon. */
export const QUEUE_TIMES = { lockSeconds: 2, stalledSeconds: 1 };
/** Workers of tests have places for more sessions of an owner. */
const OWNER_CONCURRENCY = 3;

/**
 * Opens the engine of a queue, as in `redis://127.0.0.1:6379#prefix`. Its connections reconnect by themselves. Only a
 * process that opens a queue loads BullMQ: the others start in half of the time.
 */
export async function openQueue(location: string): Promise<BullmqEngine> {
  const { BullmqEngine } = await import('@holdfast/runner-bullmq');
  const { hash, host } = new URL(location);
  return new BullmqEngine({
    connection: { url: `redis://${host}` },
    prefix: `{${hash.slice(1)}}`,
    ...QUEUE_TIMES,
    groupConcurrency: OWNER_CONCURRENCY,
    onWarning: (warning) => console.error(warning),
    onError: () => undefined,
  });
}
