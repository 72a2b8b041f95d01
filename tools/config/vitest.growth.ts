/** A text of at least this many characters, of one form. */
export type Pump = (length: number) => string;

/** Reads a text of others. */
export type Work = (text: string) => unknown;

const KB = 1024;
const SMALL_SIZES = [16 * KB, 64 * KB];
const LARGE_SIZES = [64 * KB, 256 * KB, 1024 * KB];
/** Each size is four times the one before. Linear work takes four times as long, quadratic work sixteen times. */
const MOST_GROWTH = 6;
/** Shorter times than this say nothing; milliseconds. */
const SHORT = 100;
/** How often work is measured that seems to grow too fast. */
const RUNS = 12;

/** Repeats a piece of text, between a start and an end. */
export function repeated(piece: string, start = '', end = ''): Pump {
  return (length) => `${start}${piece.repeat(Math.ceil(length / piece.length))}${end}`;
}

/**
 * Returns the texts for which the time of the work grows faster than their length, in words; none for linear work. Texts of
 * each form grow to 64 KB, and the one that took longest to 1 MB.
 */
export async function fasterGrowth(work: Work, pumps: readonly Pump[]): Promise<readonly string[]> {
  const found: string[] = [];
  const times: { readonly pump: Pump; readonly time: number }[] = [];
  for (const pump of pumps) times.push({ pump, time: await grown(work, pump, SMALL_SIZES, found) });
  if (found.length > 0) return found;
  const slowest = times.toSorted((one, other) => other.time - one.time).slice(0, 1);
  for (const { pump } of slowest) await grown(work, pump, LARGE_SIZES, found);
  return found;
}

/** Returns the time at the last size. Stops at the first size at which the time grew too fast, and notes it. */
async function grown(work: Work, pump: Pump, sizes: readonly number[], found: string[]): Promise<number> {
  let before: number | undefined;
  for (const size of sizes) {
    const limit = before === undefined ? Infinity : Math.max(SHORT, MOST_GROWTH * before);
    before = await shortestTime(work, pump(size), limit);
    if (before <= limit) continue;
    const text = JSON.stringify(pump(20).slice(0, 60));
    found.push(
      `${text}…: ${before.toFixed(0)} ms for ${size / KB} KB, at most ${limit.toFixed(0)} ms expected`,
    );
    break;
  }
  return before ?? 0;
}

/** The processor time of the work in milliseconds. Other work of the machine can make a run longer, so it is repeated. */
async function shortestTime(work: Work, text: string, limit: number): Promise<number> {
  let shortest = await timeOf(work, text);
  for (let run = 1; run < RUNS && shortest > limit; run++)
    shortest = Math.min(shortest, await timeOf(work, text));
  return shortest;
}

async function timeOf(work: Work, text: string): Promise<number> {
  const start = process.cpuUsage();
  await work(text);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
