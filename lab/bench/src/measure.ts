/** A function to time. */
export interface Subject {
  readonly name: string;
  run(): unknown;
  /** Calls for one sample; more for things that are short. */
  readonly calls: number;
}

/** Milliseconds of one call: the best and the median of all rounds. */
export interface Timing {
  readonly best: number;
  readonly median: number;
}

/** Stores results, so that V8 does not remove unused work. */
const sink: { last: unknown } = { last: undefined };

/** Times subjects side by side: every round times each once, in another order, so that a disturbance affects all. */
export function compare(subjects: readonly Subject[], rounds: number): ReadonlyMap<string, Timing> {
  const samples = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < subjects.length; index++) {
      const subject = subjects[(index * 7 + round) % subjects.length] as Subject;
      const started = performance.now();
      for (let call = 0; call < subject.calls; call++) sink.last = subject.run();
      const each = (performance.now() - started) / subject.calls;
      if (round >= rounds / 4) samples.get(subject.name)?.push(each);
    }
  }
  return new Map([...samples].map(([name, times]) => [name, timing(times)]));
}

function timing(times: readonly number[]): Timing {
  return { best: Math.min(...times), median: median(times) };
}

/** The median; NaN of an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? NaN) + (sorted[Math.floor(half)] ?? NaN)) / 2;
}

/** A percentile; NaN of an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? NaN;
}

/** The first decile, which stays steady while other processes use the machine; NaN of an empty list. */
export function bestTenth(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 10)] ?? NaN;
}
