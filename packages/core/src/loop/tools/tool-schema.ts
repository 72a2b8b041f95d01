import type { ErrorCode } from '../../errors.ts';
import { HoldfastError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { toJsonObject } from '../../json.ts';
import { checkJsonSchema } from './json-schema.ts';

/**
 * A schema by the Standard Schema convention (Zod, Valibot, ArkType, …): the members used here.
 * @see https://standardschema.dev
 */
export interface StandardSchema<Output = unknown, Input = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
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

/** What a Standard Schema makes of what it is given. */
export type OutputOf<Schema extends StandardSchema> =
  Schema extends StandardSchema<infer Output> ? Output : never;

/** What a Standard Schema is given. */
export type InputOf<Schema extends StandardSchema> =
  Schema extends StandardSchema<unknown, infer Input> ? Input : never;

/** A checked value, or all that is wrong with it. */
export type Checked<T> = { readonly value: T } | { readonly issues: readonly string[] };

/** What a model is to write: as it is told, and as it is checked. */
export interface ModelSchema {
  readonly jsonSchema: JsonObject;
  readonly check: (input: JsonValue) => Checked<unknown> | Promise<Checked<unknown>>;
}

/** What a schema is for, in words for messages. */
export interface SchemaPurpose {
  /** Whose schema, as in `tool "add"`. */
  readonly owner: string;
  /** What it describes, as in `the arguments`. */
  readonly subject: string;
  /** The code of the error when it cannot be shown to a model. */
  readonly code: ErrorCode;
}

/** What a tool takes: as a model is told, and as it is checked. */
export interface ToolSchema<T> {
  readonly jsonSchema: JsonObject;
  readonly validate: (input: JsonValue) => Validated<T> | Promise<Validated<T>>;
}

/** @throws HoldfastError `TOOL_SCHEMA_INVALID` when the schema cannot be shown to a model. */
export function toolSchema(toolName: string, schema: unknown, jsonSchema?: object): ToolSchema<unknown> {
  const owner = `tool "${toolName}"`;
  const purpose: SchemaPurpose = { owner, subject: 'the arguments', code: 'TOOL_SCHEMA_INVALID' };
  const { jsonSchema: shown, check } = modelSchema(purpose, schema, jsonSchema);
  return {
    jsonSchema: shown,
    validate: (input) => {
      const found = check(input);
      return found instanceof Promise ? found.then(toValidated) : toValidated(found);
    },
  };
}

/** A schema from a Standard Schema or a JSON Schema. @throws HoldfastError when it cannot be shown to a model. */
export function modelSchema(purpose: SchemaPurpose, schema: unknown, jsonSchema?: object): ModelSchema {
  if (!isStandardSchema(schema)) {
    const json = toJsonObject(schema);
    return {
      jsonSchema: json,
      check: (input) => {
        const issue = checkJsonSchema(json, input, purpose.subject);
        return issue === undefined ? { value: input } : { issues: [issue] };
      },
    };
  }
  return {
    jsonSchema: jsonSchema ? toJsonObject(jsonSchema) : describe(purpose, schema),
    check: (input) => {
      const result = schema['~standard'].validate(input);
      return result instanceof Promise ? result.then(toChecked) : toChecked(result);
    },
  };
}

/** True for a Standard Schema. */
function isStandardSchema(schema: unknown): schema is StandardSchema {
  return (
    ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema
  );
}

function describe({ owner, code }: SchemaPurpose, schema: StandardSchema): JsonObject {
  const { jsonSchema, vendor } = schema['~standard'];
  const advice = `Pass "jsonSchema" beside the schema, or a library version that can describe itself as JSON Schema.`;
  if (jsonSchema === undefined) {
    const message = `The ${vendor} schema of ${owner} cannot be turned into JSON Schema. ${advice}`;
    throw new HoldfastError(code, message);
  }
  try {
    return toJsonObject(jsonSchema.input({ target: 'draft-07' }));
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    const message = `The ${vendor} schema of ${owner} has no JSON Schema form${why}. ${advice}`;
    throw new HoldfastError(code, message, { cause });
  }
}

function toValidated(found: Checked<unknown>): Validated<unknown> {
  return 'issues' in found ? { problem: found.issues.join('; ') } : found;
}

function toChecked(result: StandardResult<unknown>): Checked<unknown> {
  if (result.issues === undefined) return { value: result.value };
  return { issues: result.issues.map(issueInWords) };
}

function issueInWords({ message, path = [] }: StandardIssue): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}
