import { describeValue } from '../../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import { NOTHING } from '../../state/values/frozen-array.ts';

/**
 * Checks a value against the part of JSON Schema that tools use: `type`, `enum`, `const`, `properties`, `required`,
 * `additionalProperties`, `items`, `prefixItems`, sizes, ranges, `pattern`, `anyOf`, `oneOf`, `allOf`, `not`, and local
 * `$ref`. Other keywords are ignored. For the whole standard, wrap a validator library as a Standard Schema.
 *
 * @param subject names the value in the problems.
 * @param limit the check ends after this number of problems.
 * @returns the problems, each with its path, in words that a model can act on; empty when the value is valid.
 */
export function checkJsonSchema(
  schema: JsonObject,
  value: JsonValue,
  subject: string,
  limit: number,
): readonly string[] {
  const findings = new Findings(schema, limit);
  check({ findings, parent: undefined, key: subject }, schema, value);
  return findings.problems;
}

/** The number of problems that are listed for each alternative when a value fits no alternative. */
const ALTERNATIVE_LIMIT = 3;

/** The problems found so far, and the root schema for local references. */
class Findings {
  readonly root: JsonObject;
  problems: readonly string[] = NOTHING;
  private readonly limit: number;

  constructor(root: JsonObject, limit: number) {
    this.root = root;
    this.limit = limit;
  }

  get isFull(): boolean {
    return this.problems.length >= this.limit;
  }

  add(problem: string): void {
    if (!this.isFull) this.problems = [...this.problems, problem];
  }
}

/** The place of a value, and the findings of its check. */
interface Place {
  readonly findings: Findings;
  readonly parent: Place | undefined;
  /** The name of the value at the root, otherwise its property or index. */
  readonly key: string | number;
}

function childOf(parent: Place, key: string | number): Place {
  return { findings: parent.findings, parent, key };
}

function expected(what: string, place: Place, found: JsonValue): void {
  const where = place.parent === undefined ? place.key : pathOf(place);
  place.findings.add(`${where}: expected ${what}, found ${describeValue(found)}`);
}

/**
 * Adds the problems of one keyword. Returns true for a value of an unexpected type: its other keywords are not checked.
 */
type Keyword = (place: Place, schema: JsonObject, value: JsonValue) => boolean | void;

function check(place: Place, schema: JsonValue | undefined, value: JsonValue): void {
  if (schema === false) expected('no value', place, value);
  if (!isJsonObject(schema)) return;
  for (const keyword of keywordsOf(schema)) {
    if (place.findings.isFull || keyword(place, schema, value)) return;
  }
}

/** The problems of a value under a schema that may not apply to it, such as an alternative. */
function problemsBy(place: Place, schema: JsonValue, value: JsonValue, limit: number): readonly string[] {
  const findings = new Findings(place.findings.root, limit);
  check({ ...place, findings }, schema, value);
  return findings.problems;
}

function pathOf({ parent, key }: Place): string {
  if (parent === undefined) return '';
  const path = pathOf(parent);
  if (typeof key === 'number') return `${path}[${key}]`;
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path ? `${path}.${key}` : key;
}

const TYPE_TESTS: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => isJsonObject(value),
};

const checkReference: Keyword = (place, schema, value) => {
  const reference = schema['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#')) return;
  let target: JsonValue | undefined = place.findings.root;
  for (const part of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  check(place, target, value);
};

const checkType: Keyword = (place, schema, value) => {
  const types =
    typeof schema['type'] === 'string' ? [schema['type']] : arrayOrEmpty(schema['type']).filter(isText);
  if (types.length === 0 || types.some((type) => TYPE_TESTS[type]?.(value))) return false;
  expected(types.join(' or '), place, value);
  return true;
};

const checkChoice: Keyword = (place, schema, value) => {
  const choices = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(choices) || choices.some((choice) => JSON.stringify(choice) === JSON.stringify(value))) {
    return false;
  }
  expected(`one of ${JSON.stringify(choices)}`, place, value);
  return true;
};

const checkObject: Keyword = (place, schema, value) => {
  if (!isJsonObject(value)) return;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  for (const name of arrayOrEmpty(schema['required']).filter(isText)) {
    if (!Object.hasOwn(value, name))
      place.findings.add(`${pathOf(childOf(place, name))}: required, but missing`);
  }
  for (const [name, member] of Object.entries(value)) {
    if (place.findings.isFull) break;
    const isKnown = Object.hasOwn(properties, name);
    if (!isKnown && schema['additionalProperties'] === false) {
      const known = Object.keys(properties).join(', ');
      place.findings.add(`${pathOf(childOf(place, name))}: not a known property (known: ${known})`);
    } else {
      const expected = isKnown ? properties[name] : schema['additionalProperties'];
      check(childOf(place, name), expected, member);
    }
  }
};

