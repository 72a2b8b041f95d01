import { mustBe, optionsCheck, type ArgumentCheck } from '../../arguments.ts';
import { invalidArgument } from '../../errors.ts';
import { isPlainObject } from '../../json.ts';
import { EXECUTE_ADVICE, QUESTION_ADVICE, TOOL_ADVICE } from './option-advice.ts';
import type { AnyTool, AnyToolInit, ToolEffect, ToolRetry } from './tool-types.ts';

const EFFECTS: readonly ToolEffect[] = ['readOnly', 'idempotent', 'ask', 'once'];
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export const TOOL_NAME: ArgumentCheck = {
  expected: '1 to 64 letters, digits, "_" or "-"',
  accepts: (value) => typeof value === 'string' && NAME.test(value),
  type: 'string',
};

/** A duration in seconds, which may be `Infinity`. */
export const TIME_LIMIT: ArgumentCheck = {
  expected: 'a number of seconds above 0',
  accepts: (value) => typeof value === 'number' && value > 0,
  type: 'number',
};

const checkRetry = optionsCheck<ToolRetry>(
  'retry',
  {
    maxAttempts: mustBe.required(mustBe.wholeNumber(2)),
    delaySeconds: {
      expected: 'a number of seconds of at least 0, or a function that returns one',
      accepts: (value) => typeof value === 'function' || isPause(value),
      type: 'number',
    },
    isRetryable: mustBe.function,
  },
  {
    maxRetries: 'use "maxAttempts", which counts the first attempt too, as in maxAttempts: 3',
    delay: 'set it in seconds, as in delaySeconds: 1',
  },
);

/** The options of `tool()` that are members of the tool as well. */
const MEMBERS = {
  name: mustBe.required(TOOL_NAME),
  description: mustBe.required(mustBe.string),
  toModelOutput: mustBe.function,
  timeoutSeconds: TIME_LIMIT,
  retry: mustBe.object,
  effect: mustBe.oneOf(EFFECTS),
  reconcile: mustBe.function,
  approvalTimeoutSeconds: TIME_LIMIT,
  answerTimeoutSeconds: TIME_LIMIT,
  strict: mustBe.boolean,
  providerOptions: mustBe.object,
  inputExamples: {
    expected: 'an array of examples, as in inputExamples: [{ input: { city: "Riga" } }]',
    accepts: (value: unknown) => Array.isArray(value) && value.every(isExample),
  },
};

function isExample(value: unknown): boolean {
  return isPlainObject(value) && isPlainObject(value['input']);
}

const checkInit = optionsCheck<AnyToolInit>(
  'tool',
  {
    ...MEMBERS,
    inputSchema: mustBe.anything, // see toolSchema
    jsonSchema: mustBe.object,
    outputSchema: mustBe.anything, // see answerSchema
    execute: mustBe.function,
    needsApproval: {
      expected: 'true, false or a function',
      accepts: (value) => typeof value === 'boolean' || typeof value === 'function',
    },
  },
  TOOL_ADVICE,
);

const checkFinishedTool = optionsCheck<AnyTool>(
  'tool',
  {
    ...MEMBERS,
    inputSchema: mustBe.required(mustBe.object),
    validate: mustBe.required(mustBe.function),
    execute: mustBe.required(mustBe.function),
    providerTool: mustBe.object,
    isResumable: mustBe.boolean,
    needsApproval: {
      ...mustBe.function,
      expected: 'a function in a finished tool; pass true or false to tool() itself',
    },
    validateAnswer: mustBe.function,
    toolsInside: { ...mustBe.function, isInternal: true },
    describeProgress: { ...mustBe.function, isInternal: true },
    needsRunContext: mustBe.boolean,
    types: { ...mustBe.anything, isInternal: true },
  },
  TOOL_ADVICE,
);

/** Checks a tool, which may be a changed copy of a tool of `tool()`. A tool of a class may have members of its own. */
export function checkToolMembers(item: AnyTool): void {
  const owner = nameInMessages('tool', item);
  if (isPlainObject(item)) checkFinishedTool(item, owner);
  if (item.retry !== undefined) checkRetry(item.retry, `the retry of ${owner}`);
}

/** The tags of generator functions by `Object.prototype.toString`. */
const GENERATORS: readonly string[] = ['[object AsyncGeneratorFunction]', '[object GeneratorFunction]'];

export function checkTool(init: AnyToolInit): void {
  const owner = nameInMessages('tool', init);
  const { retry, execute } = checkInit(init, owner);
  refuseOptions(init, owner, execute === undefined ? QUESTION_ADVICE : EXECUTE_ADVICE);
  if (GENERATORS.includes(Object.prototype.toString.call(execute))) {
    const advice = 'Return the result, or a promise of it, instead of yielding it.';
    throw invalidArgument(`execute of ${owner} is a generator function. ${advice}`, TypeError);
  }
  if (retry !== undefined) checkRetry(retry, `the retry of ${owner}`);
}

/** Refuses the options that make no sense with `execute`, or without it. */
function refuseOptions(init: AnyToolInit, owner: string, advice: Readonly<Record<string, string>>): void {
  const found = Object.keys(advice).find((name) => name in init);
  if (found !== undefined) throw invalidArgument(`${owner} ${advice[found]}`, TypeError);
}

/** Names the tool in messages, such as `tool "add"`. */
export function nameInMessages(kind: string, init: { readonly name?: unknown } | undefined): string {
  const name = init?.name;
  return typeof name === 'string' ? `${kind} ${JSON.stringify(name)}` : kind;
}

/** True for a finite number of seconds of at least 0. */
export function isPause(seconds: unknown): seconds is number {
  return typeof seconds === 'number' && seconds >= 0 && seconds < Infinity;
}
