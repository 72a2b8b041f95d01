/** Seconds, as in `0.42 s` or `1 min 5 s`. */
export function seconds(value: number): string {
  if (value < 10) return `${value.toFixed(2)} s`;
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

const numbers = new Intl.NumberFormat('en');

/** A whole number with thousands marked; a dash when it is not known. */
export function count(value: number | undefined): string {
  return value === undefined ? '–' : numbers.format(value);
}

/** How long ago, in one short word or two. */
export function ago(instant: number, now: number): string {
  const minutes = Math.floor((now - instant) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ago` : new Date(instant).toLocaleDateString();
}

const words: Readonly<Record<string, string>> = {
  inProgress: 'in progress',
  toolExecution: 'tool execution',
  finalResponse: 'final response',
};

/** A status or a type as people read it. */
export function inWords(name: string): string {
  return words[name] ?? name;
}

/** A JSON value in one line. */
export function inline(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
