import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';

/** Keywords whose value is a schema, or a list of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set(['items', 'anyOf', 'allOf', 'oneOf']);
/** Keywords whose value holds schemas by name. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', 'definitions', '$defs']);

/**
 * Returns the schema with `additionalProperties: false` in each object, at every level, unless the object describes its
 * additional properties by a schema. Providers that enforce a schema strictly, such as OpenAI and xAI, refuse any other
 * object.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const closed = mapMembers(schema, closedKeyword);
  if (!describesObject(schema)) return closed;
  const { additionalProperties } = schema;
  const others = isJsonObject(additionalProperties) ? closedSchema(additionalProperties) : false;
  return { ...closed, additionalProperties: others };
}

function closedKeyword(value: JsonValue, keyword: string): JsonValue {
  if (SCHEMAS.has(keyword)) return closedValue(value);
  return NAMED_SCHEMAS.has(keyword) && isJsonObject(value) ? mapMembers(value, closedValue) : value;
}

/** A schema, a list of schemas, or one of the schemas `true` and `false`. */
function closedValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((one) => closedValue(one));
  return isJsonObject(value) ? closedSchema(value) : value;
}

function describesObject({ type }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

function mapMembers(object: JsonObject, change: (value: JsonValue, name: string) => JsonValue): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]): [string, JsonValue] => [name, change(value, name)]),
  );
}
