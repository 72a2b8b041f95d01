import type { RequestProxy } from './request-proxy.ts';

/** How a request fails: the connection breaks before the server receives it, or before the reply. */
type Loss = 'cut' | 'loseReply';

interface Interleaving {
  readonly proxy: RequestProxy;
  readonly random: () => number;
  /** The probability that a request fails, from 0 to 1. */
  readonly losses?: number;
}

/**
 * Runs actors at the same time. Each actor sends one request at a time, and each request waits until all actors wait.
 * Then a random number selects the request that the server gets, and whether it fails. The same seed gives the same
 * run.
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
