import type { Clock } from '../../clock.ts';
import { HoldfastError } from '../../errors.ts';
import {
  hasSameShape,
  isEqualJson,
  isJsonObject,
  isPlainObject,
  MAX_NESTING,
  setMember,
  toJsonValue,
  type JsonValue,
} from '../../json.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import { neverSignal } from '../stopping/abort.ts';
import { withinGrace, type GraceOptions } from '../stopping/grace.ts';
import type { Tool } from './tool-types.ts';
import type { ValidationResult } from './tool-schema.ts';

/** A call that can start: the execution, and the value that its tool receives. */
export interface CheckedCall {
  readonly type: 'start';
  readonly execution: ToolExecution;
  readonly args: unknown;
}

/** A call after the check of its arguments, or the error for which it does not run. */
export type CheckedArguments = CheckedCall | { readonly error: unknown };

type Validation = ValidationResult<unknown>;

/** The longest time for a check and for an approval rule, when the tool has no `timeoutSeconds`. */
export const CHECK_SECONDS = 60;

/**
 * Checks the arguments of a call by the schema of its tool: once for each start. The execution of a tool with an
 * approval rule gets the checked value, which must be JSON. A call that a person has approved keeps the approved value;
 * when the schema does not accept that value any more, the call does not run.
 * @throws the error of a schema that throws.
 */
export function checkArguments(
  tool: Tool,
  execution: ToolExecution,
): CheckedArguments | Promise<CheckedArguments> {
  const { call } = execution;
  if (call.invalid !== undefined) return invalid(execution, call.invalid);
  const judge = execution.hasApproval ? withApprovedArguments : withValidArguments;
  const found = tool.validate(call.input);
  return found instanceof Promise
    ? found.then((settled) => judge(tool, execution, settled))
    : judge(tool, execution, found);
}

/**
 * Returns the value that one attempt receives: a copy of JSON, whichever schema checked it, so that a tool may change it and
 * changes nothing else. A value that a schema made of other parts, such as a `Date`, is passed as it is.
 */
export function argumentsOfAttempt(args: unknown): unknown {
  return isPlainJson(args) ? mutableCopy(args as JsonValue) : args;
}

/** A copy of JSON, twenty times as fast as `structuredClone`. */
function mutableCopy(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (!isJsonObject(value)) return value.map(mutableCopy);
  const copy: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) setMember(copy, name, mutableCopy(value[name] as JsonValue));
  return copy;
}

/** Returns the result of `work` for a value, or for the value of a promise. */
export function after<T, R>(value: T | Promise<T>, work: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(work) : work(value);
}

function withValidArguments(tool: Tool, execution: ToolExecution, found: Validation): CheckedArguments {
  if ('problem' in found) return invalid(execution, found.problem);
  if (tool.needsApproval === undefined) return start(execution.withCheckedArgs(undefined), found.value);
  if (!isPlainJson(found.value)) return { error: notJson(tool.name) };
  const args = toJsonValue(found.value);
  return start(execution.withCheckedArgs(args), args);
}

/**
 * Returns the approved arguments if they are still valid: the schema gives the same value for what the model wrote, or
 * accepts the approved value without a change of its members.
 */
function withApprovedArguments(
  tool: Tool,
  execution: ToolExecution,
  found: Validation,
): CheckedArguments | Promise<CheckedArguments> {
  const { args, checkedArgs } = execution;
  const value = jsonOf(found);
  if (value !== undefined && isEqualJson(value, args)) return start(execution, args);
  // The schema of a tool without a rule may return a value that is not JSON.
  const isUnjudged = checkedArgs === undefined && tool.needsApproval === undefined;
  if (isUnjudged && value === undefined && 'value' in found) return start(execution, found.value);
  // A schema that changes what the model wrote, and did not when it was approved, is of another release.
  if (checkedArgs === undefined) return outdated(tool, found);
  return after(tool.validate(args), (again) =>
    hasSameShape(jsonOf(again), args) ? start(execution, args) : outdated(tool, again),
  );
}

/** Returns the execution with the arguments that a person approves, before the call in doubt starts again. */
export function withArgumentsToApprove(
  tool: Tool,
  execution: ToolExecution,
): CheckedArguments | Promise<CheckedArguments> {
  if (execution.hasApproval) return start(execution, execution.args);
  return after(checkArguments(tool, execution), (checked) => {
    if ('error' in checked || !isPlainJson(checked.args)) return checked;
    return start(checked.execution.withCheckedArgs(toJsonValue(checked.args)), checked.args);
  });
}

