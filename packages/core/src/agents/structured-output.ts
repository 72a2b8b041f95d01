import { mustBe, optionsCheck } from '../arguments.ts';
import type { Clock } from '../clock.ts';
import { HoldfastError, invalidArgument } from '../errors.ts';
import {
  compact,
  isJsonObject,
  isSameJson,
  roundedInteger,
  type JsonObject,
  type JsonValue,
} from '../json.ts';
import type { AgentEvent } from '../loop/steps/events.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { ResponseFormat } from '../state/inference/llm-config.ts';
import type { AgentStep } from '../state/execution/step.ts';
import { textOf } from '../state/messages/message-parts.ts';
import type { AssistantPart } from '../state/messages/messages.ts';
import type { Hook } from '../loop/hooks/hook.ts';
import {
  modelSchema,
  type CheckResult,
  type InputOf,
  type ModelSchema,
  type OutputOf,
  type TypedSchema,
} from '../loop/tools/tool-schema.ts';
import { partialsOf, type PartialOutput } from './partial-json.ts';

/** The options of structured output. */
export interface StructuredOutputOptions {
  /** For the model: the name of the output. */
  readonly name?: string;
  /** For the model: a description of the output. */
  readonly description?: string;
  /** How often the model is called again after a response that does not fit the schema; default 1. */
  readonly maxRepairs?: number;
  /** The JSON Schema of the output, for a Standard Schema that cannot describe itself. */
  readonly jsonSchema?: object;
}

/**
 * A hook that enforces a schema on final responses, and reads their values. `Written` is the type that the model writes,
 * before the schema transforms it.
 */
export interface StructuredOutput<T, Written = T> extends Hook {
  /** The response format that a model receives. */
  readonly responseFormat: ResponseFormat;
  /**
   * Reads the value of the final response of a state. The value is parsed from the response's text on each call, so it
   * can be read from a stored state, and a value that the schema transforms is a new object each time.
   * @throws HoldfastError `OUTPUT_INVALID` when there is no final response, or it does not fit the schema; TypeError
   * `ARGUMENT_INVALID` for a schema with an asynchronous check.
   */
  read(state: AgentState): T;
  /** Does the same as `read`, also for a schema with an asynchronous check. */
  readAsync(state: AgentState): Promise<T>;
  /**
   * Yields the value while the model writes it: each time it has grown, a new frozen value. The values of lists and objects
   * with hundreds of members are further apart. Strings may be incomplete, and members and items may be missing. The schema
   * has neither checked nor transformed the value. Each call of the model starts again. Yields nothing for text that is not
   * JSON.
   * @example
   * for await (const partial of weather.partials(loop.stream(state))) render(partial);
   */
  partials(events: AsyncIterable<AgentEvent>): AsyncGenerator<PartialOutput<Written>, void>;
}

/** Runs after other hooks, so that their changes of a step come first. */
const LATE = -1_000;

const checkOptions = optionsCheck<StructuredOutputOptions>(
  'structuredOutput',
  {
    name: mustBe.string,
    description: mustBe.string,
    maxRepairs: mustBe.wholeNumber(0),
    jsonSchema: mustBe.object,
  },
  {
    schema: 'pass it as the first argument, as in structuredOutput(schema)',
    maxRetries: 'use "maxRepairs"',
  },
);

/** The metadata key of a repair message, with the id of the step whose response it corrects. */
const REPAIR_OF = 'repair_of';

/**
 * Makes the final response of a model JSON that fits a schema: a Standard Schema or a schema of the AI SDK, from which
 * the type is inferred, or a JSON Schema.
 *
 * During an execution, this response format replaces that of the state; afterwards the state has none. After a response
 * that does not fit, the hook adds a message that lists the problems, and the execution takes another step, which
 * counts as any other. When the repairs are exhausted, the execution ends `failed` with `OUTPUT_INVALID` in its errors.
 * After a forced stop there are no repairs.
 *
 * A Markdown code fence around the JSON is removed; nothing else is corrected. The model receives the input type of the
 * schema, and `read` returns its output type, so a schema may transform values and check asynchronously.
 *
 * @example
 * const weather = structuredOutput(z.object({ city: z.string(), celsius: z.number() }));
 * const loop = createAgentLoop({ driver, hooks: [weather] });
 * const { celsius } = weather.read(await loop.run(state));
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value; HoldfastError
 * `OUTPUT_SCHEMA_INVALID` for a schema without a JSON Schema form.
 */
export function structuredOutput<Schema extends TypedSchema>(
  schema: Schema,
  options?: StructuredOutputOptions,
): StructuredOutput<OutputOf<Schema>, InputOf<Schema>>;
export function structuredOutput<T = JsonValue>(
  schema: JsonObject,
  options?: StructuredOutputOptions,
): StructuredOutput<T>;
export function structuredOutput(
  schema: unknown,
  options: StructuredOutputOptions = {},
): StructuredOutput<unknown> {
  const { name, description, maxRepairs = 1 } = checkOptions(options);
  const purpose = {
    subjectName: 'the output',
    subject: 'the response',
    code: 'OUTPUT_SCHEMA_INVALID',
  } as const;
  const model = modelSchema(purpose, schema, options.jsonSchema);
  const { jsonSchema } = model;
  const responseFormat = compact({ type: 'json', schema: jsonSchema, name, description }) as ResponseFormat;
  return Object.freeze<StructuredOutput<unknown>>({
    responseFormat,
    ...outputHook(model, responseFormat, maxRepairs),
    read(state) {
      const found = checkAnswer(model, answerOf(state));
      if (!(found instanceof Promise)) return valueOf(found);
      found.catch(() => undefined);
      throw invalidArgument(
        'The schema has an asynchronous check. Use readAsync() instead of read().',
        TypeError,
      );
    },
    readAsync: async (state) => valueOf(await checkAnswer(model, answerOf(state))),
    partials: partialsOf,
  });
}

