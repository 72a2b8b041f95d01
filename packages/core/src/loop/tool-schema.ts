import { HoldfastError } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { toJsonObject } from '../json.ts';
import { checkJsonSchema } from './json-schema.ts';

/**
 * A schema by the Standard Schema convention (Zod, Valibot, ArkType, …): the members used here.
 * @see https://standardschema.dev
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    /** Present in schemas that can describe themselves as JSON Schema. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-07' }) => Record<string, unknown>;
    };
  };
}

/** What validation by a Standard Schema comes to. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Checked arguments, or what is wrong with them in words that a model can act on. */
export type Validated<T> = { readonly value: T } | { readonly problem: string };

/** What a tool takes: as a model is told, and as it is checked. */
export interface ToolSchema<T> {
  readonly jsonSchema: JsonObject;
  readonly validate: (input: JsonValue) => Validated<T> | Promise<Validated<T>>;
}

/** True for a Standard Schema. */
function isStandardSchema(schema: unknown): schema is StandardSchema {
  return (
    ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema
  );
}

/** @throws HoldfastError `TOOL_SCHEMA_INVALID` when the schema cannot be shown to a model. */
export function toolSchema(toolName: string, schema: unknown, jsonSchema?: object): ToolSchema<unknown> {
  if (!isStandardSchema(schema)) {
    const json = toJsonObject(schema);
    return {
      jsonSchema: json,
      validate: (input) => {
        const problem = checkJsonSchema(json, input);
        return problem === undefined ? { value: input } : { problem };
      },
    };
  }
  return {
    jsonSchema: jsonSchema ? toJsonObject(jsonSchema) : describe(toolName, schema),
    validate: (input) => {
      const result = schema['~standard'].validate(input);
      return result instanceof Promise ? result.then(toValidated) : toValidated(result);
    },
  };
}

function describe(toolName: string, schema: StandardSchema): JsonObject {
  const { jsonSchema, vendor } = schema['~standard'];
  const advice = `Pass "jsonSchema" beside the schema, or a library version that can describe itself as JSON Schema.`;
  if (jsonSchema === undefined) {
    const message = `The ${vendor} schema of tool "${toolName}" cannot be turned into JSON Schema. ${advice}`;
    throw new HoldfastError('TOOL_SCHEMA_INVALID', message);
  }
  try {
    return toJsonObject(jsonSchema.input({ target: 'draft-07' }));
  } catch (cause) {
    const message = `The ${vendor} schema of tool "${toolName}" has no JSON Schema form. ${advice}`;
    throw new HoldfastError('TOOL_SCHEMA_INVALID', message, { cause });
  }
}

function toValidated(result: StandardResult<unknown>): Validated<unknown> {
  if (result.issues === undefined) return { value: result.value };
  return { problem: result.issues.map(issueInWords).join('; ') };
}

function issueInWords({ message, path = [] }: StandardIssue): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}
