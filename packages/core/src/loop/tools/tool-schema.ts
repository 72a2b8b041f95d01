import { describeValue, HoldfastError, type ErrorCode } from '../../errors.ts';
import { isJsonObject, toJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { isThenable } from '../steps/events.ts';
import { checkJsonSchema } from './json-schema.ts';

/**
 * A schema by the Standard Schema convention (Zod, Valibot, ArkType, …), with the members that are used here.
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

/** The result of validation by a Standard Schema. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema of the AI SDK, as its `jsonSchema()` and `zodSchema()` create it, with the members that are used here. */
export interface AiSdkSchema<Output = unknown> {
  /** For the compiler only. */
  readonly _type: Output;
  /** The JSON Schema that a model receives. A promise is refused, because schemas are needed at once. */
  readonly jsonSchema: object | PromiseLike<object>;
  /** Without this method, values are checked by the JSON Schema. */
  readonly validate?:
    | ((value: unknown) => AiSdkResult<Output> | PromiseLike<AiSdkResult<Output>>)
    | undefined;
}

/** The result of validation by a schema of the AI SDK. */
export type AiSdkResult<Output> =
  | { readonly success: true; readonly value: Output }
  | { readonly success: false; readonly error: Error };

/** Checked arguments, or the problem with them in words that a model can act on. */
export type ValidationResult<T> = { readonly value: T } | { readonly problem: string };

/** A schema from which types are inferred. */
export type TypedSchema = StandardSchema | AiSdkSchema;

/** A schema of any kind that `tool()` accepts. */
export type AnySchema = TypedSchema | JsonObject;

/** The input type of a schema. The type of a JSON Schema is unknown. */
export type InputOf<Schema extends AnySchema> =
  Schema extends StandardSchema<unknown, infer Input>
    ? Input
    : Schema extends AiSdkSchema<infer Output>
      ? Output
      : unknown;

/** The output type of a schema. The type of a JSON Schema is unknown. */
export type OutputOf<Schema extends AnySchema> =
  Schema extends StandardSchema<infer Output>
    ? Output
    : Schema extends AiSdkSchema<infer Output>
      ? Output
      : unknown;

/** A checked value, or all its problems. */
export type CheckResult<T> = { readonly value: T } | { readonly issues: readonly string[] };

/** A schema of what a model writes: the JSON Schema that the model receives, and the check of the result. */
export interface ModelSchema {
  readonly jsonSchema: JsonObject;
  readonly check: (input: JsonValue) => CheckResult<unknown> | Promise<CheckResult<unknown>>;
}

/** The purpose of a schema, in words for messages. */
export interface SchemaPurpose {
  /** The owner of the schema, as in `tool "add"`. */
  readonly subjectName: string;
  /** The value that the schema describes, as in `the arguments`. */
  readonly subject: string;
  /** The code of the error for a schema without a JSON Schema form. */
  readonly code: ErrorCode;
}

/** The schema of a tool's arguments: the JSON Schema that a model receives, and the check of the arguments. */
export interface ToolSchema<T> {
  readonly jsonSchema: JsonObject;
  readonly validate: (input: JsonValue) => ValidationResult<T> | Promise<ValidationResult<T>>;
}

/** @throws HoldfastError `TOOL_SCHEMA_INVALID` for a schema without a JSON Schema form. */
export function toolSchema(toolName: string, schema: unknown, jsonSchema?: object): ToolSchema<unknown> {
  const subjectName = `tool "${toolName}"`;
  const purpose: SchemaPurpose = { subjectName, subject: 'the arguments', code: 'TOOL_SCHEMA_INVALID' };
  const { jsonSchema: shown, check } = modelSchema(purpose, schema, jsonSchema);
  return { jsonSchema: shown, validate: validator(check) };
}

/**
 * Returns the check of the answers to a tool; without a schema, every answer is valid.
 * @throws HoldfastError `TOOL_SCHEMA_INVALID` for a value that is not a schema.
 */
export function answerSchema(toolName: string, schema: unknown): ToolSchema<unknown>['validate'] {
  if (schema === undefined) return (value) => ({ value });
  const subjectName = `the answers to tool "${toolName}"`;
  return validator(valueCheck({ subjectName, subject: 'the answer', code: 'TOOL_SCHEMA_INVALID' }, schema));
}

type Check = ModelSchema['check'];

/** Returns the check of a schema, which needs no JSON Schema form when it can check values itself. */
function valueCheck(purpose: SchemaPurpose, schema: unknown): Check {
  if (isStandardSchema(schema)) return standardCheck(schema);
  return (isAiSdkSchema(schema) ? aiSdkCheck(schema) : undefined) ?? modelSchema(purpose, schema).check;
}

function validator(check: Check): ToolSchema<unknown>['validate'] {
  return (input) => {
    const found = check(input);
    return found instanceof Promise ? found.then(toValidated) : toValidated(found);
  };
}

/**
 * Creates a schema from a Standard Schema, a schema of the AI SDK or a JSON Schema.
 * @throws HoldfastError with the code of the purpose, for a schema without a JSON Schema form.
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

/** The number of problems that a model receives at once. */
const PROBLEM_LIMIT = 20;
/** The characters of a problem that a model reads. A problem can list all names of an object. */
const PROBLEM_LENGTH = 2_000;

function jsonSchemaCheck({ subject }: SchemaPurpose, schema: JsonObject): Check {
  return (input) => {
    const problems = checkJsonSchema(schema, input, subject, PROBLEM_LIMIT + 1);
    return problems.length === 0 ? { value: input } : withIssues(problems);
  };
}

function standardCheck(schema: StandardSchema): Check {
  return (input) => {
    const result = schema['~standard'].validate(input);
    return isThenable(result) ? Promise.resolve(result).then(toChecked) : toChecked(result);
  };
}

/** The check of a schema that has one; `jsonSchema()` of the AI SDK also creates schemas without a check. */
function aiSdkCheck(schema: AiSdkSchema): Check | undefined {
  const { validate } = schema;
  if (typeof validate !== 'function') return undefined;
  return (input) => {
    const result = validate.call(schema, input);
    return isThenable(result) ? Promise.resolve(result).then(aiSdkChecked) : aiSdkChecked(result);
  };
}

function aiSdkChecked(result: AiSdkResult<unknown>): CheckResult<unknown> {
  if (result.success) return { value: result.value };
  const { error } = result;
  const issues = issuesIn(error) ?? issuesIn(error.cause);
  return withIssues(issues ? issues.map(issueInWords) : [toErrorRecord(error).message]);
}

/** The issues of a Zod error, or of the cause of an AI SDK error. */
function issuesIn(error: unknown): readonly StandardIssue[] | undefined {
  const issues: unknown = Array.isArray(error) ? error : (error as { issues?: unknown } | undefined)?.issues;
  return Array.isArray(issues) && issues.length > 0 && issues.every(isIssue) ? issues : undefined;
}

function isIssue(value: unknown): value is StandardIssue {
  return typeof value === 'object' && value !== null && 'message' in value;
}

function isStandardSchema(schema: unknown): schema is StandardSchema {
  return (
    ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema
  );
}

const AI_SDK_SCHEMA = Symbol.for('vercel.ai.schema');

function isAiSdkSchema(schema: unknown): schema is AiSdkSchema {
  return typeof schema === 'object' && schema !== null && AI_SDK_SCHEMA in schema && 'jsonSchema' in schema;
}

/**
 * Refuses a value that is not a schema, and the schema of an unknown library, which would check nothing as JSON Schema.
 */
function requireJsonSchema({ subjectName, code }: SchemaPurpose, schema: unknown): object {
  const isObject = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
  const method = isObject && Object.entries(schema).find(([, member]) => typeof member === 'function')?.[0];
  if (isObject && !method && ('type' in schema || !('jsonSchema' in schema))) return schema;
  const member = method ? `function "${method}"` : 'member "jsonSchema"';
  const found = isObject ? `an object with a ${member}` : describeValue(schema);
  const message = `The schema of ${subjectName} must be a Standard Schema, a schema of the AI SDK or a JSON Schema, found ${found}.`;
  throw new HoldfastError(code, message);
}

function describeAiSdk({ subjectName, code }: SchemaPurpose, schema: AiSdkSchema): object {
  const owner = `The AI SDK schema of ${subjectName}`;
  const advice = 'Pass "jsonSchema" beside the schema.';
  let shown: AiSdkSchema['jsonSchema'];
  try {
    shown = schema.jsonSchema;
  } catch (cause) {
    const message = `${owner} has no JSON Schema form: ${toErrorRecord(cause).message} ${advice}`;
    throw new HoldfastError(code, message, { cause });
  }
  if (!('then' in shown)) return shown;
  throw new HoldfastError(code, `${owner} has a promise instead of a JSON Schema. ${advice}`);
}

function describe({ subjectName, code }: SchemaPurpose, schema: StandardSchema): JsonObject {
  const { jsonSchema, vendor } = schema['~standard'];
  const problem = `The ${vendor} schema of ${subjectName} has no JSON Schema form`;
  const advice = `Pass "jsonSchema" beside the schema, or a library version that can describe itself as JSON Schema.`;
  if (jsonSchema === undefined) throw new HoldfastError(code, `${problem}. ${advice}`);
  try {
    return toJsonObject(closedSchema(toJsonObject(jsonSchema.input({ target: 'draft-07' }))));
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    throw new HoldfastError(code, `${problem}${why}. ${advice}`, { cause });
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
  return { issues: [...issues.slice(0, PROBLEM_LIMIT), 'further problems are not listed'] };
}

function issueInWords({ message, path = [] }: StandardIssue): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  const words = keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
  return words.length <= PROBLEM_LENGTH ? words : `${words.slice(0, PROBLEM_LENGTH).toWellFormed()}…`;
}

/** Keywords whose value is a schema, or a list of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set(['items', 'anyOf', 'allOf', 'oneOf']);
/** Keywords whose value holds schemas by name. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', 'definitions', '$defs']);

/**
 * Returns the schema with `additionalProperties: false` in each object, at every level, unless the object describes its
 * additional properties by a schema. Providers that enforce a schema strictly, such as OpenAI and xAI, refuse any other
 * object.
 */
function closedSchema(schema: JsonObject): JsonObject {
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
