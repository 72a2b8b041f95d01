/** One difference between two values. */
interface Difference {
  /** Leads from the values to the difference, such as `state.messages[2].role`. */
  readonly path: string;
  readonly expected: unknown;
  readonly found: unknown;
}

const MAX_LINES = 5;
const MAX_LENGTH = 120;
const MAX_DEPTH = 200;

/** Describes what differs, one line for each difference: `state.metadata.n: expected 1, found 2`. */
export function describeDifferences(expected: unknown, found: unknown): string {
  const differences = [...differencesOf(expected, found, [])];
  const lines = differences.slice(0, MAX_LINES).map(asLine);
  const others = differences.length - lines.length;
  if (lines.length === 0)
    return 'The values have equal contents, and differ in their types or hidden fields.';
  return [...lines, ...(others > 0 ? [`and ${others} more differences`] : [])].join('\n');
}

function asLine({ path, expected, found }: Difference): string {
  const subject = path === '' ? '' : `${path}: `;
  return `${subject}expected ${shown(expected)}, found ${shown(found)}`;
}

/** A value in a few words. Missing values are `nothing`. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = value instanceof Error ? String(value) : asText(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}… (${text.length} characters)` : text;
}

function asText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    return typeof value; // a bigint, or an object that contains itself
  }
}

function* differencesOf(expected: unknown, found: unknown, path: readonly string[]): Generator<Difference> {
  const [left, right] = [plain(expected), plain(found)];
  if (Object.is(left, right)) return;
  const isLeaf = !isObject(left) || !isObject(right) || Array.isArray(left) !== Array.isArray(right);
  if (isLeaf || path.length > MAX_DEPTH) {
    yield { path: path.join('').replace(/^\./u, ''), expected: left, found: right };
    return;
  }
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    yield* differencesOf(left[key], right[key], [...path, Array.isArray(left) ? `[${key}]` : `.${key}`]);
  }
}

/** The parts of a value that its JSON shows: sessions, states and lists have a `toJSON`. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return hasJson(value) ? value.toJSON() : value;
}

function hasJson(value: unknown): value is { toJSON(): unknown } {
  return isObject(value) && typeof value['toJSON'] === 'function';
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
