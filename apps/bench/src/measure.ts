/** Something to time: called many times, and once more for each round. */
export interface Subject {
  readonly name: string;
  run(): unknown;
  /** Calls for one sample; more for things that are short. */
  readonly calls: number;
}

/** Milliseconds of one call: the best and the middle of all rounds. */
export interface Timing {
  readonly best: number;
  readonly median: number;
}

/** Where results go, so that the engine does not drop work nobody looks at. */
const sink: { last: unknown } = { last: undefined };

/** Times subjects side by side: every round times each once, in another order, so that what disturbs one disturbs all. */
export function compare(subjects: readonly Subject[], rounds = 41): ReadonlyMap<string, Timing> {
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
  const sorted = times.toSorted((left, right) => left - right);
  return { best: sorted[0] as number, median: sorted[Math.floor(sorted.length / 2)] as number };
}

/** One line of the report: a ratio, and the most it may be. */
export interface Row {
  readonly what: string;
  readonly ratio: number;
  readonly target: number;
  readonly detail: string;
}

/** Prints the rows as a table. The exit code says nothing: a benchmark is not a test. */
export function report(title: string, rows: readonly Row[]): void {
  console.log(`\n${title}\n`);
  console.log('| what | ratio | target | detail |\n|---|---:|---:|---|');
  for (const { what, ratio, target, detail } of rows) {
    const mark = ratio <= target ? '' : ' (missed)';
    console.log(`| ${what} | ${ratio.toFixed(2)}${mark} | ≤ ${target} | ${detail} |`);
  }
}

/** For a detail column. */
export function microseconds({ best, median }: Timing): string {
  return `${(best * 1000).toFixed(2)} / ${(median * 1000).toFixed(2)} µs`;
}
