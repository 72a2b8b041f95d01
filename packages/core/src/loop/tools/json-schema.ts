import { describeValue } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { isJsonObject } from '../../json.ts';

/**
 * Checks a value against the part of JSON Schema that tools are described in: `type`, `enum`, `const`,
 * `properties`, `required`, `additionalProperties`, `items`, `prefixItems`, sizes, ranges, `pattern`, `anyOf`,
 * `oneOf`, `allOf`, `not`, and local `$ref`. Other keywords say nothing here; for the whole standard wrap a
 * validator library as a Standard Schema.
 *
 * @param subject what the value is, for the message.
 * @returns the first problem, in words that a model can act on; `undefined` when the value fits.
 */
export function checkJsonSchema(schema: JsonObject, value: JsonValue, subject: string): string | undefined {
  return check({ root: schema, parent: undefined, key: subject }, schema, value);
}

interface Place {
  readonly root: JsonObject;
  readonly parent: Place | undefined;
  /** At the root: what the value is. */
  readonly key: string | number;
}

type Keyword = (place: Place, schema: JsonObject, value: JsonValue) => string | undefined;

function check(place: Place, schema: JsonValue | undefined, value: JsonValue): string | undefined {
  if (schema === false) return problem(place, 'nothing', value);
  if (!isJsonObject(schema)) return undefined;
  for (const keyword of keywordsOf(schema)) {
    const found = keyword(place, schema, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problem(place: Place, expected: string, value: JsonValue | undefined): string {
  const where = place.parent === undefined ? place.key : pathOf(place);
  return `${where}: expected ${expected}, found ${describeValue(value)}`;
}

function inside(parent: Place, key: string | number): Place {
  return { root: parent.root, parent, key };
}

function pathOf({ parent, key }: Place): string {
  if (parent === undefined) return '';
  const path = pathOf(parent);
  if (typeof key === 'number') return `${path}[${key}]`;
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
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  let target: JsonValue | undefined = place.root;
  for (const part of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  return check(place, target, value);
};

const checkType: Keyword = (place, schema, value) => {
  const types = typeof schema['type'] === 'string' ? [schema['type']] : listOf(schema['type']).filter(isText);
  if (types.length === 0 || types.some((type) => TYPE_TESTS[type]?.(value))) return undefined;
  return problem(place, types.join(' or '), value);
};

const checkChoice: Keyword = (place, schema, value) => {
  const choices = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(choices) || choices.some((choice) => JSON.stringify(choice) === JSON.stringify(value))) {
    return undefined;
  }
  return problem(place, `one of ${JSON.stringify(choices)}`, value);
};

const checkObject: Keyword = (place, schema, value) => {
  if (!isJsonObject(value)) return undefined;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  for (const name of listOf(schema['required']).filter(isText)) {
    if (!Object.hasOwn(value, name)) return `${pathOf(inside(place, name))}: required, but missing`;
  }
  for (const [name, member] of Object.entries(value)) {
    const isKnown = Object.hasOwn(properties, name);
    if (!isKnown && schema['additionalProperties'] === false) {
      return `${pathOf(inside(place, name))}: not a known property (known: ${Object.keys(properties).join(', ')})`;
    }
    const found = check(
      inside(place, name),
      isKnown ? properties[name] : schema['additionalProperties'],
      member,
    );
    if (found !== undefined) return found;
  }
  return undefined;
};

const checkArray: Keyword = (place, schema, value) => {
  if (!Array.isArray(value)) return undefined;
  const first = listOf(schema['prefixItems']);
  for (const [index, item] of (value as readonly JsonValue[]).entries()) {
    const found = check(inside(place, index), first[index] ?? schema['items'], item);
    if (found !== undefined) return found;
  }
  return outOfRange(place, schema, ['minItems', 'maxItems'], value.length, 'items');
};

const checkText: Keyword = (place, schema, value) => {
  if (typeof value !== 'string') return undefined;
  const { pattern } = schema;
  if (typeof pattern === 'string' && patternOf(pattern)?.test(value) === false) {
    return problem(place, `a string that matches ${pattern}`, value);
  }
  if (!('minLength' in schema) && !('maxLength' in schema)) return undefined;
  return outOfRange(place, schema, ['minLength', 'maxLength'], [...value].length, 'characters');
};

/** Many patterns in the wild are not valid with the `u` flag; one that is not valid at all says nothing. */
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
  if (typeof value !== 'number') return undefined;
  const { exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  if (typeof above === 'number' && value <= above) return problem(place, `more than ${above}`, value);
  if (typeof below === 'number' && value >= below) return problem(place, `less than ${below}`, value);
  return outOfRange(place, schema, ['minimum', 'maximum'], value);
};

function outOfRange(
  place: Place,
  schema: JsonObject,
  [least, most]: readonly [string, string],
  size: number,
  unit = '',
): string | undefined {
  const [from, to] = [schema[least], schema[most]];
  if (typeof from === 'number' && size < from) return problem(place, `at least ${from} ${unit}`.trim(), size);
  if (typeof to === 'number' && size > to) return problem(place, `at most ${to} ${unit}`.trim(), size);
  return undefined;
}

const checkCombination: Keyword = (place, schema, value) => {
  for (const part of listOf(schema['allOf'])) {
    const found = check(place, part, value);
    if (found !== undefined) return found;
  }
  for (const name of ['anyOf', 'oneOf']) {
    const options = listOf(schema[name]);
    const problems = options.map((option) => check(place, option, value));
    const fits = problems.filter((found) => found === undefined).length;
    if (options.length > 0 && fits === 0) return problems.join('; or ');
    if (name === 'oneOf' && fits > 1) return problem(place, 'a value that fits exactly one form', value);
  }
  const { not } = schema;
  if (isJsonObject(not) && check(place, not, value) === undefined)
    return problem(place, 'another value', value);
  return undefined;
};

/** What to check when a schema has one of the members. */
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

/** What there is to check in a schema: most have one or two keywords. */
function keywordsOf(schema: JsonObject): readonly Keyword[] {
  const known = knownKeywords.get(schema);
  if (known) return known;
  const keywords = KEYWORDS.filter(([members]) => members.some((name) => name in schema)).map(
    ([, keyword]) => keyword,
  );
  knownKeywords.set(schema, keywords);
  return keywords;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function isText(value: JsonValue): value is string {
  return typeof value === 'string';
}
