import { median } from './measure.ts';

/** One line of a report: a number, and what it must reach. */
export interface Row {
  readonly what: string;
  /** A ratio if it has no unit; NaN when it was not measured. */
  readonly value: number;
  readonly unit?: string;
  /** The most that the value may be. */
  readonly target: number;
  readonly detail: string;
}

/** A line with what was measured in each round. */
export function rowOf(what: string, values: readonly number[], target: number, unit = ''): Row {
  return { what, value: median(values), unit, target, detail: spread(values, unit) };
}

function spread(values: readonly number[], unit: string): string {
  if (values.length < 2) return '';
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${inUnit(least)} to ${inUnit(most, unit)}, ${values.length} rounds`;
}

/** Does the value reach its target? `undefined` when it was not measured. */
export function isReached({ value, target }: Row): boolean | undefined {
  return Number.isNaN(value) ? undefined : value <= target;
}

/** The target with its unit. */
export function targetCell({ target, unit }: Pick<Row, 'target' | 'unit'>): string {
  return `≤ ${target}${unit ? ` ${unit}` : ''}`;
}

/** Prints the rows as a table. The exit code says nothing: a benchmark is not a test. */
export function reportRows(title: string, rows: readonly Row[]): void {
  const cells = rows.map((row) => {
    const mark = isReached(row) === false ? ' **missed**' : '';
    return [row.what, `${inUnit(row.value, row.unit)}${mark}`, targetCell(row), row.detail];
  });
  reportTable(title, ['what', 'measured', 'target', 'detail'], cells);
}

/** Prints a table. */
export function reportTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = `|---${'|---:'.repeat(head.length - 1)}|`;
  console.log(['', `## ${title}`, '', line(head), rule, ...rows.map(line)].join('\n'));
}

/** Three digits, or all of a whole number; a dash for what was not measured. */
export function inUnit(value: number, unit = ''): string {
  if (Number.isNaN(value)) return '–';
  const digits = value >= 100 || value === 0 ? value.toFixed(0) : value.toPrecision(3);
  return unit ? `${digits} ${unit}` : digits;
}
