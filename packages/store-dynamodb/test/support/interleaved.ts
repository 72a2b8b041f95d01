import type { FaultProxy } from './fault-proxy.ts';

/** What becomes of a request: the connection breaks before the server has it, or before its reply. */
type Loss = 'cut' | 'loseReply';

interface Interleaving {
  readonly proxy: FaultProxy;
  readonly random: () => number;
  /** How often a request is lost, from 0 to 1. */
  readonly losses?: number;
}

/**
 * Runs actors at once, each of which makes one request at a time. Each request waits until all actors wait for one; then
 * chance decides which one the server gets, and whether it is lost. The same numbers give the same run.
 */
export async function interleaved(
  { proxy, random, losses = 0 }: Interleaving,
  actors: readonly (() => Promise<void>)[],
): Promise<void> {
  const held: ((loss: Loss | undefined) => void)[] = [];
  const working = new Set(actors);
  let wake = (): void => undefined;
  proxy.fault = async (_, forward) => {
    const loss = await new Promise<Loss | undefined>((resolve) => {
      held.push(resolve);
      wake();
    });
    if (loss === 'cut') return loss;
    const reply = await forward();
    return loss ? 'cut' : reply;
  };
  const done = actors.map((actor) =>
    actor().finally(() => {
      working.delete(actor);
      wake();
    }),
  );
  while (working.size > 0) {
    if (held.length < working.size) {
      await new Promise<void>((resolve) => void (wake = resolve));
      continue;
    }
    const [release] = held.splice(Math.floor(random() * held.length), 1);
    const isLost = random() < losses;
    release?.(isLost ? (random() < 0.5 ? 'cut' : 'loseReply') : undefined);
  }
  proxy.fault = undefined;
  await Promise.all(done);
}