/**
 * Returns the arguments that a person typed instead of those of the model, as the schema returns them. The schema must
 * accept what it returns, because the approved value is checked again before the call starts.
 * @throws HoldfastError `TOOL_ARGUMENTS_INVALID`, `TOOL_ARGUMENTS_NOT_JSON` or `TOOL_TIMEOUT`.
 */
export async function checkedEdit(tool: Tool, input: JsonValue, clock: Clock): Promise<JsonValue> {
  const check = (value: JsonValue): Promise<Validation> =>
    checkedInTime(tool, tool.validate(value), { subject: 'arguments', clock });
  const found = await check(input);
  if ('problem' in found) throw badArguments(tool.name, found.problem);
  if (!isPlainJson(found.value)) throw notJson(tool.name);
  const args = toJsonValue(found.value);
  if (isEqualJson(args, input) || hasSameShape(jsonOf(await check(args)), args)) return args;
  throw badArguments(
    tool.name,
    'the schema does not accept what it returns for them, so a person cannot edit them',
  );
}

/**
 * Returns the result of a check outside of a run, which no abort ends.
 * @throws HoldfastError `TOOL_TIMEOUT` when the check takes too long.
 */
export async function checkedInTime<T>(
  tool: Tool,
  check: T | Promise<T>,
  { subject, clock }: { readonly subject: 'arguments' | 'answer'; readonly clock: Clock },
): Promise<T> {
  if (!(check instanceof Promise)) return check;
  const seconds = tool.timeoutSeconds ?? CHECK_SECONDS;
  const settled = await withinSeconds<{ readonly value: T } | undefined>(
    check.then((value) => ({ value })),
    { seconds, clock, signal: neverSignal(), onTimeout: () => undefined },
  );
  if (settled === undefined) throw checkTooSlow(tool, subject);
  return settled.value;
}

/** Returns the result of a check, unless the signal aborts or the seconds pass before. */
export function withinSeconds<T>(
  check: Promise<T>,
  limits: Pick<GraceOptions<T>, 'signal' | 'clock' | 'onTimeout'> & { readonly seconds: number | undefined },
): Promise<T> {
  const { seconds, ...waiting } = limits;
  const until = seconds === undefined ? undefined : waiting.clock.now() + seconds * 1000;
  return withinGrace(check, { ...waiting, until, graceSeconds: 0 });
}

/** The error of a check that took longer than the timeout of its tool. */
export function checkTooSlow(
  { name, timeoutSeconds = CHECK_SECONDS }: Tool,
  subject: 'arguments' | 'answer',
): HoldfastError {
  const message = `The check of the ${subject} of tool "${name}" exceeded its timeout of ${timeoutSeconds} seconds.`;
  return new HoldfastError(
    'TOOL_TIMEOUT',
    subject === 'answer' ? message : `${message} The tool was not called.`,
  );
}

function start(execution: ToolExecution, args: unknown): CheckedArguments {
  return { type: 'start', execution, args };
}

function jsonOf(found: Validation): JsonValue | undefined {
  return 'value' in found && isPlainJson(found.value) ? toJsonValue(found.value) : undefined;
}

/** True for JSON, in which members that are `undefined` count as absent. */
function isPlainJson(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || levels === 0) return false;
  if (Array.isArray(value)) return Array.from(value).every((item) => isPlainJson(item, levels - 1));
  if (!isPlainObject(value) || Object.getOwnPropertySymbols(value).length > 0) return false;
  for (const name of Object.keys(value)) {
    const member: unknown = value[name];
    if (member !== undefined && !isPlainJson(member, levels - 1)) return false;
  }
  return true;
}

function invalid({ name }: ToolExecution, problem: string): CheckedArguments {
  return { error: badArguments(name, problem) };
}

function badArguments(name: string, problem: string): HoldfastError {
  return new HoldfastError(
    'TOOL_ARGUMENTS_INVALID',
    `The arguments of tool "${name}" are not valid: ${problem}.`,
  );
}

function notJson(name: string): HoldfastError {
  const message = `The inputSchema of tool "${name}" returns a value that is not JSON, and a call of the tool may need approval.`;
  return new HoldfastError('TOOL_ARGUMENTS_NOT_JSON', `${message} Transform inside \`execute\`.`);
}

function outdated({ name }: Tool, found: Validation): CheckedArguments {
  const why = 'problem' in found ? found.problem : 'the schema changes them';
  const message = `The approved arguments of tool "${name}" are not valid any more: ${why}. The tool was not called with them.`;
  return { error: new HoldfastError('TOOL_ARGUMENTS_OUTDATED', message) };
}
