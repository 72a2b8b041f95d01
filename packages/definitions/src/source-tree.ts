import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, Node, Scalar, YAMLError, YAMLMap } from 'yaml';
import type { DefinitionProblem } from './definition-error.ts';

/** Where in the data: keys, and positions in lists. */
export type Path = readonly (string | number)[];

/** Where in the file, counted from 1. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a text before anybody asks what it means. */
type SourceProblem = Omit<DefinitionProblem, 'file' | 'key'>;

/** A text as data, and where in the text each part of the data stands. */
export interface SourceTree {
  readonly value: unknown;
  /** When there are any, `value` is not to be used. */
  readonly problems: readonly SourceProblem[];
  /** Where a value stands, or its key; of what is not there, what would hold it. */
  placeOf(path: Path, part: 'key' | 'value'): SourcePosition | undefined;
}

/**
 * YAML 1.2 without what makes a small text large or a text do something: merge keys and the types that only a tag
 * brings. The other such things, and keys that occur twice, are found by `inspect`, which takes linear time for it.
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

/** Reads YAML. */
export function parseYaml(text: string): SourceTree {
  const { document, placeAt, placeOf } = locate(text);
  const [error] = document.errors;
  const problems = error ? [yamlProblem(error, placeAt(error.pos[0]))] : inspect(document, placeAt);
  const value: unknown = problems.length > 0 ? undefined : document.toJS({ maxAliasCount: 0 });
  return { value, problems, placeOf };
}

/** Reads JSON: its own grammar decides; that YAML contains it gives the places. */
export function parseJson(text: string): SourceTree {
  const { document, placeAt, placeOf } = locate(text);
  try {
    return { value: JSON.parse(text) as unknown, problems: inspect(document, placeAt), placeOf };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const offset = /at position (\d+)/.exec(message)?.[1];
    const found = `the error "${message.replace(/ in JSON at position .*/, '')}"`;
    const place = offset === undefined ? undefined : placeAt(Number(offset));
    const advice = 'Correct it: no comments, no comma after the last member, keys in double quotes.';
    return { value: undefined, problems: [{ ...place, expected: 'valid JSON', found, advice }], placeOf };
  }
}

const QUOTE = 'Quote a text that has ": " or " #" in it or begins with a sign; indent with spaces.';

function yamlProblem({ code, message }: YAMLError, place: SourcePosition): SourceProblem {
  const said = { ...place, expected: 'valid YAML', found: `the error "${message}"`, advice: QUOTE };
  switch (code) {
    case 'MULTIPLE_DOCS':
      return {
        ...said,
        expected: 'one definition',
        found: 'another document',
        advice: 'Make it a file of its own; front matter with a prompt below it belongs into a .md file.',
      };
    case 'RESOURCE_EXHAUSTION':
      return { ...said, found: 'too many levels of nesting', advice: 'Nest less.' };
    default:
      return said;
  }
}

type PlaceAt = (offset: number) => SourcePosition;

/** Parses a text as YAML, to know its places. */
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

/** Finds what a definition may not have, although it is good YAML. */
function inspect(document: Document.Parsed, placeAt: PlaceAt): SourceProblem[] {
  const problems: SourceProblem[] = [];
  const report = (node: unknown, expected: string, found: string, advice: string): void => {
    problems.push({ ...placeAt(startOf(node) ?? 0), expected, found, advice });
  };
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) {
        report(node, 'a value', `the alias *${node.source}`, 'Write the value out: aliases are not read.');
      } else if (node.tag !== undefined) {
        const advice = 'Leave the tag out; quotes make a string.';
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
      const found = isScalar(key) ? `the key ${String(name)}` : 'another kind of key';
      report(key, 'a key that is a string', found, 'Put the key in quotes.');
    } else if (seen.has(name)) {
      report(key, 'each key once', `another ${JSON.stringify(name)}`, 'Keep one of them.');
    } else seen.add(name);
  }
}

/** A number that is not what the text says: `.inf`, `.nan`, or an integer with more digits than a number keeps. */
function inspectNumber({ value, source, range }: Scalar, report: ReportNode): void {
  if (typeof value !== 'number' || source === undefined) return;
  const isKept =
    Number.isFinite(value) &&
    (Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(source) || String(value) === source);
  const advice = 'Quotes keep a long number as it is; a limit that is left out is none.';
  if (!isKept) report({ range }, 'a number that can be kept', source, advice);
}
