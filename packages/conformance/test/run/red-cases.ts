/** The cases that must fail, by the name of the defect. A file of them is maintained by hand: add the lines of a new case. */
export type RedCases = Readonly<Record<string, readonly string[]>>;

interface Case {
  readonly group: string;
  readonly name: string;
}

interface Sample {
  /** Each defect runs one of so many cases that it must pass. */
  readonly every: number;
  /** The names of cases that cost much. Each one runs on one defect. */
  readonly dear?: RegExp;
}

/** With `EFFORT=2` every defect runs every case. This checks what a sample leaves out. */
export const isThorough = Number(process.env['EFFORT'] ?? 1) > 1;

export const nameOf = ({ group, name }: Case): string => `${group}: ${name}`;

/**
 * Returns the cases that run on a defect: those that it must fail, and a sample of the others. A case that costs much runs
 * on the defect that fails the fewest cases, and on a defect that fails no cheaper case.
 */
export function casesFor<T extends Case>(
  cases: readonly T[],
  expected: RedCases,
  { every, dear = /^$/u }: Sample,
): (defect: string) => readonly T[] {
  if (isThorough) return () => cases;
  const defects = Object.keys(expected);
  return (defect) => {
    const red = expected[defect] ?? [];
    const first = red.find((name) => !dear.test(name)) ?? red[0];
    return cases.filter((one, index) => {
      const name = nameOf(one);
      if (dear.test(name)) return name === first || plainestDefect(expected, name) === defect;
      return red.includes(name) || (index + defects.indexOf(defect)) % every === 0;
    });
  };
}

/** Returns the defect that fails a case and the fewest others. */
function plainestDefect(expected: RedCases, name: string): string | undefined {
  const failing = Object.entries(expected).filter(([, red]) => red.includes(name));
  return failing.toSorted(([, left], [, right]) => left.length - right.length)[0]?.[0];
}

/** Returns the names among these cases that a defect must fail. */
export function redAmong(cases: readonly Case[], red: readonly string[] = []): readonly string[] {
  const names = new Set(cases.map(nameOf));
  return red.filter((name) => names.has(name));
}