function outputHook(model: ModelSchema, responseFormat: ResponseFormat, maxRepairs: number): Hook {
  return {
    name: 'structuredOutput',
    priority: LATE,
    beforeExecution: (state, { clock }) => state.withResponseFormat(responseFormat, clock.now()),
    beforeStep(state, { clock }) {
      const step = state.lastStep;
      if (!step?.isFinalResponse || !state.execution?.continuation.isRequested) return undefined;
      return hasRepairMessage(state, step) ? undefined : withRepairMessage(model, state, step, clock);
    },
    afterStep(state, { clock }) {
      // A stop signal of the step that its final response does not override forces the stop.
      const isForced = state.execution?.continuation.isStopped === true;
      const isAnswered = state.currentStep?.isFinalResponse && !isForced;
      return isAnswered ? judgeAnswer(model, state, maxRepairs, clock) : undefined;
    },
    afterExecution(state, { clock }) {
      const isOurs = isSameJson(state.responseFormat, responseFormat);
      return isOurs ? state.withResponseFormat(undefined, clock.now()) : undefined;
    },
  };
}

/** The state after a final response: unchanged, with a request for another step, or with an error. */
async function judgeAnswer(
  model: ModelSchema,
  state: AgentState,
  maxRepairs: number,
  clock: Clock,
): Promise<AgentState | undefined> {
  const issues = await issuesOf(model, state.currentStep);
  if (issues === undefined) return undefined;
  // The count comes from the steps alone, so it is the same in any process.
  let repairs = 0;
  for (const { step } of state.stepExecutions) if (await issuesOf(model, step)) repairs++;
  if (repairs < maxRepairs) return state.withContinuationRequested(clock.now());
  return state.withError(outputInvalid(issues), clock.now());
}

async function withRepairMessage(
  model: ModelSchema,
  state: AgentState,
  step: AgentStep,
  clock: Clock,
): Promise<AgentState | undefined> {
  const issues = await issuesOf(model, step);
  if (issues === undefined) return undefined;
  const content = `Your response does not fit the required schema:
${issues.map((issue) => `- ${issue}`).join('\n')}
Respond again with the whole corrected JSON value and nothing else.`;
  return state.withUserMessage(content, { clock, metadata: { [REPAIR_OF]: step.id } }, clock.now());
}

/** True when the repair message exists already: an earlier run may have added it before its process died. */
function hasRepairMessage({ messages }: AgentState, { id }: AgentStep): boolean {
  for (let index = messages.length - 1; index >= 0; index--) {
    const metadata = messages.at(index)?.metadata;
    if (metadata?.[REPAIR_OF] === id) return true;
    if (metadata?.['step_id'] === id) return false;
  }
  return false;
}

// Responses

/** The problems of a step's final response; `undefined` when it fits, or when the step has none. */
async function issuesOf(
  model: ModelSchema,
  step: AgentStep | undefined,
): Promise<readonly string[] | undefined> {
  if (!step?.isFinalResponse) return undefined;
  const found = await checkAnswer(model, step);
  return 'issues' in found ? found.issues : undefined;
}

function checkAnswer(
  model: ModelSchema,
  step: AgentStep,
): CheckResult<unknown> | Promise<CheckResult<unknown>> {
  const json = withoutFence(answerTextOf(step));
  let value: JsonValue;
  try {
    value = JSON.parse(json) as JsonValue;
  } catch (error) {
    const reason = json === '' ? 'it is empty' : (error as Error).message;
    return { issues: [`the response: not JSON: ${reason}`, ...truncationIssues(step)] };
  }
  const rounded = roundedInteger(json);
  if (rounded === undefined) return model.check(value);
  const number = rounded.slice(0, 40);
  return { issues: [`the response: the whole number ${number} has too many digits: write it as a string`] };
}

/**
 * The text to parse. Some models write comments beside their answer, and their provider marks which text is the answer:
 * OpenAI by the phase of a message.
 */
function answerTextOf({ response, text }: AgentStep): string {
  const answers = response?.content.filter(isFinalAnswer) ?? [];
  return answers.length === 0 ? text : textOf(answers);
}

function isFinalAnswer(part: AssistantPart): boolean {
  const members = part.type === 'text' ? Object.values(part.providerOptions ?? {}) : [];
  return members.some((each) => isJsonObject(each) && each['phase'] === 'final_answer');
}

function truncationIssues({ response }: AgentStep): readonly string[] {
  return response?.finishReason === 'length' ? ['the response: truncated at the limit of output tokens'] : [];
}

/** Removes the Markdown code fence around a text. */
function withoutFence(text: string): string {
  return /^```[^\n`]*\n(.*)```$/s.exec(text.trim())?.[1]?.trim() ?? text.trim();
}

function answerOf(state: AgentState): AgentStep {
  const step = state.lastStep;
  if (step?.isFinalResponse) return step;
  const known = state.errors.findLast(({ code }) => code === 'OUTPUT_INVALID');
  if (known) throw new HoldfastError('OUTPUT_INVALID', known.message, { data: known.data });
  throw outputInvalid([`the state has no final response: the execution is ${state.status ?? 'not started'}`]);
}

function valueOf(found: CheckResult<unknown>): unknown {
  if ('issues' in found) throw outputInvalid(found.issues);
  return found.value;
}

function outputInvalid(issues: readonly string[]): HoldfastError {
  const message = `The response does not fit the schema of the output: ${issues.join('; ')}.`;
  return new HoldfastError('OUTPUT_INVALID', message, { data: { issues } });
}