const checkArray: Keyword = (place, schema, value) => {
  if (!Array.isArray(value)) return;
  const first = arrayOrEmpty(schema['prefixItems']);
  for (const [index, item] of (value as readonly JsonValue[]).entries()) {
    if (place.findings.isFull) break;
    check(childOf(place, index), first[index] ?? schema['items'], item);
  }
  checkRange(place, schema, ['minItems', 'maxItems'], value.length, 'items');
};

const checkText: Keyword = (place, schema, value) => {
  if (typeof value !== 'string') return;
  const { pattern } = schema;
  if (typeof pattern === 'string' && patternOf(pattern)?.test(value) === false)
    expected(`a string that matches ${pattern}`, place, value);
  if ('minLength' in schema || 'maxLength' in schema)
    checkRange(place, schema, ['minLength', 'maxLength'], [...value].length, 'characters');
};

/** Compiles a pattern, without the `u` flag if it is invalid with it. An invalid pattern is ignored. */
function patternOf(pattern: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      continue;
    }
  }
  return undefined;
}

const checkNumber: Keyword = (place, schema, value) => {
  if (typeof value !== 'number') return;
  const { exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  if (typeof above === 'number' && value <= above) expected(`more than ${above}`, place, value);
  if (typeof below === 'number' && value >= below) expected(`less than ${below}`, place, value);
  checkRange(place, schema, ['minimum', 'maximum'], value);
};

function checkRange(
  place: Place,
  schema: JsonObject,
  [least, most]: readonly [string, string],
  size: number,
  unit = '',
): void {
  const [from, to] = [schema[least], schema[most]];
  if (typeof from === 'number' && size < from) expected(`at least ${from} ${unit}`.trim(), place, size);
  if (typeof to === 'number' && size > to) expected(`at most ${to} ${unit}`.trim(), place, size);
}

const checkCombination: Keyword = (place, schema, value) => {
  for (const part of arrayOrEmpty(schema['allOf'])) check(place, part, value);
  checkAlternatives(place, arrayOrEmpty(schema['anyOf']), value);
  const forms = arrayOrEmpty(schema['oneOf']);
  const fitting = checkAlternatives(place, forms, value);
  if (fitting > 1) expected('a value that fits exactly one alternative', place, value);
  const { not } = schema;
  if (isJsonObject(not) && problemsBy(place, not, value, 1).length === 0)
    expected('a value that the schema does not exclude', place, value);
};

/** Adds one problem when the value fits no alternative. Returns the number of alternatives that it fits. */
function checkAlternatives(place: Place, alternatives: readonly JsonValue[], value: JsonValue): number {
  const problems = alternatives.map((schema) => problemsBy(place, schema, value, ALTERNATIVE_LIMIT));
  const failed = problems.filter((found) => found.length > 0);
  const inWords = new Set(failed.map((found) => found.join(' and ')));
  if (failed.length > 0 && failed.length === problems.length) place.findings.add([...inWords].join('; or '));
  return problems.length - failed.length;
}

const KEYWORDS: readonly (readonly [members: readonly string[], keyword: Keyword])[] = [
  [['$ref'], checkReference],
  [['type'], checkType],
  [['const', 'enum'], checkChoice],
  [['properties', 'required', 'additionalProperties'], checkObject],
  [['prefixItems', 'items', 'minItems', 'maxItems'], checkArray],
  [['pattern', 'minLength', 'maxLength'], checkText],
  [['exclusiveMinimum', 'exclusiveMaximum', 'minimum', 'maximum'], checkNumber],
  [['allOf', 'anyOf', 'oneOf', 'not'], checkCombination],
];

const knownKeywords = new WeakMap<JsonObject, readonly Keyword[]>();

/** The checks that a schema needs; most schemas have one or two keywords. */
function keywordsOf(schema: JsonObject): readonly Keyword[] {
  const known = knownKeywords.get(schema);
  if (known) return known;
  const keywords = KEYWORDS.filter(([members]) => members.some((name) => name in schema)).map(
    ([, keyword]) => keyword,
  );
  knownKeywords.set(schema, keywords);
  return keywords;
}

function arrayOrEmpty(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function isText(value: JsonValue): value is string {
  return typeof value === 'string';
}
