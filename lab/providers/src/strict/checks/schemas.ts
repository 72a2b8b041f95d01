import { z } from 'zod';
import { isMembers, type Members, type Path, type View } from '../view.ts';
import { check, select, shown, type Violation } from './check.ts';

interface Schema {
  readonly path: Path;
  readonly schema: Members;
}

function rootsOf(view: View, of = 'tool.schema'): readonly Schema[] {
  return select(view, of).flatMap(({ path, value }) => (isMembers(value) ? [{ path, schema: value }] : []));
}

/** A schema with all schemas inside it. */
function withInner({ path, schema }: Schema): readonly Schema[] {
  const inner = (value: unknown, at: Path): readonly Schema[] =>
    isMembers(value) ? withInner({ path: at, schema: value }) : [];
  const { properties, items } = schema;
  return [
    { path, schema },
    ...Object.entries(isMembers(properties) ? properties : {}).flatMap(([name, value]) =>
      inner(value, [...path, 'properties', name]),
    ),
    ...inner(items, [...path, 'items']),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((name) => {
      const list = schema[name];
      return Array.isArray(list)
        ? list.flatMap((value: unknown, index) => inner(value, [...path, name, index]))
        : [];
    }),
  ];
}

/** Each tool's schema is an object at its root. `properties`: and names them, also when it has none. */
export const schemaRoot = check(
  z.strictObject({ properties: z.boolean().optional(), forbidden: z.array(z.string()).optional() }),
  (view, { properties = false, forbidden = [] }) =>
    rootsOf(view)
      .filter(({ schema }) => {
        if (properties) return schema['type'] === 'object' && !isMembers(schema['properties']);
        if (forbidden.length > 0) return forbidden.some((name) => name in schema);
        return schema['type'] !== 'object';
      })
      .map(({ path, schema }) => ({ path, fill: { value: shown(schema['type']) } })),
);

/** The names of a schema's properties at the root match a pattern. */
export const schemaKeys = check(z.strictObject({ pattern: z.string() }), (view, { pattern }) =>
  rootsOf(view).flatMap(({ path, schema: { properties } }) =>
    Object.keys(isMembers(properties) ? properties : {})
      .filter((name) => !new RegExp(pattern, 'u').test(name))
      .map((name) => ({ path: [...path, 'properties', name], fill: { value: name } })),
  ),
);

/** No schema of a tool has one of these words. `of`: where the schema stands. */
export const schemaWords = check(
  z.strictObject({ of: z.string().optional(), forbidden: z.array(z.string()) }),
  (view, { of, forbidden }) =>
    rootsOf(view, of)
      .flatMap(withInner)
      .flatMap(({ path, schema }) =>
        Object.keys(schema)
          .filter((name) => forbidden.includes(name))
          .map((name): Violation => ({ path, fill: { name } })),
      ),
);

/** Limits of a schema, beyond its words. */
const LIMITS: Readonly<Record<string, (schema: Members) => boolean>> = {
  'enum of texts': ({ enum: values, type }) =>
    values === undefined ||
    (type === 'string' &&
      Array.isArray(values) &&
      values.length > 0 &&
      values.every((value) => typeof value === 'string' && value !== '')),
  'array has items': ({ type, items }) => type !== 'array' || items !== undefined,
  'one type': ({ type }) => !Array.isArray(type),
  'format of dates': ({ type, format }) =>
    type !== 'string' || format === undefined || format === 'enum' || format === 'date-time',
  'closed objects': ({ type, properties, required, additionalProperties }) =>
    type !== 'object' ||
    (additionalProperties === false &&
      Object.keys(isMembers(properties) ? properties : {}).every(
        (name) => Array.isArray(required) && required.includes(name),
      )),
};

/** Each schema of a tool keeps a limit. `strict`: only of tools that ask for it. */
export const schemaLimit = check(
  z.strictObject({
    of: z.string().optional(),
    limit: z.enum(Object.keys(LIMITS)),
    strict: z.boolean().optional(),
  }),
  (view, { of, limit, strict = false }) => {
    const tools = strict ? view.tools.filter(({ at }) => at['strict']?.value === true) : view.tools;
    return rootsOf({ ...view, tools }, of)
      .flatMap(withInner)
      .filter(({ schema }) => LIMITS[limit]?.(schema) === false)
      .map(({ path }): Violation => ({ path }));
  },
);
