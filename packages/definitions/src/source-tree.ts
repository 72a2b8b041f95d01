import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { DefinitionProblem } from './definition-error.ts';

/** The location of a value in the data: keys, and indexes of lists. */
export type Path = readonly (string | number)[];

/** A position in a file. Line and column count from 1. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** A problem of the syntax of a text. */
type SourceProblem = Omit<DefinitionProblem, 'file' | 'key'>;

/** The data in a text, and the position of each part of the data in the text. */
export interface SourceTree {
  readonly value: unknown;
  /** The problems of the syntax. With any of them, `value` is not valid. */
  readonly problems: readonly SourceProblem[];
  /** The position of a value or of its key. For a missing value, the position of the nearest value that contains its path. */
  placeOf(path: Path, part: 'key' | 'value'): SourcePosition | undefined;
}

/**
 * YAML 1.2 without features that make a small text large or execute code: merge keys, and types that need a tag. `inspect`
 * finds the other such features and duplicate keys, because it finds duplicate keys in linear time.
 */
const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: false,
  resolveKnownTags: false,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'error',
} as const;

/** Parses a YAML text. */
export function parseYaml(text: string): SourceTree {
  const { document, placeAt, placeOf } = locate(text);
  const [error] = document.errors;
  const problems = error ? [yamlProblem(error, placeAt(error.pos[0]))] : inspect(document, placeAt);
  const value: unknown = problems.length > 0 ? undefined : document.toJS({ maxAliasCount: 0 });
  return { value, problems, placeOf };
}

/** Parses a JSON text with `JSON.parse`. The YAML parser gives the positions, because YAML contains JSON. */
export function parseJson(text: string): SourceTree {
  const { document, placeAt, placeOf } = locate(text);
  try {
    return { value: JSON.parse(text) as unknown, problems: inspect(document, placeAt), placeOf };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const offset = /at position (\d+)/.exec(message)?.[1];
    const found = `the error "${message.replace(/ in JSON at position .*/, '')}"`;
    const place = offset === undefined ? undefined : placeAt(Number(offset));
    const advice = 'Remove comments and trailing commas, and write keys in double quotes.';
    return { value: undefined, problems: [{ ...place, expected: 'valid JSON', found, advice }], placeOf };
  }
}

const QUOTE =
  'Quote texts that contain ": " or " #" or begin with a special character, and indent with spaces.';

function yamlProblem({ code, message }: YAMLError, place: SourcePosition): SourceProblem {
  const said = { ...place, expected: 'valid YAML', found: `the error "${message}"`, advice: QUOTE };
  switch (code) {
    case 'MULTIPLE_DOCS':
      return {
        ...said,
        expected: 'one definition',
        found: 'a second document',
        advice: 'Move it to a file of its own; a prompt below front matter needs a .md file.',
      };
    case 'RESOURCE_EXHAUSTION':
      return { ...said, found: 'too many levels of nesting', advice: 'Reduce the nesting.' };
    default:
      return said;
  }
}

type PlaceAt = (offset: number) => SourcePosition;

/** Parses a text as YAML, and returns functions for the positions of its parts. */
function locate(text: string) {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...YAML_OPTIONS, lineCounter: lines });
  const placeAt: PlaceAt = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const placeOf: SourceTree['placeOf'] = (path, part) => {
    const offset = offsetOf(document.contents, path, part);
    return offset === undefined ? undefined : placeAt(offset);
  };
  return { document, placeAt, placeOf };
}

function offsetOf(root: unknown, path: Path, part: 'key' | 'value'): number | undefined {
  let node = root;
  let offset = startOf(root);
  for (const [index, key] of path.entries()) {
    const pair = isMap(node) ? node.items.find((item) => keyOf(item.key) === key) : undefined;
    node = isSeq(node) ? node.items[Number(key)] : pair?.value;
    const wantsKey = part === 'key' && index === path.length - 1;
    const isEmpty = isScalar(node) && node.source === '' && node.type === 'PLAIN';
    offset = (wantsKey || isEmpty ? startOf(pair?.key) : startOf(node)) ?? startOf(pair?.key) ?? offset;
    if (node === undefined) break;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function keyOf(node: unknown): unknown {
  return isScalar(node) ? node.value : undefined;
}

/** Finds valid YAML that a definition must not contain: aliases, tags, duplicate keys, and keys that are not strings. */
function inspect(document: Document.Parsed, placeAt: PlaceAt): SourceProblem[] {
  const problems: SourceProblem[] = [];
  const report = (node: unknown, expected: string, found: string, advice: string): void => {
    problems.push({ ...placeAt(startOf(node) ?? 0), expected, found, advice });
  };
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) {
        report(node, 'a value', `the alias *${node.source}`, 'Replace the alias by its value.');
      } else if (node.tag !== undefined) {
        const advice = 'Remove the tag, and quote the value if it is a string.';
        report(node, 'a value without a tag', `the tag ${node.tag}`, advice);
      }
      if (isMap(node)) inspectKeys(node, report);
      if (isScalar(node)) inspectNumber(node, report);
    },
  });
  return problems;
}

type ReportNode = (node: unknown, expected: string, found: string, advice: string) => void;

function inspectKeys(map: YAMLMap, report: ReportNode): void {
  const seen = new Set<string>();
  for (const { key } of map.items) {
    const name = keyOf(key);
    if (typeof name !== 'string') {
      const found = isScalar(key) ? `the key ${String(name)}` : 'a key of another type';
      report(key, 'a key that is a string', found, 'Quote the key.');
    } else if (seen.has(name)) {
      report(key, 'each key once', `a second ${JSON.stringify(name)}`, 'Remove one of them.');
    } else seen.add(name);
  }
}

/** Reports a number that JSON cannot hold as it is written: `.inf`, `.nan`, or an integer with too many digits. */
function inspectNumber({ value, source, range }: Scalar, report: ReportNode): void {
  if (typeof value !== 'number' || source === undefined) return;
  const isKept =
    Number.isFinite(value) &&
    (Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(source) || String(value) === source);
  const advice = 'Quote a long number to keep its digits; for no limit, omit the key.';
  if (!isKept) report({ range }, 'a finite number without loss of digits', source, advice);
}
