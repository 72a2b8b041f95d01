import type { ErrorCode } from '../../errors.ts';
import { describeValue, HoldfastError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { toJsonObject } from '../../json.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { closedSchema } from './closed-schema.ts';
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

/** A schema of the AI SDK, as its `jsonSchema()` and `zodSchema()` make it: the members used here. */
export interface AiSdkSchema<Output = unknown> {
  /** For the compiler only. */
  readonly _type: Output;
  /** What a model is told. A promise is refused: schemas are needed at once. */
  readonly jsonSchema: object | PromiseLike<object>;
  /** Without it, values are checked as by the JSON Schema. */
  readonly validate?:
    | ((value: unknown) => AiSdkResult<Output> | PromiseLike<AiSdkResult<Output>>)
    | undefined;
}

/** What validation by a schema of the AI SDK comes to. */
export type AiSdkResult<Output> =
  | { readonly success: true; readonly value: Output }
  | { readonly success: false; readonly error: Error };

/** Checked arguments, or what is wrong with them in words that a model can act on. */
export type ValidationResult<T> = { readonly value: T } | { readonly problem: string };

/** What a Standard Schema makes of what it is given. */
export type OutputOf<Schema extends StandardSchema> =
  Schema extends StandardSchema<infer Output> ? Output : never;

/** What a Standard Schema is given. */
export type InputOf<Schema extends StandardSchema> =
  Schema extends StandardSchema<unknown, infer Input> ? Input : never;

/** A checked value, or all that is wrong with it. */
export type CheckResult<T> = { readonly value: T } | { readonly issues: readonly string[] };

/** What a model is to write: as it is told, and as it is checked. */
export interface ModelSchema {
  readonly jsonSchema: JsonObject;
  readonly check: (input: JsonValue) => CheckResult<unknown> | Promise<CheckResult<unknown>>;
}

/** What a schema is for, in words for messages. */
export interface SchemaPurpose {
  /** Whose schema, as in `tool "add"`. */
  readonly subjectName: string;
  /** What it describes, as in `the arguments`. */
  readonly subject: string;
  /** The code of the error when it cannot be shown to a model. */
  readonly code: ErrorCode;
}

/** What a tool takes: as a model is told, and as it is checked. */
export interface ToolSchema<T> {
  readonly jsonSchema: JsonObject;
  readonly validate: (input: JsonValue) => ValidationResult<T> | Promise<ValidationResult<T>>;
}

/** @throws HoldfastError `TOOL_SCHEMA_INVALID` when the schema cannot be shown to a model. */
export function toolSchema(toolName: string, schema: unknown, jsonSchema?: object): ToolSchema<unknown> {
  const subjectName = `tool "${toolName}"`;
  const purpose: SchemaPurpose = { subjectName, subject: 'the arguments', code: 'TOOL_SCHEMA_INVALID' };
  const { jsonSchema: shown, check } = modelSchema(purpose, schema, jsonSchema);
  return {
    jsonSchema: shown,
    validate: (input) => {
      const found = check(input);
      return found instanceof Promise ? found.then(toValidated) : toValidated(found);
    },
  };
}

type Check = ModelSchema['check'];

/**
 * A schema from a Standard Schema, a schema of the AI SDK or a JSON Schema.
 * @throws HoldfastError when it cannot be shown to a model.
 */
export function modelSchema(purpose: SchemaPurpose, schema: unknown, jsonSchema?: object): ModelSchema {
  if (isStandardSchema(schema)) {
    const shown = jsonSchema ? toJsonObject(jsonSchema) : describe(purpose, schema);
    return { jsonSchema: shown, check: standardCheck(schema) };
  }
  if (isAiSdkSchema(schema)) {
    const shown = toJsonObject(jsonSchema ?? describeAiSdk(purpose, schema));
    return { jsonSchema: shown, check: aiSdkCheck(schema) ?? jsonSchemaCheck(purpose, shown) };
  }
  const shown = toJsonObject(requireJsonSchema(purpose, schema));
  return { jsonSchema: shown, check: jsonSchemaCheck(purpose, shown) };
}

/** How many problems a model is told at once. */
const PROBLEM_LIMIT = 20;

function jsonSchemaCheck({ subject }: SchemaPurpose, schema: JsonObject): Check {
  return (input) => {
    const problems = checkJsonSchema(schema, input, subject, PROBLEM_LIMIT + 1);
    return problems.length === 0 ? { value: input } : withIssues(problems);
  };
}

function standardCheck(schema: StandardSchema): Check {
  return (input) => {
    const result = schema['~standard'].validate(input);
    return result instanceof Promise ? result.then(toChecked) : toChecked(result);
  };
}

/** The check of a schema that has one; `jsonSchema()` of the AI SDK also makes schemas without. */
function aiSdkCheck(schema: AiSdkSchema): Check | undefined {
  const { validate } = schema;
  if (typeof validate !== 'function') return undefined;
  return (input) => {
    const result = validate.call(schema, input);
    return 'then' in result ? Promise.resolve(result).then(aiSdkChecked) : aiSdkChecked(result);
  };
}

function aiSdkChecked(result: AiSdkResult<unknown>): CheckResult<unknown> {
  if (result.success) return { value: result.value };
  const { error } = result;
  const issues = issuesIn(error) ?? issuesIn(error.cause);
  return withIssues(issues ? issues.map(issueInWords) : [toErrorRecord(error).message]);
}

/** The issues of an error of Zod, or those that an error of the AI SDK has as its cause. */
function issuesIn(error: unknown): readonly StandardIssue[] | undefined {
  const issues: unknown = Array.isArray(error) ? error : (error as { issues?: unknown } | undefined)?.issues;
  return Array.isArray(issues) && issues.length > 0 && issues.every(isIssue) ? issues : undefined;
}

function isIssue(value: unknown): value is StandardIssue {
  return typeof value === 'object' && value !== null && 'message' in value;
}

/** True for a Standard Schema. */
function isStandardSchema(schema: unknown): schema is StandardSchema {
  return (
    ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema
  );
}

/** How the AI SDK marks its schemas. */
const AI_SDK_SCHEMA = Symbol.for('vercel.ai.schema');

function isAiSdkSchema(schema: unknown): schema is AiSdkSchema {
  return typeof schema === 'object' && schema !== null && AI_SDK_SCHEMA in schema && 'jsonSchema' in schema;
}

/** Refuses what is not a schema, and the schema of an unknown library: as a JSON Schema it would check nothing. */
function requireJsonSchema({ subjectName, code }: SchemaPurpose, schema: unknown): object {
  const isObject = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
  if (isObject && ('type' in schema || !('jsonSchema' in schema))) return schema;
  const found = isObject ? 'an object with a member "jsonSchema"' : describeValue(schema);
  const message = `The schema of ${subjectName} must be a Standard Schema, a schema of the AI SDK or a JSON Schema, found ${found}.`;
  throw new HoldfastError(code, message);
}

function describeAiSdk({ subjectName, code }: SchemaPurpose, schema: AiSdkSchema): object {
  const advice = 'Pass "jsonSchema" beside the schema.';
  let shown: AiSdkSchema['jsonSchema'];
  try {
    shown = schema.jsonSchema;
  } catch (cause) {
    const why = toErrorRecord(cause).message;
    throw new HoldfastError(
      code,
      `The AI SDK schema of ${subjectName} has no JSON Schema form: ${why} ${advice}`,
      {
        cause,
      },
    );
  }
  if (!('then' in shown)) return shown;
  throw new HoldfastError(
    code,
    `The AI SDK schema of ${subjectName} gives its JSON Schema as a promise. ${advice}`,
  );
}

function describe({ subjectName, code }: SchemaPurpose, schema: StandardSchema): JsonObject {
  const { jsonSchema, vendor } = schema['~standard'];
  const advice = `Pass "jsonSchema" beside the schema, or a library version that can describe itself as JSON Schema.`;
  if (jsonSchema === undefined) {
    const message = `The ${vendor} schema of ${subjectName} cannot be turned into JSON Schema. ${advice}`;
    throw new HoldfastError(code, message);
  }
  try {
    return toJsonObject(closedSchema(toJsonObject(jsonSchema.input({ target: 'draft-07' }))));
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    const message = `The ${vendor} schema of ${subjectName} has no JSON Schema form${why}. ${advice}`;
    throw new HoldfastError(code, message, { cause });
  }
}

function toValidated(found: CheckResult<unknown>): ValidationResult<unknown> {
  return 'issues' in found ? { problem: found.issues.join('; ') } : found;
}

function toChecked(result: StandardResult<unknown>): CheckResult<unknown> {
  if (result.issues === undefined) return { value: result.value };
  return withIssues(result.issues.map(issueInWords));
}

function withIssues(issues: readonly string[]): { readonly issues: readonly string[] } {
  if (issues.length <= PROBLEM_LIMIT) return { issues };
  return { issues: [...issues.slice(0, PROBLEM_LIMIT), 'there are more problems, which are not listed'] };
}

function issueInWords({ message, path = [] }: StandardIssue): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}
